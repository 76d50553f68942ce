#include "server/grpc/goaway.h"

#include <atomic>
#include <map>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"
#include "tests/server/grpc/front_fixture.h"
#include "tests/testing/fake_clock.h"

namespace reprise::testing {
namespace {

// Every status code that callers saw, counted.
class Codes {
 public:
  void Add(grpc::StatusCode code) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++counts_[code];
    ++total_;
  }
  void AwaitTotal(int total) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto reached = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return total_ >= total;
    };
    mu_.Await(absl::Condition(&reached));
  }
  std::map<grpc::StatusCode, int> counts() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return counts_;
  }

 private:
  absl::Mutex mu_;
  int total_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<grpc::StatusCode, int> counts_ ABSL_GUARDED_BY(mu_);
};

using GoawayTest = FrontTest;

TEST_F(GoawayTest, ThisLibraryHasWhatItNeedsAndOneWithoutIsKnown) {
  EXPECT_TRUE(CanStopAccepting());
  EXPECT_FALSE(CanStopAccepting([](const char*) -> void* { return nullptr; }));
}

TEST_F(GoawayTest, UnderLoadNoCallIsCancelledWhenTheServerStops) {
  for (int round = 0; round < 5; ++round) {
    Start();
    Codes codes;
    std::atomic<bool> stop{false};
    std::vector<Thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back("caller", [&] {
        const auto stub =
            inference::GRPCInferenceService::NewStub(NewChannel());
        while (!stop) {
          grpc::ClientContext context;
          inference::ModelInferResponse response;
          const grpc::Status status =
              stub->ModelInfer(&context, SimpleRequest(), &response);
          codes.Add(status.error_code());
          if (!status.ok()) return;
        }
      });
    }
    codes.AwaitTotal(100);
    front_->StartDraining();
    front_->StopAccepting();
    front_->Shutdown(RealClock::Get().Now() + absl::Seconds(5));
    stop = true;
    callers.clear();
    for (const auto& [code, count] : codes.counts()) {
      EXPECT_TRUE(code == grpc::StatusCode::OK ||
                  code == grpc::StatusCode::UNAVAILABLE)
          << code << " x " << count;
    }
    front_.reset();
  }
}

TEST_F(GoawayTest, WhoeverStaysIsWaitedForAsLongAsTheGrace) {
  FakeClock clock;
  Start({}, clock);
  manager_.Hold();
  grpc::Status status;
  Thread caller("caller", [&] { status = Infer(SimpleRequest()); });
  manager_.AwaitHeld(1);
  const absl::Time begin = clock.Now();
  std::atomic<bool> stopped{false};
  Thread stop("stop", [&] {
    front_->StopAccepting();
    stopped = true;
  });
  clock.AwaitDeadline(begin + absl::Milliseconds(10));
  EXPECT_FALSE(stopped);
  clock.Advance(absl::Milliseconds(500));
  stop.Join();
  manager_.Release();
  caller.Join();
  EXPECT_TRUE(status.ok()) << status.error_message();
  front_.reset();  // before its clock
}

}  // namespace
}  // namespace reprise::testing
