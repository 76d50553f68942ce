#include "server/grpc/parameters.h"

#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using Kind = InferParameter::Kind;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

InferParameters One(absl::string_view key, Kind kind, uint64_t number = 0,
                    absl::string_view text = "") {
  return {{key, InferParameter{kind, number, text}}};
}

absl::Status Read(const InferParameters& parameters) {
  return ReadRequestParameters(parameters).status();
}

TEST(ParametersTest, PriorityIsAnInt64OrUint64) {
  EXPECT_EQ(ReadRequestParameters(One("priority", Kind::kInt64, 2))->priority,
            2u);
  EXPECT_EQ(ReadRequestParameters(One("priority", Kind::kUint64, UINT64_MAX))
                ->priority,
            UINT64_MAX);
  EXPECT_THAT(Read(One("priority", Kind::kInt64, static_cast<uint64_t>(-1))),
              StatusIs(kInvalid, HasSubstr(">= 0, got -1")));
  EXPECT_THAT(Read(One("priority", Kind::kString, 0, "1")),
              StatusIs(kInvalid, HasSubstr("string_param")));
}

TEST(ParametersTest, TimeoutIsAnInt64AndNegativeIsNone) {
  EXPECT_EQ(ReadRequestParameters(One("timeout", Kind::kInt64, 5))->timeout_us,
            5);
  EXPECT_EQ(ReadRequestParameters(
                One("timeout", Kind::kInt64, static_cast<uint64_t>(-1)))
                ->timeout_us,
            0);
  EXPECT_THAT(Read(One("timeout", Kind::kUint64, 5)),
              StatusIs(kInvalid, HasSubstr("uint64_param")));
}

TEST(ParametersTest, SequenceParametersAreCheckedAndIgnored) {
  EXPECT_THAT(Read(One("sequence_id", Kind::kInt64, 5)), IsOk());
  EXPECT_THAT(Read(One("sequence_id", Kind::kString, 0, "abc")), IsOk());
  EXPECT_THAT(Read(One("sequence_id", Kind::kBool, 1)), StatusIs(kInvalid));
  EXPECT_THAT(Read(One("sequence_id", Kind::kUint64, 1)), StatusIs(kInvalid));
  const std::string longer(129, 'x');
  EXPECT_THAT(Read(One("sequence_id", Kind::kString, 0, longer)),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("129")));
  EXPECT_THAT(Read(One("sequence_start", Kind::kInt64, 1)), StatusIs(kInvalid));
  EXPECT_THAT(Read(One("sequence_end", Kind::kBool, 1)), IsOk());
}

TEST(ParametersTest, OtherKeysAreIgnoredUnlessReservedOrUntyped) {
  EXPECT_THAT(Read(One("mine", Kind::kString)), IsOk());
  EXPECT_THAT(Read(One("mine", Kind::kDouble)), IsOk());
  EXPECT_THAT(Read(One("", Kind::kBool)), IsOk());
  EXPECT_THAT(Read(One("mine", Kind::kUint64)), StatusIs(kInvalid));
  EXPECT_THAT(Read(One("mine", Kind::kNone)),
              StatusIs(kInvalid, HasSubstr("no value")));
  EXPECT_THAT(Read(One("triton_mine", Kind::kBool)), StatusIs(kInvalid));
  EXPECT_THAT(Read(One("triton_enable_empty_final_response", Kind::kBool)),
              IsOk());
}

TEST(ParametersTest, ClassificationIsAPositiveInt64) {
  EXPECT_THAT(ReadClassification({}), IsOkAndHolds(0));
  EXPECT_THAT(ReadClassification(One("classification", Kind::kInt64, 3)),
              IsOkAndHolds(3));
  EXPECT_THAT(ReadClassification(One("classification", Kind::kInt64, 0)),
              StatusIs(kInvalid, HasSubstr("> 0, got 0")));
  EXPECT_THAT(ReadClassification(One("classification", Kind::kBool, 1)),
              StatusIs(kInvalid));
}

TEST(ParametersTest, SharedMemoryIsUnimplemented) {
  EXPECT_THAT(CheckNoSharedMemory(One("binary_data", Kind::kBool)), IsOk());
  EXPECT_THAT(
      CheckNoSharedMemory(One("shared_memory_region", Kind::kString)),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("disabled")));
}

}  // namespace
}  // namespace reprise::testing
