#include "server/grpc/work_threads.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

TEST(WorkThreadsTest, WhatWasHandedOverIsDoneBeforeStopReturns) {
  std::atomic<int> done{0};
  WorkThreads threads("work", 3);
  for (int i = 0; i < 50; ++i) threads.Run([&done] { ++done; });
  threads.Stop();
  EXPECT_EQ(done, 50);
}

TEST(WorkThreadsTest, OneThatBlocksDoesNotHoldUpTheOthers) {
  WorkThreads threads("work", 2);
  absl::Notification release;
  absl::Notification passed;
  threads.Run([&release] { release.WaitForNotification(); });
  threads.Run([&passed] { passed.Notify(); });
  passed.WaitForNotification();
  release.Notify();
}

}  // namespace
}  // namespace reprise::testing
