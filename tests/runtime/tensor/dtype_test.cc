#include "runtime/tensor/dtype.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "runtime/tensor/string_ref.h"

namespace reprise {
namespace {

TEST(DTypeTest, EveryNameIsDistinct) {
  std::set<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    names.insert(std::string(DTypeName(dtype)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kDTypeCount));
}

TEST(DTypeTest, HasTheNamesAndSizesOfTheProtocol) {
  const struct {
    DType dtype;
    const char* name;
    size_t size;
  } expected[] = {
      {DType::kBool, "BOOL", 1},
      {DType::kUint8, "UINT8", 1},
      {DType::kUint16, "UINT16", 2},
      {DType::kUint32, "UINT32", 4},
      {DType::kUint64, "UINT64", 8},
      {DType::kInt8, "INT8", 1},
      {DType::kInt16, "INT16", 2},
      {DType::kInt32, "INT32", 4},
      {DType::kInt64, "INT64", 8},
      {DType::kFp16, "FP16", 2},
      {DType::kFp32, "FP32", 4},
      {DType::kFp64, "FP64", 8},
      {DType::kBf16, "BF16", 2},
      {DType::kString, "BYTES", sizeof(StringRef)},
  };
  for (const auto& row : expected) {
    EXPECT_EQ(std::string(DTypeName(row.dtype)), row.name);
    EXPECT_EQ(ElementSize(row.dtype), row.size) << row.name;
  }
}

TEST(DTypeTest, SortsIntoFloatsIntegersAndTheRest) {
  int floats = 0;
  int integers = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_FALSE(IsFloat(dtype) && IsInteger(dtype));
    EXPECT_EQ(IsNumber(dtype), IsFloat(dtype) || IsInteger(dtype));
    if (IsFloat(dtype)) ++floats;
    if (IsInteger(dtype)) ++integers;
  }
  EXPECT_EQ(floats, 4);
  EXPECT_EQ(integers, 8);
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_FALSE(IsInteger(DType::kString));
  EXPECT_TRUE(IsFloat(DType::kBf16));
}

}  // namespace
}  // namespace reprise
