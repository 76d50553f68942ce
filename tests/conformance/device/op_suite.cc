#include "tests/conformance/device/op_suite.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "runtime/base/status_macros.h"
#include "tests/conformance/device/op_compare.h"
#include "tests/conformance/device/op_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

// Rows 3 and 4 are padded to the last rung; its 5 rows are aligned to nothing.
const std::vector<int>& LadderOf(const OpModel& model) {
  static const auto& batched = *new std::vector<int>{1, 2, 5};
  static const auto& fixed = *new std::vector<int>{1};
  return model.batched ? batched : fixed;
}
constexpr int kMaxRows = 5;

// The devices of the suite that runs.
struct Devices {
  const OpDevice* of = nullptr;
  absl::Status status;
  std::unique_ptr<Device> device;
  std::unique_ptr<Device> reference;
};
Devices& TheDevices() {
  static auto& devices = *new Devices();
  return devices;
}

void MakeDevices(const OpDevice& of, Devices& devices) {
  devices = {};
  devices.of = &of;
  auto device = of.make(RealClock::Get());
  devices.status = device.status();
  if (!device.ok()) return;
  devices.device = *std::move(device);
  if (of.reference == nullptr) return;
  auto reference = of.reference(RealClock::Get());
  devices.status = reference.status();
  if (reference.ok()) devices.reference = *std::move(reference);
}

// A model on one device.
struct Loaded {
  std::unique_ptr<LoadedModel> model;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Loaded> Load(Device& device, const OpModel& model,
                            const std::string& precision) {
  Loaded loaded;
  REPRISE_ASSIGN_OR_RETURN(
      loaded.model, device.Load(model.graph, model.signature,
                                {.model = "suite/1", .precision = precision}));
  REPRISE_ASSIGN_OR_RETURN(loaded.executable,
                           loaded.model->Prepare({}, LadderOf(model), 0));
  return loaded;
}

// What a slot's inputs hold before they are filled: NaN, and -1.
constexpr unsigned char kStale = 0xff;

void FillSlot(const OpModel& model, int rows, Slot& slot) {
  for (size_t k = 0; k < model.inputs.size(); ++k) {
    const std::span<std::byte> input = slot.input(static_cast<int>(k));
    const auto& [one, operand] = model.inputs[k];
    const std::span<const std::byte> bytes =
        RowsOf(*model.operands[one][operand], model.batched, rows, kMaxRows);
    if (!input.empty()) std::memset(input.data(), kStale, input.size());
    std::ranges::copy(bytes, input.begin());
  }
}

absl::StatusOr<std::vector<HostTensor>> Run(Executable& executable,
                                            const OpModel& model, int rows) {
  SlotLease slot = executable.AcquireSlot();
  if (!slot) return absl::InternalError("no slot");
  FillSlot(model, rows, *slot);
  REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, rows));
  REPRISE_RETURN_IF_ERROR(
      executable.Wait(*slot, absl::InfiniteFuture()).status());
  std::vector<HostTensor> outputs;
  const Signature& signature = executable.signature();
  for (size_t k = 0; k < signature.outputs.size(); ++k) {
    const TensorSpec& spec = signature.outputs[k];
    Dims dims = spec.dims;
    if (model.batched) dims.insert(dims.begin(), rows);
    REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                             HostTensor::Create(spec.dtype, dims));
    std::ranges::copy(
        slot->output(static_cast<int>(k)).first(tensor.bytes().size()),
        tensor.bytes().begin());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

void ExpectSame(const OpModel& model, const OpGroup& group,
                const std::string& precision, int rows,
                const std::vector<HostTensor>& got,
                const std::vector<HostTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  size_t k = 0;
  for (const OpCase* one : model.cases) {
    for (int output = 0; output < one->outputs; ++output, ++k) {
      Tolerance tolerance = ToleranceOf(want[k].dtype(), precision);
      if (group.row->exact && precision == "fp32") tolerance = {};
      EXPECT_EQ(
          FirstDifference(got[k], want[k], tolerance, model.batched ? rows : 0),
          "")
          << GroupName(group) << " as " << precision << ", case '" << one->name
          << "', output " << output << " of " << rows << " rows";
    }
  }
}

void ExpectAnswers(Device& device, Device* reference, const OpModel& model,
                   const OpGroup& group, const std::string& precision) {
  if (model.cases.empty()) return;
  auto tried = Load(device, model, precision);
  ASSERT_THAT(tried, IsOk()) << GroupName(group) << " as " << precision;
  Loaded by;
  if (reference != nullptr) {
    auto loaded = Load(*reference, model, "fp32");
    ASSERT_THAT(loaded, IsOk()) << GroupName(group) << " by the reference";
    by = *std::move(loaded);
  }
  for (int rows = 1; rows <= (model.batched ? kMaxRows : 1); ++rows) {
    const auto got = Run(*tried->executable, model, rows);
    ASSERT_THAT(got, IsOk());
    const auto want = reference != nullptr ? Run(*by.executable, model, rows)
                                           : ByPlainLoops(model, group, rows);
    ASSERT_THAT(want, IsOk());
    ExpectSame(model, group, precision, rows, *got, *want);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace

void PrintTo(const OpParam& param, std::ostream* os) {
  *os << GroupName(param.group) << " on " << param.device->name;
}

std::vector<OpParam> OpParams(const OpDevice& device,
                              const std::vector<std::string>& only) {
  std::vector<OpParam> params;
  for (OpGroup& group : AllOpGroups()) {
    if (!only.empty() && std::ranges::count(only, group.row->op) == 0) continue;
    params.push_back({&device, std::move(group)});
  }
  return params;
}

std::string OpParamName(const ::testing::TestParamInfo<OpParam>& info) {
  return GroupName(info.param.group);
}

void OpSuite::TearDownTestSuite() { TheDevices() = {}; }

void OpSuite::SetUp() {
  Devices& devices = TheDevices();
  if (devices.of != GetParam().device) {
    MakeDevices(*GetParam().device, devices);
  }
  if (absl::IsUnavailable(devices.status)) {
    GTEST_SKIP() << devices.status.message();
  }
  ASSERT_THAT(devices.status, IsOk());
  device_ = devices.device.get();
  reference_ = devices.reference.get();
}

TEST_P(OpSuite, AnswersAsTheReferenceDoes) {
  const OpDevice& device = *GetParam().device;
  const OpGroup& group = GetParam().group;
  for (const std::string& precision : device.precisions) {
    if (precision != "fp32" && group.dtype != DType::kFp32) continue;
    const bool narrow = precision == "fp16" || precision == "bf16";
    auto models =
        MakeOpModels(group, kMaxRows,
                     {.max_elements = device.max_elements, .narrow = narrow});
    ASSERT_THAT(models, IsOk()) << GroupName(group);
    for (const OpModel* model : {&models->batched, &models->fixed}) {
      ExpectAnswers(*device_, reference_, *model, group, precision);
    }
  }
}

}  // namespace reprise::conformance
