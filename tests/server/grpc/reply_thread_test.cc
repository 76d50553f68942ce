#include "server/grpc/reply_thread.h"

#include <atomic>

#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

class Counting final : public PendingReply {
 public:
  explicit Counting(std::atomic<int>* count) : count_(count) {}
  void Reply() override { ++*count_; }

 private:
  std::atomic<int>* const count_;
};

TEST(ReplyThreadTest, WhatWasPushedBeforeStopIsReplied) {
  std::atomic<int> count{0};
  Counting call(&count);
  ReplyThread replies;
  {
    std::vector<Thread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back("worker", [&] {
        for (int k = 0; k < 100; ++k) replies.Push(&call);
      });
    }
  }
  replies.Stop();
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace reprise::testing
