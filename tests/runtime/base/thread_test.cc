#include "runtime/base/thread.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace reprise {
namespace {

std::string NameInside(const std::string& name) {
  std::string seen;
  Thread thread(name, [&seen] {
    std::array<char, 16> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    seen = text.data();
  });
  thread.Join();
  return seen;
}

TEST(ThreadTest, CarriesItsName) {
  EXPECT_EQ(NameInside("worker-0"), "worker-0");
}

TEST(ThreadTest, CutsALongNameAtFifteenCharacters) {
  EXPECT_EQ(NameInside("a-name-that-is-too-long"), "a-name-that-is-");
}

TEST(ThreadTest, TheDestructorJoins) {
  std::atomic<int> ran{0};
  {
    const Thread thread("t", [&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1);
}

TEST(ThreadTest, JoiningNothingOrTwiceDoesNothing) {
  Thread none;
  none.Join();
  Thread thread("t", [] {});
  thread.Join();
  thread.Join();
}

TEST(ThreadTest, AssigningJoinsWhatWasThere) {
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  Thread thread("first", [&first] { ++first; });
  Thread other("second", [&second] { ++second; });
  thread = std::move(other);
  EXPECT_EQ(first, 1);
  thread.Join();
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace reprise
