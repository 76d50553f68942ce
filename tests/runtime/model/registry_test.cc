#include "runtime/model/registry.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

ModelHandle MakeModel(uint64_t uid, const std::string& name, int64_t version) {
  return std::make_shared<const ModelVersion>(uid, name, version, ModelConfig{},
                                              Signature{});
}

std::vector<std::string> Lines(const ModelRegistry& registry) {
  std::vector<std::string> lines;
  for (const IndexEntry& entry : registry.Index()) {
    lines.push_back(entry.name + "/" + entry.version + " " +
                    std::string(StateName(entry.state)) +
                    (entry.reason.empty() ? "" : " " + entry.reason));
  }
  return lines;
}

TEST(RegistryTest, AnEmptyVersionIsTheHighestReadyOne) {
  ModelRegistry registry;
  registry.Publish(MakeModel(1, "a", 2));
  registry.Publish(MakeModel(2, "a", 10));
  EXPECT_EQ((*registry.Acquire("a", ""))->version(), 10);
  EXPECT_EQ((*registry.Acquire("a", "2"))->uid(), 1U);
  registry.SetState("a", 10, VersionState::kUnloading, "");
  EXPECT_EQ((*registry.Acquire("a", ""))->version(), 2);
}

TEST(RegistryTest, SaysWhyThereIsNoHandle) {
  ModelRegistry registry;
  registry.Publish(MakeModel(1, "a", 1));
  registry.SetState("a", 2, VersionState::kLoading, "");
  registry.SetState("b", 1, VersionState::kLoading, "");
  registry.SetState("b", 1, VersionState::kUnavailable, "no memory");
  EXPECT_THAT(registry.Acquire("c", ""), StatusIs(kNotFound, HasSubstr("'c'")));
  EXPECT_THAT(registry.Acquire("", ""), StatusIs(kNotFound));
  EXPECT_THAT(registry.Acquire("a", "3"),
              StatusIs(kNotFound, HasSubstr("version 3")));
  EXPECT_THAT(registry.Acquire("a", "2"),
              StatusIs(kUnavailable, HasSubstr("not at ready state: LOADING")));
  EXPECT_THAT(registry.Acquire("b", "1"),
              StatusIs(kUnavailable, HasSubstr("no memory")));
  EXPECT_THAT(registry.Acquire("b", ""),
              StatusIs(kNotFound, HasSubstr("no available versions")));
}

TEST(RegistryTest, AVersionIsADecimalNumberAboveZero) {
  ModelRegistry registry;
  registry.Publish(MakeModel(1, "a", 1));
  for (const char* text : {"1abc", " 1", "01", "-1", "0", "abc", "+1", "1 ",
                           "99999999999999999999999"}) {
    EXPECT_THAT(registry.Acquire("a", text),
                StatusIs(kInvalid, AllOf(HasSubstr("model 'a': "),
                                         HasSubstr("must be an integer > 0"))))
        << text;
  }
}

TEST(RegistryTest, ListsReadyVersionsInOrder) {
  ModelRegistry registry;
  registry.Publish(MakeModel(1, "b", 1));
  registry.Publish(MakeModel(2, "a", 10));
  registry.Publish(MakeModel(3, "a", 9));
  registry.SetState("a", 11, VersionState::kLoading, "");
  const auto uids = [&](const char* name, const char* version) {
    std::vector<uint64_t> found;
    const auto handles = registry.List(name, version);
    if (!handles.ok()) return found;
    for (const ModelHandle& handle : *handles) found.push_back(handle->uid());
    return found;
  };
  EXPECT_THAT(uids("", ""), ElementsAre(3, 2, 1));
  EXPECT_THAT(uids("a", ""), ElementsAre(3, 2));
  EXPECT_THAT(uids("a", "10"), ElementsAre(2));
  EXPECT_THAT(registry.List("c", ""), StatusIs(kNotFound));
  EXPECT_THAT(registry.List("a", "11"), StatusIs(kUnavailable));
  registry.SetState("b", 1, VersionState::kUnloading, "");
  EXPECT_THAT(registry.List("b", ""), StatusIs(kNotFound));
}

TEST(RegistryTest, TheIndexHasALineAVersion) {
  ModelRegistry registry;
  EXPECT_THAT(Lines(registry), IsEmpty());
  registry.SetState("broken", 0, VersionState::kUnavailable, "line 2:1: x");
  registry.Publish(MakeModel(1, "a", 10));
  registry.SetState("a", 9, VersionState::kLoading, "");
  EXPECT_THAT(Lines(registry), ElementsAre("a/9 LOADING", "a/10 READY",
                                           "broken/ UNAVAILABLE line 2:1: x"));
  registry.Publish(MakeModel(2, "broken", 1));
  EXPECT_THAT(Lines(registry),
              ElementsAre("a/9 LOADING", "a/10 READY", "broken/1 READY"));
  registry.Remove("a", 9);
  registry.Remove("broken", 0);
  registry.Remove("absent", 0);
  EXPECT_THAT(Lines(registry), ElementsAre("a/10 READY"));
  registry.Remove("a", 10);
  EXPECT_THAT(registry.Acquire("a", "10"), StatusIs(kNotFound));
}

TEST(RegistryTest, AReasonIsUtf8) {
  ModelRegistry registry;
  registry.SetState("a", 0, VersionState::kUnavailable, "no '\xff'");
  EXPECT_THAT(Lines(registry), ElementsAre("a/ UNAVAILABLE no '\\xff'"));
}

TEST(RegistryTest, AModelThatIsExpectedIsLoadingUntilAVersionIsKnown) {
  ModelRegistry registry;
  registry.Expect("a");
  EXPECT_THAT(Lines(registry), ElementsAre("a/ LOADING"));
  EXPECT_THAT(
      registry.Acquire("a", "1"),
      StatusIs(kUnavailable, HasSubstr("version 1 of model 'a' is not at ready "
                                       "state: LOADING")));
  EXPECT_THAT(registry.Acquire("a", ""),
              StatusIs(kNotFound, HasSubstr("it is loading")));
  EXPECT_THAT(registry.List("a", ""),
              StatusIs(kNotFound, HasSubstr("it is loading")));
  registry.SetState("a", 2, VersionState::kLoading, "");
  EXPECT_THAT(Lines(registry), ElementsAre("a/2 LOADING"));
  registry.SetState("a", 2, VersionState::kUnavailable, "broken");
  EXPECT_THAT(registry.Acquire("a", "1"), StatusIs(kNotFound));
  registry.Expect("a");
  EXPECT_THAT(Lines(registry), ElementsAre("a/2 UNAVAILABLE broken"));
}

TEST(RegistryTest, AHandlePinsTheVersionThatIsReplaced) {
  ModelRegistry registry;
  ModelHandle first = MakeModel(1, "a", 1);
  const std::weak_ptr<const ModelVersion> watch = first;
  registry.Publish(std::move(first));
  auto pinned = registry.Acquire("a", "");
  ASSERT_THAT(pinned, IsOk());
  registry.Publish(MakeModel(2, "a", 1));
  EXPECT_EQ((*registry.Acquire("a", ""))->uid(), 2U);
  EXPECT_EQ((*pinned)->uid(), 1U);
  EXPECT_FALSE(watch.expired());
  pinned->reset();
  EXPECT_TRUE(watch.expired());
}

TEST(RegistryTest, HandlesAreDroppedAndListenersCalledWithoutTheLock) {
  ModelRegistry registry;
  int called = 0;
  const auto subscription = registry.AddListener([&] {
    ++called;
    (void)registry.Index();  // would deadlock under the lock
  });
  const auto with_deleter = [&](uint64_t uid) {
    return ModelHandle(
        new ModelVersion(uid, "a", 1, ModelConfig{}, Signature{}),
        [&registry](const ModelVersion* version) {
          (void)registry.Index();
          delete version;
        });
  };
  registry.Publish(with_deleter(1));
  registry.Publish(with_deleter(2));
  registry.SetState("a", 1, VersionState::kUnloading, "");
  registry.SetState("a", 1, VersionState::kUnavailable, "unloaded");
  registry.Publish(with_deleter(3));
  registry.Remove("a", 0);
  EXPECT_EQ(called, 6);
}

TEST(RegistryTest, AListenerWhoseSubscriptionHasEndedIsNotCalled) {
  ModelRegistry registry;
  int first = 0;
  int second = 0;
  const auto kept = registry.AddListener([&] { ++first; });
  {
    const auto ended = registry.AddListener([&] { ++second; });
    registry.Publish(MakeModel(1, "a", 1));
  }
  registry.Remove("a", 0);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
}

TEST(RegistryTest, TheEndOfASubscriptionWaitsForItsCall) {
  ModelRegistry registry;
  absl::Notification called;
  absl::Notification go_on;
  std::atomic<bool> returned{false};
  Thread change;
  {
    const auto subscription = registry.AddListener([&] {
      called.Notify();
      go_on.WaitForNotification();
      returned = true;
    });
    change = Thread("change", [&] { registry.Publish(MakeModel(1, "a", 1)); });
    called.WaitForNotification();
    go_on.Notify();
  }
  EXPECT_TRUE(returned);
}

}  // namespace
}  // namespace reprise
