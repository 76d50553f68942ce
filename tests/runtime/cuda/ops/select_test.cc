#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;

constexpr DType kAll[] = {DType::kFp32,   DType::kFp16,   DType::kBf16,
                          DType::kFp64,   DType::kInt8,   DType::kInt16,
                          DType::kInt32,  DType::kInt64,  DType::kUint8,
                          DType::kUint16, DType::kUint32, DType::kUint64,
                          DType::kBool};

// ONNX's number of a dtype.
int64_t OnnxType(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
      return 1;
    case DType::kUint8:
      return 2;
    case DType::kInt8:
      return 3;
    case DType::kUint16:
      return 4;
    case DType::kInt16:
      return 5;
    case DType::kInt32:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kFp16:
      return 10;
    case DType::kFp64:
      return 11;
    case DType::kUint32:
      return 12;
    case DType::kUint64:
      return 13;
    default:
      return 16;
  }
}

TEST(SelectTest, ComparesEveryType) {
  for (const std::string op :
       {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    for (const DType dtype : kAll) {
      if (dtype == DType::kBool && op != "Equal") continue;
      OpTester(op)
          .In(Numbers(dtype, {6, 5}, 1))
          .In(Numbers(dtype, {5}, 2))
          .ExpectSame();
    }
    OpTester(op).In(F32({3}, {1, kNan, kNan})).In(F32({}, {1})).ExpectSame();
  }
}

TEST(SelectTest, AnyByteButZeroIsTrue) {
  const auto a = [] {
    return TensorOf<uint8_t>(DType::kBool, {6}, {0, 1, 2, 255, 0, 7});
  };
  const auto b = [] {
    return TensorOf<uint8_t>(DType::kBool, {6}, {0, 1, 1, 0, 9, 8});
  };
  for (const std::string op : {"And", "Or", "Xor", "Equal"}) {
    OpTester(op).In(a()).In(b()).ExpectSame();
  }
  OpTester("Not").In(a()).ExpectSame();
  OpTester("Where").In(a()).In(Noise({6}, 1)).In(Noise({6}, 2)).ExpectSame();
}

TEST(SelectTest, WhereIsBroadcast) {
  for (const DType dtype : kAll) {
    OpTester("Where")
        .In(Numbers(DType::kBool, {4, 1}, 3))
        .In(Numbers(dtype, {8}, 1))
        .In(Numbers(dtype, {2, 4, 8}, 2))
        .ExpectSame();
    OpTester("Where")
        .In(Numbers(DType::kBool, {2, 3, 5}, 3))
        .In(Numbers(dtype, {5}, 1))
        .In(Numbers(dtype, {}, 2))
        .ExpectSame();
  }
}

TEST(SelectTest, ClipsEveryType) {
  for (const DType dtype : kAll) {
    if (dtype == DType::kBool) continue;
    const double tolerance = 0;
    const auto clip = [&] {
      return OpTester("Clip")
          .In(Numbers(dtype, {19}, 1))
          .In(Numbers(dtype, {}, 2))
          .In(Numbers(dtype, {}, 9));
    };
    clip().Weights({1, 2}).ExpectSame(tolerance);
    clip().ExpectSame(tolerance);
    clip().Weights({1}).ExpectSame(tolerance);
    OpTester("Clip")
        .In(Numbers(dtype, {19}, 1))
        .Absent()
        .In(Numbers(dtype, {}, 4))
        .ExpectSame(tolerance);
  }
  OpTester("Clip").In(F32({4}, {kNan, -kInf, kInf, 1})).ExpectSame();
}

TEST(SelectTest, CastsEveryPair) {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      OpTester("Cast")
          .In(Numbers(from, {3, 7}, 5))
          .Set("to", OnnxType(to))
          .ExpectSame(0);
    }
  }
}

TEST(SelectTest, CastsWhatDoesNotFit) {
  for (const DType to : kAll) {
    OpTester("Cast")
        .In(F32({7}, {kNan, kInf, -kInf, 1e30F, -1e30F, 300.7F, -2.5F}))
        .Set("to", OnnxType(to))
        .ExpectSame(0);
    OpTester("Cast")
        .In(I64({4}, {int64_t{1} << 40, -1, 70000, -129}))
        .Set("to", OnnxType(to))
        .ExpectSame(0);
  }
}

TEST(SelectTest, TextIsRefused) {
  EXPECT_THAT(OpTester("Cast")
                  .In(HostTensor::FromStrings({1}, {"1"}).value())
                  .Set("to", int64_t{1})
                  .Status(),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace reprise::cuda
