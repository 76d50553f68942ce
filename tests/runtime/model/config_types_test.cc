#include "runtime/model/config_types.h"

#include <set>

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(ConfigTypesTest, EveryDatatypeHasATypeOfItsOwn) {
  std::set<inference::DataType> seen;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const inference::DataType type = ToConfigType(dtype);
    EXPECT_NE(type, inference::TYPE_INVALID);
    EXPECT_TRUE(seen.insert(type).second);
    EXPECT_EQ(FromConfigType(type), dtype);
  }
  EXPECT_EQ(ToConfigType(DType::kString), inference::TYPE_STRING);
  EXPECT_EQ(ToConfigType(DType::kBf16), inference::TYPE_BF16);
}

TEST(ConfigTypesTest, WhatTheSchemaDoesNotNameIsNoDatatype) {
  EXPECT_FALSE(FromConfigType(inference::TYPE_INVALID));
  EXPECT_FALSE(FromConfigType(static_cast<inference::DataType>(99)));
}

}  // namespace
}  // namespace reprise
