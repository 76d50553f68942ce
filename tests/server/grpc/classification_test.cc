#include "server/grpc/classification.h"

#include <cmath>

#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;

template <typename T>
auto Top(DType dtype, const std::vector<T>& values, const Classes& classes) {
  return Classify(dtype, std::as_bytes(std::span(values)), classes);
}

TEST(ClassificationTest, LargestFirstWithLabelsWhereThereAreAny) {
  const std::vector<std::string> labels = {"zero", "one", "two"};
  const std::vector<float> values = {0.5f, 3, -1, 2};
  EXPECT_THAT(Top(DType::kFp32, values, {1, 2, &labels}),
              IsOkAndHolds(ElementsAre("3.000000:1:one", "2.000000:3")));
  EXPECT_THAT(Top(DType::kFp32, values, {1, 10, nullptr}),
              IsOkAndHolds(ElementsAre("3.000000:1", "2.000000:3", "0.500000:0",
                                       "-1.000000:2")));
}

TEST(ClassificationTest, EachRowIsRankedByItself) {
  EXPECT_THAT(
      Top(DType::kInt32, std::vector<int32_t>{1, 2, 9, 4}, {2, 1, nullptr}),
      IsOkAndHolds(ElementsAre("2:1", "9:0")));
}

TEST(ClassificationTest, EqualOnesStayInOrderAndNanKeepsItsPlace) {
  const float nan = std::nanf("");
  EXPECT_THAT(
      Top(DType::kFp32, std::vector<float>{1, 1, nan, 1}, {1, 4, nullptr}),
      IsOkAndHolds(
          ElementsAre("1.000000:0", "1.000000:1", "nan:2", "1.000000:3")));
}

TEST(ClassificationTest, HalvesAreReadAsNumbers) {
  EXPECT_THAT(
      Top(DType::kFp16, std::vector<uint16_t>{0x3c00, 0xc000, 0x0001},
          {1, 3, nullptr}),
      IsOkAndHolds(ElementsAre("1.000000:0", "0.000000:2", "-2.000000:1")));
  EXPECT_THAT(
      Top(DType::kBf16, std::vector<uint16_t>{0x3f80, 0x4040}, {1, 1, nullptr}),
      IsOkAndHolds(ElementsAre("3.000000:1")));
}

TEST(ClassificationTest, StringsAreRefused) {
  EXPECT_THAT(Classify(DType::kString, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::testing
