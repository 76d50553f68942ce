#include "runtime/ops/onnx_dtype.h"

#include <set>

#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

TEST(OnnxDTypeTest, EveryDtypeHasOneNumber) {
  std::set<DType> found;
  for (int64_t number = 1; number <= 16; ++number) {
    const absl::StatusOr<DType> dtype = DTypeFromOnnx(number);
    if (!dtype.ok()) continue;
    EXPECT_TRUE(found.insert(*dtype).second) << number;
  }
  EXPECT_EQ(found.size(), static_cast<size_t>(kDTypeCount));
  EXPECT_THAT(DTypeFromOnnx(1), IsOkAndHolds(DType::kFp32));
  EXPECT_THAT(DTypeFromOnnx(7), IsOkAndHolds(DType::kInt64));
  EXPECT_THAT(DTypeFromOnnx(16), IsOkAndHolds(DType::kBf16));
}

TEST(OnnxDTypeTest, OthersAreRefusedByNameOrNumber) {
  EXPECT_THAT(DTypeFromOnnx(17), StatusIs(absl::StatusCode::kUnimplemented,
                                          HasSubstr("FLOAT8E4M3FN")));
  for (const int64_t number : {-1, 0, 99}) {
    EXPECT_THAT(DTypeFromOnnx(number),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is not defined")));
  }
}

}  // namespace
}  // namespace reprise::ops
