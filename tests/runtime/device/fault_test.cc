#include "runtime/device/fault.h"

#include "gtest/gtest.h"
#include "runtime/base/status.h"

namespace reprise {
namespace {

TEST(DeviceFaultTest, TheMarkStaysUnderAnnotations) {
  const absl::Status fault = AsDeviceFault(absl::UnavailableError("gone"));
  EXPECT_TRUE(IsDeviceFault(fault));
  EXPECT_TRUE(IsDeviceFault(Annotate(fault, "model 'a'")));
  EXPECT_EQ(fault.message(), "gone");
}

TEST(DeviceFaultTest, OtherErrorsAndOkAreNone) {
  EXPECT_FALSE(IsDeviceFault(absl::UnavailableError("gone")));
  EXPECT_FALSE(IsDeviceFault(absl::OkStatus()));
  EXPECT_FALSE(IsDeviceFault(AsDeviceFault(absl::OkStatus())));
}

}  // namespace
}  // namespace reprise
