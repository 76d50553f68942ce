#include "server/exit_guard.h"

#include <unistd.h>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_clock.h"

namespace reprise::testing {
namespace {

// Each test ends a process of its own.
class ExitGuardDeathTest : public ::testing::Test {
 protected:
  ExitGuardDeathTest() {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }

  static constexpr absl::Duration kLong = absl::Hours(1);

  static ExitCode Hang() {
    absl::Notification never;
    never.WaitForNotification();
    return ExitCode::kOk;
  }
  static void Signal(int signal) { kill(getpid(), signal); }
  static ::testing::ExitedWithCode With(ExitCode code) {
    return ::testing::ExitedWithCode(static_cast<int>(code));
  }
  [[noreturn]] static void Return(ExitCode code) {
    _exit(static_cast<int>(code));
  }

  FakeClock clock_;
};

TEST_F(ExitGuardDeathTest, StepsThatEndGiveTheCode) {
  EXPECT_EXIT(
      Return(RunGuarded(BlockSignals(), clock_, kLong, ExitCode::kExitTimeout,
                        [] { return ExitCode::kCannotStart; })),
      With(ExitCode::kCannotStart), "");
}

TEST_F(ExitGuardDeathTest, StepsThatHangAreLeftAfterTheLimit) {
  EXPECT_EXIT(Return(RunGuarded(BlockSignals(), clock_, absl::Milliseconds(1),
                                ExitCode::kExitTimeout, Hang)),
              With(ExitCode::kExitTimeout), "something does not end");
}

TEST_F(ExitGuardDeathTest, ASecondSignalEndsStepsThatHang) {
  for (const int signal : {SIGTERM, SIGINT}) {
    EXPECT_EXIT(
        Return(RunGuarded(BlockSignals(), clock_, kLong, ExitCode::kExitTimeout,
                          [&] {
                            clock_.Advance(kSameSignal);
                            Signal(signal);
                            return Hang();
                          })),
        With(ExitCode::kSecondSignal), "second signal");
  }
}

TEST_F(ExitGuardDeathTest, ASignalThatIsSentTwiceIsOne) {
  EXPECT_EXIT(
      Return(RunGuarded(BlockSignals(), clock_, kLong, ExitCode::kExitTimeout,
                        [] {
                          Signal(SIGTERM);
                          return ExitCode::kOk;
                        })),
      With(ExitCode::kOk), "");
}

TEST_F(ExitGuardDeathTest, AfterASignalThatIsSentTwiceASecondOneCounts) {
  EXPECT_EXIT(
      Return(RunGuarded(BlockSignals(), clock_, kLong, ExitCode::kExitTimeout,
                        [&] {
                          Signal(SIGTERM);
                          clock_.Advance(kSameSignal);
                          Signal(SIGTERM);
                          return Hang();
                        })),
      With(ExitCode::kSecondSignal), "second signal");
}

TEST_F(ExitGuardDeathTest, ASignalAfterTheStepsEndsTheProcessToo) {
  EXPECT_EXIT(
      {
        RunGuarded(BlockSignals(), clock_, kLong, ExitCode::kExitTimeout, [&] {
          clock_.Advance(kSameSignal);
          return ExitCode::kOk;
        });
        Signal(SIGTERM);
        Hang();
      },
      With(ExitCode::kSecondSignal), "");
}

TEST_F(ExitGuardDeathTest, AStopSignalIsWaitedFor) {
  EXPECT_EXIT(
      {
        const sigset_t signals = BlockSignals();
        Signal(SIGUSR1);
        Signal(SIGPIPE);
        Signal(SIGTERM);
        AwaitStopSignal(signals);
        Return(ExitCode::kOk);
      },
      With(ExitCode::kOk), "");
}

}  // namespace
}  // namespace reprise::testing
