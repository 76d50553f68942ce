#include "runtime/device/device_observer.h"

#include <set>

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(DeviceObserverTest, EveryKindOfRunHasANameOfItsOwn) {
  std::set<absl::string_view> names;
  for (int i = 0; i < kRunKinds; ++i) {
    names.insert(RunKindName(static_cast<RunKind>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kRunKinds));
  EXPECT_EQ(RunKindName(RunKind::kBatch), "batch");
  EXPECT_EQ(RunKindName(RunKind::kTiming), "timing");
}

}  // namespace
}  // namespace reprise
