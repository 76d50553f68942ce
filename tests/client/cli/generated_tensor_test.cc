#include "client/cli/generated_tensor.h"

#include "client/cli/elements.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(GeneratedTensorTest, FillsEveryDatatype) {
  for (const char* datatype :
       {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32",
        "INT64", "FP16", "FP32", "FP64", "BF16", "BYTES"}) {
    const Tensor target{"x", datatype, {3, 4}, ""};
    const auto random = MakeRandom(target, 1);
    ASSERT_THAT(random, IsOk()) << datatype;
    EXPECT_THAT(CheckTensor(*random), IsOk()) << datatype;
    EXPECT_EQ(random->bytes, MakeRandom(target, 1)->bytes);
    EXPECT_NE(random->bytes, MakeRandom(target, 2)->bytes) << datatype;
    const auto zeros = MakeZeros(target);
    ASSERT_THAT(zeros, IsOk()) << datatype;
    EXPECT_THAT(CheckTensor(*zeros), IsOk()) << datatype;
  }
}

TEST(GeneratedTensorTest, RandomValuesAreSmall) {
  const auto integers = MakeRandom({"x", "INT64", {100}, ""}, 3);
  const auto floats = MakeRandom({"x", "FP32", {100}, ""}, 3);
  for (size_t i = 0; i < 100; ++i) {
    const double integer = ReadElement("INT64", integers->bytes.data() + i * 8);
    EXPECT_GE(integer, 0);
    EXPECT_LE(integer, 9);
    const double real = ReadElement("FP32", floats->bytes.data() + i * 4);
    EXPECT_GE(real, 0);
    EXPECT_LE(real, 1);
  }
}

TEST(GeneratedTensorTest, RefusesUnknownDatatypesAndHugeTensors) {
  EXPECT_THAT(MakeZeros({"x", "FP8", {1}, ""}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MakeRandom({"x", "FP32", {1 << 30}, ""}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("larger than 2 GiB")));
}

}  // namespace
}  // namespace reprise::client
