// What every device must answer, operator by operator: each in every type that
// the CUDA device takes, with any number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {

using MakeDevice =
    std::function<absl::StatusOr<std::unique_ptr<Device>>(Clock&)>;

// A device to try, by the answers of another, or of plain loops where there is
// none. `make` returning UNAVAILABLE skips the suite with its reason; any other
// error fails it.
struct OpDevice {
  std::string name;
  MakeDevice make;
  MakeDevice reference = nullptr;
  // LoadOptions::precision, one after the other; those but fp32 for FP32 only.
  std::vector<std::string> precisions = {"fp32"};
  // Cases with operands of more elements a row are left out.
  int64_t max_elements = int64_t{1} << 40;
};

struct OpParam {
  const OpDevice* device = nullptr;
  OpGroup group;
};
void PrintTo(const OpParam& param, std::ostream* os);

// A parameter for each group whose operator is in `only`, or for all if that is
// empty. `device` lives for ever.
std::vector<OpParam> OpParams(const OpDevice& device,
                              const std::vector<std::string>& only = {});
std::string OpParamName(const ::testing::TestParamInfo<OpParam>& info);

// The devices are made for the first test and go after the last one.
class OpSuite : public ::testing::TestWithParam<OpParam> {
 protected:
  static void TearDownTestSuite();
  void SetUp() override;

  Device* device_ = nullptr;
  Device* reference_ = nullptr;  // null: plain loops
};

}  // namespace reprise::conformance
