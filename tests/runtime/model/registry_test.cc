#include "runtime/model/registry.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
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

std::vector<std::string> Lines(const Registry& registry) {
  std::vector<std::string> lines;
  for (const IndexEntry& entry : registry.Index()) {
    lines.push_back(entry.name + "/" + entry.version + " " +
                    std::string(StateName(entry.state)) +
                    (entry.reason.empty() ? "" : " " + entry.reason));
  }
  return lines;
}

TEST(RegistryTest, AnEmptyVersionIsTheHighestReadyOne) {
  Registry registry;
  registry.Publish(MakeModel(1, "a", 2));
  registry.Publish(MakeModel(2, "a", 10));
  EXPECT_EQ((*registry.Acquire("a", ""))->version(), 10);
  EXPECT_EQ((*registry.Acquire("a", "2"))->uid(), 1U);
  registry.SetState("a", 10, VersionState::kUnloading, "");
  EXPECT_EQ((*registry.Acquire("a", ""))->version(), 2);
}

TEST(RegistryTest, SaysWhyThereIsNoHandle) {
  Registry registry;
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
  Registry registry;
  registry.Publish(MakeModel(1, "a", 1));
  for (const char* text : {"1abc", " 1", "01", "-1", "0", "abc", "+1", "1 ",
                           "99999999999999999999999"}) {
    EXPECT_THAT(registry.Acquire("a", text),
                StatusIs(kInvalid, HasSubstr("must be an integer > 0")))
        << text;
  }
}

TEST(RegistryTest, ListsReadyVersionsInOrder) {
  Registry registry;
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
  Registry registry;
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

TEST(RegistryTest, AHandlePinsTheVersionThatIsReplaced) {
  Registry registry;
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
  Registry registry;
  int called = 0;
  registry.AddListener([&] {
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

}  // namespace
}  // namespace reprise
