#include "runtime/model/lifecycle.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using enum VersionState;

TEST(LifecycleTest, AVersionIsLoadedServedAndUnloaded) {
  EXPECT_TRUE(CanMove(kUnknown, kLoading));
  EXPECT_TRUE(CanMove(kLoading, kReady));
  EXPECT_TRUE(CanMove(kReady, kUnloading));
  EXPECT_TRUE(CanMove(kUnloading, kUnavailable));
  EXPECT_TRUE(CanMove(kUnavailable, kLoading));
  EXPECT_TRUE(CanMove(kLoading, kUnavailable));
}

TEST(LifecycleTest, NothingIsReadyThatWasNotLoaded) {
  for (const VersionState from : {kUnknown, kReady, kUnloading, kUnavailable}) {
    EXPECT_FALSE(CanMove(from, kReady)) << StateName(from);
  }
  EXPECT_FALSE(CanMove(kReady, kUnavailable));
  EXPECT_FALSE(CanMove(kReady, kLoading));  // a hot reload stays ready
}

TEST(LifecycleTest, StatesHaveTheProtocolsNames) {
  EXPECT_EQ(StateName(kUnknown), "UNKNOWN");
  EXPECT_EQ(StateName(kLoading), "LOADING");
  EXPECT_EQ(StateName(kReady), "READY");
  EXPECT_EQ(StateName(kUnloading), "UNLOADING");
  EXPECT_EQ(StateName(kUnavailable), "UNAVAILABLE");
}

}  // namespace
}  // namespace reprise
