#include "client/cli/elements.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What `value` is after it went through the datatype.
double Round(const char* datatype, double value) {
  std::string bytes;
  AppendElement(datatype, value, bytes);
  EXPECT_EQ(bytes.size(), *ElementSize(datatype));
  return ReadElement(datatype, bytes.data());
}

TEST(ElementsTest, EveryDatatypeHoldsSmallNumbers) {
  for (const char* datatype :
       {"UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32",
        "INT64", "FP16", "FP32", "FP64", "BF16"}) {
    EXPECT_EQ(Round(datatype, 100), 100) << datatype;
    EXPECT_EQ(Round(datatype, 0), 0) << datatype;
  }
  EXPECT_EQ(Round("BOOL", 100), 1);
  EXPECT_EQ(Round("BOOL", 0), 0);
}

TEST(ElementsTest, IntegersRoundAndSaturate) {
  EXPECT_EQ(Round("UINT8", -3), 0);
  EXPECT_EQ(Round("UINT8", 300), 255);
  EXPECT_EQ(Round("INT8", -129.2), -128);
  EXPECT_EQ(Round("INT32", 2.6), 3);
  EXPECT_EQ(Round("INT64", 1e30), 9223372036854775807.0);
  EXPECT_EQ(Round("INT16", std::nan("")), 0);
}

TEST(ElementsTest, HalfRoundsToNearestEven) {
  EXPECT_EQ(Round("FP16", 0.1), 0.0999755859375);
  EXPECT_EQ(Round("FP16", 65504), 65504);
  EXPECT_EQ(Round("FP16", 65519.9), 65504);
  EXPECT_EQ(Round("FP16", 65520), kInfinity);
  EXPECT_EQ(Round("FP16", -kInfinity), -kInfinity);
  EXPECT_EQ(Round("FP16", 2049), 2048);
  EXPECT_EQ(Round("FP16", 2051), 2052);
  EXPECT_EQ(Round("FP16", std::ldexp(1, -24)), std::ldexp(1, -24));
  EXPECT_EQ(Round("FP16", std::ldexp(1, -26)), 0);
  EXPECT_EQ(Round("FP16", 1023.75 * std::ldexp(1, -24)), std::ldexp(1, -14));
  EXPECT_TRUE(std::isnan(Round("FP16", std::nan(""))));
}

TEST(ElementsTest, EveryHalfSurvives) {
  for (int bits = 0; bits < 65536; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const std::string bytes(reinterpret_cast<const char*>(&half), 2);
    const double value = ReadElement("FP16", bytes.data());
    if (std::isnan(value)) continue;
    std::string again;
    AppendElement("FP16", value, again);
    ASSERT_EQ(again, bytes) << bits;
  }
}

TEST(ElementsTest, BrainFloatRoundsToNearestEven) {
  EXPECT_EQ(Round("BF16", 1 + 1.0 / 256), 1);
  EXPECT_EQ(Round("BF16", 1 + 3.0 / 256), 1 + 4.0 / 256);
  EXPECT_EQ(Round("BF16", kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Round("BF16", std::nan(""))));
}

TEST(ElementsTest, JsonIsExactForIntegers) {
  const int64_t large = 9007199254740993;
  const Tensor tensor{
      "x", "INT64", {1}, std::string(reinterpret_cast<const char*>(&large), 8)};
  EXPECT_EQ(ElementsJson(tensor).dump(), "[9007199254740993]");
  EXPECT_EQ(Preview(tensor, 8), "9007199254740993");
}

// The bytes of values of the C++ type of a datatype.
template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

TEST(ElementsTest, TextIsExactForIntegers) {
  const auto text = [](const char* datatype, const std::string& bytes) {
    return ElementText(datatype, bytes.data());
  };
  EXPECT_EQ(text("INT8", Bytes<int8_t>({-65})), "-65");
  EXPECT_EQ(text("UINT8", Bytes<uint8_t>({65})), "65");
  EXPECT_EQ(text("INT16", Bytes<int16_t>({-32768})), "-32768");
  EXPECT_EQ(text("UINT16", Bytes<uint16_t>({65535})), "65535");
  EXPECT_EQ(text("INT32", Bytes<int32_t>({-1234567})), "-1234567");
  EXPECT_EQ(text("UINT32", Bytes<uint32_t>({4294967295})), "4294967295");
  EXPECT_EQ(text("INT64", Bytes<int64_t>({4296201863})), "4296201863");
  EXPECT_EQ(text("UINT64", Bytes<uint64_t>({UINT64_MAX})),
            "18446744073709551615");
  EXPECT_EQ(text("BOOL", std::string(1, '\1')), "1");
  EXPECT_EQ(text("FP32", Bytes<float>({0.1F})), "0.1");
  EXPECT_EQ(Preview({"x", "INT32", {1}, Bytes<int32_t>({1234567})}, 8),
            "1234567");
}

TEST(ElementsTest, LargestOfIntegersIsExact) {
  const std::string large =
      Bytes<int64_t>({9007199254740992, 9007199254740993, -1});
  EXPECT_THAT(LargestElements("INT64", large.data(), 3, 2),
              ::testing::ElementsAre(1, 0));
  const std::string bytes = Bytes<float>({NAN, 1, 7, 7});
  EXPECT_THAT(LargestElements("FP32", bytes.data(), 4, 9),
              ::testing::ElementsAre(2, 3, 1, 0));
}

TEST(ElementsTest, JsonOfTruthValuesStringsAndNan) {
  EXPECT_EQ(ElementsJson({"x", "BOOL", {2}, std::string("\1\0", 2)}).dump(),
            "[true,false]");
  EXPECT_EQ(ElementsJson({"x", "BYTES", {2}, EncodeStrings({"a", "b"})}).dump(),
            "[\"a\",\"b\"]");
  std::string bytes;
  AppendElement("FP32", std::nan(""), bytes);
  AppendElement("FP32", 0.5, bytes);
  EXPECT_EQ(ElementsJson({"x", "FP32", {2}, bytes}).dump(), "[null,0.5]");
}

TEST(ElementsTest, PreviewEndsWithDots) {
  EXPECT_EQ(Preview({"x", "UINT8", {4}, "\1\2\3\4"}, 2), "1, 2, ...");
  EXPECT_EQ(Preview({"x", "UINT8", {2}, "\1\2"}, 2), "1, 2");
  EXPECT_EQ(Preview({"x", "BYTES", {1}, EncodeStrings({"a\"b"})}, 2),
            "\"a\\\"b\"");
}

}  // namespace
}  // namespace reprise::client
