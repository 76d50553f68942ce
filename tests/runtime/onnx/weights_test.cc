#include "runtime/onnx/weights.h"

#include <cstring>
#include <limits>
#include <string>

#include "runtime/tensor/string_ref.h"
#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TensorProto Proto(int type, const std::vector<int64_t>& dims) {
  TensorProto proto;
  proto.set_data_type(type);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

absl::StatusOr<HostTensor> Read(const TensorProto& proto) {
  return WeightReader("", 8, std::numeric_limits<int64_t>::max()).Read(proto);
}

TEST(WeightsTest, RawDataOfEveryDtype) {
  for (const int type :
       {TensorProto::FLOAT, TensorProto::UINT8, TensorProto::INT8,
        TensorProto::UINT16, TensorProto::INT16, TensorProto::INT32,
        TensorProto::INT64, TensorProto::FLOAT16, TensorProto::DOUBLE,
        TensorProto::UINT32, TensorProto::UINT64, TensorProto::BFLOAT16}) {
    TensorProto proto = Proto(type, {2});
    const std::string name =
        TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type));
    for (size_t size = 1; size <= 8; size *= 2) {
      const std::string raw = std::string("0123456789abcdef", 2 * size);
      proto.set_raw_data(raw);
      const absl::StatusOr<HostTensor> tensor = Read(proto);
      if (!tensor.ok()) continue;
      EXPECT_EQ(ElementSize(tensor->dtype()), size) << name;
      EXPECT_EQ(std::memcmp(tensor->bytes().data(), raw.data(), raw.size()), 0);
    }
  }
}

TEST(WeightsTest, TypedFields) {
  TensorProto floats = Proto(TensorProto::FLOAT, {2});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  EXPECT_THAT(Read(floats)->values<float>(), ElementsAre(1.5f, -2));
  TensorProto doubles = Proto(TensorProto::DOUBLE, {});
  doubles.add_double_data(0.1);
  EXPECT_THAT(Read(doubles)->values<double>(), ElementsAre(0.1));
  TensorProto longs = Proto(TensorProto::INT64, {1});
  longs.add_int64_data(-5);
  EXPECT_THAT(Read(longs)->values<int64_t>(), ElementsAre(-5));
  TensorProto wide = Proto(TensorProto::UINT32, {1});
  wide.add_uint64_data(0xffffffffu);
  EXPECT_THAT(Read(wide)->values<uint32_t>(), ElementsAre(0xffffffffu));
  TensorProto widest = Proto(TensorProto::UINT64, {1});
  widest.add_uint64_data(~uint64_t{0});
  EXPECT_THAT(Read(widest)->values<uint64_t>(), ElementsAre(~uint64_t{0}));
}

TEST(WeightsTest, SmallDtypesShareOneField) {
  const auto read = [](int type, int32_t value) {
    TensorProto proto = Proto(type, {1});
    proto.add_int32_data(value);
    return Read(proto).value();
  };
  EXPECT_EQ(read(TensorProto::INT32, -9).values<int32_t>()[0], -9);
  EXPECT_EQ(read(TensorProto::INT16, -9).values<int16_t>()[0], -9);
  EXPECT_EQ(read(TensorProto::INT8, -9).values<int8_t>()[0], -9);
  EXPECT_EQ(read(TensorProto::UINT8, 200).values<uint8_t>()[0], 200);
  EXPECT_EQ(read(TensorProto::UINT16, 60000).values<uint16_t>()[0], 60000);
  EXPECT_EQ(read(TensorProto::FLOAT16, 0x3c00).values<uint16_t>()[0], 0x3c00);
  EXPECT_EQ(read(TensorProto::BFLOAT16, 0x3f80).values<uint16_t>()[0], 0x3f80);
  EXPECT_EQ(read(TensorProto::BOOL, 7).values<uint8_t>()[0], 1);
}

TEST(WeightsTest, RawBoolsAreZeroOrOne) {
  TensorProto proto = Proto(TensorProto::BOOL, {3});
  proto.set_raw_data(std::string("\0\1\xff", 3));
  EXPECT_THAT(Read(proto)->values<uint8_t>(), ElementsAre(0, 1, 1));
}

TEST(WeightsTest, Strings) {
  TensorProto proto = Proto(TensorProto::STRING, {2});
  proto.add_string_data("one");
  proto.add_string_data(std::string("\0two", 4));
  const absl::StatusOr<HostTensor> tensor = Read(proto);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  const StringRef second = tensor->values<StringRef>()[1];
  EXPECT_EQ(std::string(second.data, second.size), std::string("\0two", 4));
  proto.clear_string_data();
  proto.set_raw_data("xy");
  EXPECT_THAT(Read(proto), StatusIs(kInvalid, HasSubstr("STRING")));
}

TEST(WeightsTest, EmptyTensorsAreLegal) {
  EXPECT_EQ(Read(Proto(TensorProto::FLOAT, {0}))->elements(), 0);
  TensorProto raw = Proto(TensorProto::FLOAT, {3, 0});
  raw.set_raw_data("");
  EXPECT_EQ(Read(raw)->dims(), (Dims{3, 0}));
}

TEST(WeightsTest, DataMustFitTheDims) {
  TensorProto typed = Proto(TensorProto::FLOAT, {2});
  typed.add_float_data(1);
  EXPECT_THAT(Read(typed),
              StatusIs(kInvalid, HasSubstr("FP32 [2] but has 1 elements")));
  TensorProto raw = Proto(TensorProto::FLOAT, {2});
  raw.set_raw_data("1234567");
  EXPECT_THAT(Read(raw), StatusIs(kInvalid, HasSubstr("has 7 bytes")));
  TensorProto both = Proto(TensorProto::FLOAT, {1});
  both.set_raw_data("1234");
  both.add_float_data(1);
  EXPECT_THAT(Read(both), StatusIs(kInvalid, HasSubstr("twice")));
  TensorProto wrong_field = Proto(TensorProto::FLOAT, {1});
  wrong_field.add_int32_data(1);
  EXPECT_THAT(Read(wrong_field), StatusIs(kInvalid));
}

TEST(WeightsTest, HugeDimsCostNothing) {
  EXPECT_THAT(Read(Proto(TensorProto::FLOAT, {int64_t{1} << 40})),
              StatusIs(kInvalid, HasSubstr("has 0 elements")));
  EXPECT_THAT(
      Read(Proto(TensorProto::FLOAT, {int64_t{1} << 40, int64_t{1} << 40})),
      StatusIs(kInvalid));
  EXPECT_THAT(Read(Proto(TensorProto::FLOAT, {-1})), StatusIs(kInvalid));
}

TEST(WeightsTest, LimitsOnRankAndBytesHold) {
  EXPECT_THAT(
      Read(Proto(TensorProto::FLOAT, std::vector<int64_t>(9, 1))),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("9 axes")));
  WeightReader reader("", 8, 12);
  TensorProto proto = Proto(TensorProto::FLOAT, {2});
  proto.set_raw_data("12345678");
  EXPECT_TRUE(reader.Read(proto).ok());
  EXPECT_THAT(reader.Read(proto), StatusIs(absl::StatusCode::kResourceExhausted,
                                           HasSubstr("12 together")));
}

TEST(WeightsTest, OtherDtypesAreNamed) {
  EXPECT_THAT(Read(Proto(0, {1})),
              StatusIs(kInvalid, HasSubstr("no datatype")));
  EXPECT_THAT(
      Read(Proto(TensorProto::COMPLEX64, {1})),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("COMPLEX64")));
  EXPECT_THAT(Read(Proto(22, {1})),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("INT4")));
}

TEST(WeightsTest, ExternalDataWithoutAFolderIsRefused) {
  TensorProto proto = Proto(TensorProto::FLOAT, {1});
  proto.set_data_location(TensorProto::EXTERNAL);
  EXPECT_THAT(Read(proto),
              StatusIs(kInvalid, HasSubstr("not read from a file")));
}

TEST(WeightsTest, KeysOfExternalDataAreChecked) {
  const auto read = [](const std::string& key, const std::string& value) {
    TensorProto proto = Proto(TensorProto::FLOAT, {1});
    proto.set_data_location(TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
    return WeightReader(".", 8, 100).Read(proto).status();
  };
  EXPECT_THAT(read("offset", "-1"), StatusIs(kInvalid, HasSubstr("'-1'")));
  EXPECT_THAT(read("length", "99999999999999999999"), StatusIs(kInvalid));
  EXPECT_THAT(read("length", "4x"), StatusIs(kInvalid));
  EXPECT_THAT(read("_fd", "3"), StatusIs(kInvalid, HasSubstr("'_fd'")));
  EXPECT_THAT(read("location", ""), StatusIs(kInvalid));
}

}  // namespace
}  // namespace reprise::onnx_import
