#include "runtime/model/admission.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Signature MakeSignature(int max_batch, Dims in, Dims out) {
  Signature signature;
  signature.batched = max_batch > 1;
  signature.max_batch = max_batch;
  signature.inputs.push_back({"x", DType::kFp32, std::move(in), {}});
  signature.outputs.push_back({"y", DType::kFp32, std::move(out), {}});
  return signature;
}

TEST(AdmissionTest, OneRowMustFitIntoAMessage) {
  std::vector<std::string> warnings;
  EXPECT_THAT(CheckMessageSize(MakeSignature(4, {25}, {1}), 100, warnings),
              IsOk());
  EXPECT_THAT(CheckMessageSize(MakeSignature(4, {26}, {1}), 100, warnings),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("request has 104 bytes"),
                             HasSubstr("--grpc-max-message-bytes=100"))));
  EXPECT_THAT(CheckMessageSize(MakeSignature(1, {1}, {26}), 100, warnings),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("reply has 104 bytes")));
}

TEST(AdmissionTest, ALargestBatchThatDoesNotFitIsAWarning) {
  std::vector<std::string> warnings;
  EXPECT_THAT(CheckMessageSize(MakeSignature(4, {6}, {6}), 100, warnings),
              IsOk());
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_THAT(CheckMessageSize(MakeSignature(4, {7}, {1}), 100, warnings),
              IsOk());
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("request of max_batch_size 4"),
                                 HasSubstr("--grpc-max-message-bytes")));
}

TEST(AdmissionTest, FreeDimsCountAsOneAndProductsAreChecked) {
  std::vector<std::string> warnings;
  EXPECT_THAT(
      CheckMessageSize(MakeSignature(1, {kFreeDim, 25}, {1}), 100, warnings),
      IsOk());
  const int64_t large = int64_t{1} << 40;
  EXPECT_THAT(
      CheckMessageSize(MakeSignature(1, {large, large}, {1}), 100, warnings),
      StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(AdmissionTest, AnImportMayTakeWhatIsFreeAndNoMore) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  const DeviceMemory memory = {.total = 1000, .free = 600};
  // The file and its parsed form; then the parsed form and the constants.
  EXPECT_EQ(MaxFileBytes(memory, /*gpu=*/false), 300);
  EXPECT_EQ(MaxConstantBytes(memory, /*gpu=*/false, 250), 350);
  EXPECT_EQ(MaxConstantBytes(memory, /*gpu=*/false, 700), 0);
  EXPECT_EQ(MaxFileBytes(memory, /*gpu=*/true), kAny);
  EXPECT_EQ(MaxConstantBytes(memory, /*gpu=*/true, 250), 600);
  EXPECT_EQ(MaxFileBytes({}, /*gpu=*/false), kAny);
  EXPECT_EQ(MaxConstantBytes({}, /*gpu=*/false, 250), kAny);
}

TEST(AdmissionTest, WeightsMustFitIntoWhatIsFree) {
  graph::Graph graph;
  for (int i = 0; i < 2; ++i) {
    graph.values.emplace_back().constant = std::make_shared<const HostTensor>(
        *HostTensor::Create(DType::kFp32, {8}));
  }
  graph.values.emplace_back();
  EXPECT_EQ(ConstantBytes(graph), 64);
  EXPECT_THAT(CheckMemory(64, {.total = 100, .free = 64}), IsOk());
  EXPECT_THAT(CheckMemory(65, {.total = 100, .free = 64}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("need 65 bytes"), HasSubstr("64"))));
  EXPECT_THAT(CheckMemory(65, {}), IsOk());  // it reports none
}

}  // namespace
}  // namespace reprise
