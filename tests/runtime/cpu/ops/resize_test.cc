#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"

// Expected values are those of ONNX's reference implementation.
namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

HostTensor Count(Dims dims) {  // 1, 2, 3, ...
  HostTensor tensor = HostTensor::Create(DType::kFp32, dims).value();
  float next = 1;
  for (float& value : tensor.values<float>()) value = next++;
  return tensor;
}

HostTensor Floats(const std::vector<float>& values) {
  return F32({static_cast<int64_t>(values.size())}, values);
}

OpTester ByScales(HostTensor x, const std::vector<float>& scales) {
  OpTester tester("Resize", 19);
  tester.In(std::move(x)).Absent().In(Floats(scales));
  return tester;
}

OpTester BySizes(HostTensor x, const std::vector<int64_t>& sizes) {
  OpTester tester("Resize", 19);
  tester.In(std::move(x))
      .Absent()
      .Absent()
      .In(I64({static_cast<int64_t>(sizes.size())}, sizes));
  return tester;
}

void ExpectNear(const HostTensor& actual, const std::vector<float>& expected) {
  EXPECT_THAT(Values<float>(actual), Pointwise(FloatNear(1e-4F), expected));
}

TEST(ResizeTest, NearestCopies) {
  EXPECT_THAT(Values<float>(ByScales(Count({2, 2}), {2, 1.5F}).Result()),
              ElementsAre(1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4));
  EXPECT_THAT(Values<float>(ByScales(Count({1, 4}), {1, 0.5F}).Result()),
              ElementsAre(1, 3));
}

TEST(ResizeTest, NearestTakesAnyElement) {
  EXPECT_THAT(
      Values<int64_t>(ByScales(I64({2}, {-7, 1LL << 60}), {2}).Result()),
      ElementsAre(-7, -7, 1LL << 60, 1LL << 60));
  EXPECT_THAT(Values<uint8_t>(ByScales(Bool({2}, {0, 1}), {2}).Result()),
              ElementsAre(0, 0, 1, 1));
}

TEST(ResizeTest, UpsampleIsAResizeThatIsAsymmetric) {
  for (const float scale : {2.0F, 3.0F, 1.5F}) {
    const HostTensor old = OpTester("Upsample", 9)
                               .In(Count({1, 1, 4, 4}))
                               .In(Floats({1, 1, scale, scale}))
                               .Result();
    const HostTensor now =
        ByScales(Count({1, 1, 4, 4}), {1, 1, scale, scale})
            .Set("coordinate_transformation_mode", std::string("asymmetric"))
            .Set("nearest_mode", std::string("floor"))
            .Result();
    EXPECT_EQ(Values<float>(old), Values<float>(now));
    for (int64_t i = 0; i < now.dims()[3]; ++i) {
      EXPECT_EQ(now.values<float>()[i],
                1 + static_cast<int>(static_cast<float>(i) / scale));
    }
  }
}

TEST(ResizeTest, LinearBlendsAlongEachAxis) {
  ExpectNear(ByScales(Count({2, 4}), {2, 0.75F})
                 .Set("mode", std::string("linear"))
                 .Result(),
             {1.1666666F, 2.5F, 3.8333333F, 2.1666667F, 3.5F, 4.8333333F,
              4.1666665F, 5.5F, 6.8333333F, 5.1666665F, 6.5F, 7.8333333F});
  ExpectNear(BySizes(Count({2, 2, 2}), {3, 3, 3})
                 .Set("mode", std::string("linear"))
                 .Result(),
             {1, 1.5F, 2, 2, 2.5F, 3, 3, 3.5F, 4, 3, 3.5F, 4, 4, 4.5F, 5,
              5, 5.5F, 6, 5, 5.5F, 6, 6, 6.5F, 7, 7, 7.5F, 8});
}

TEST(ResizeTest, CornersMayBeAligned) {
  ExpectNear(
      BySizes(Count({2, 4}), {3, 6})
          .Set("mode", std::string("linear"))
          .Set("coordinate_transformation_mode", std::string("align_corners"))
          .Result(),
      {1, 1.6F, 2.2F, 2.8F, 3.4F, 4, 3, 3.6F, 4.2F, 4.8F, 5.4F, 6, 5, 5.6F,
       6.2F, 6.8F, 7.4F, 8});
}

TEST(ResizeTest, CubicSeesFourNeighbours) {
  ExpectNear(
      BySizes(Count({2, 4}), {3, 3}).Set("mode", std::string("cubic")).Result(),
      {0.7789367F, 2.1527786F, 3.5266225F, 3.1261597F, 4.5F, 5.8738441F,
       5.4733849F, 6.8472252F, 8.2210712F});
  ExpectNear(BySizes(Count({2, 4}), {2, 7})
                 .Set("mode", std::string("cubic"))
                 .Set("exclude_outside", int64_t{1})
                 .Set("cubic_coeff_a", -0.5F)
                 .Result(),
             {0.9206729F, 1.263873F, 1.9240139F, 2.5F, 3.0759861F, 3.7361271F,
              4.0793271F, 4.9206729F, 5.2638731F, 5.9240141F, 6.5F, 7.0759859F,
              7.7361269F, 8.0793276F});
}

TEST(ResizeTest, AntialiasingAveragesWhatIsSkipped) {
  ExpectNear(ByScales(Count({4, 4}), {0.6F, 0.6F})
                 .Set("mode", std::string("linear"))
                 .Set("antialias", int64_t{1})
                 .Result(),
             {2.875F, 4.5F, 9.375F, 11});
  ExpectNear(ByScales(Count({4, 4}), {0.6F, 0.6F})
                 .Set("mode", std::string("cubic"))
                 .Set("antialias", int64_t{1})
                 .Result(),
             {2.5180695F, 4.2858858F, 9.5893354F, 11.3571519F});
}

TEST(ResizeTest, ACropShowsItsValueOutside) {
  OpTester crop("Resize", 19);
  crop.In(Count({2, 4})).In(Floats({0, -0.2F, 0.5F, 0.8F})).Absent();
  crop.In(I64({2}, {3, 3}));
  crop.Set("mode", std::string("linear"))
      .Set("coordinate_transformation_mode", std::string("tf_crop_and_resize"))
      .Set("extrapolation_value", 10.0F);
  ExpectNear(crop.Result(), {10, 1.9F, 3.4F, 10, 2.9F, 4.4F, 10, 3.9F, 5.4F});
  crop.Set("mode", std::string("nearest"));
  EXPECT_THAT(Values<float>(crop.Result()),
              ElementsAre(10, 2, 3, 10, 2, 3, 10, 2, 3));
}

TEST(ResizeTest, IntegersAreRoundedAndClamped) {
  EXPECT_THAT(
      Values<uint8_t>(
          ByScales(TensorOf<uint8_t>(DType::kUint8, {4}, {0, 255, 0, 0}), {2})
              .Set("mode", std::string("cubic"))
              .Result()),
      ElementsAre(0, 67, 224, 224, 67, 0, 0, 0));
  EXPECT_THAT(Values<uint8_t>(ByScales(TensorOf<uint8_t>(DType::kUint8, {2, 2},
                                                         {10, 20, 250, 3}),
                                       {2, 2})
                                  .Set("mode", std::string("linear"))
                                  .Result()),
              ElementsAre(10, 12, 18, 20, 70, 56, 29, 16, 190, 144, 53, 7, 250,
                          188, 65, 3));
}

TEST(ResizeTest, OtherFloatsAreComputedAlike) {
  const HostTensor half =
      ByScales(TensorOf<Half>(DType::kFp16, {2}, {Half(1), Half(2)}), {2})
          .Set("mode", std::string("linear"))
          .Result();
  EXPECT_EQ(static_cast<float>(half.values<Half>()[1]), 1.25F);
  EXPECT_THAT(
      Values<double>(ByScales(TensorOf<double>(DType::kFp64, {2}, {1, 2}), {2})
                         .Set("mode", std::string("linear"))
                         .Result()),
      ElementsAre(1, 1.25, 1.75, 2));
}

TEST(ResizeTest, WhatKeepsItsSizeIsCopied) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    EXPECT_THAT(Values<float>(BySizes(Count({2, 2}), {2, 2})
                                  .Set("mode", std::string(mode))
                                  .Result()),
                ElementsAre(1, 2, 3, 4));
  }
}

TEST(ResizeTest, RunsAsAStepOfAProgram) {
  OpTester tester = BySizes(Count({1, 2, 3, 3}), {1, 2, 5, 7});
  tester.Set("mode", std::string("linear"));
  tester.ExpectPlain();
}

}  // namespace
}  // namespace reprise::cpu
