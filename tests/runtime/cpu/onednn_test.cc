#include "runtime/cpu/onednn.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(OneDnnTest, ExceptionsBecomeStatus) {
  EXPECT_THAT(Guarded("step", [] {}), IsOk());
  const dnnl::engine engine = OneDnn::Create().value()->engine;
  EXPECT_THAT(Guarded("conv1",
                      [&] {
                        dnnl::reorder::primitive_desc(
                            engine, PlainLayout({2, 2}), engine,
                            PlainLayout({3, 3}));
                      }),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("conv1")));
}

TEST(OneDnnTest, ReordersByAKernelAndNow) {
  auto dnn = OneDnn::Create();
  ASSERT_THAT(dnn, IsOk());
  const Layout rows = PlainLayout({2, 2});
  const Layout columns({2, 2}, dnnl::memory::data_type::f32,
                       dnnl::memory::dims{1, 2});
  EXPECT_FALSE(SameLayout(rows, columns));
  const float from[] = {1, 2, 3, 4};
  float to[4] = {};
  ReorderNow(**dnn, rows, from, columns, to);
  EXPECT_EQ(to[1], 3);
  const Kernel back = ReorderKernel(*dnn, columns, rows);
  float again[4] = {};
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(to)};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(again)};
  bool failed = false;
  back.run({inputs, outputs, nullptr, &failed});
  EXPECT_FALSE(failed);
  EXPECT_EQ(again[1], 2);
}

// What `primitive` makes of the values of `inputs`, each of two floats.
std::vector<float> RunOn(const std::shared_ptr<OneDnn>& dnn,
                         const Primitive& primitive,
                         const std::vector<PrimitiveArg>& args,
                         const std::vector<std::vector<float>>& inputs) {
  const Kernel kernel = PrimitiveKernel(dnn, primitive, args);
  std::vector<const std::byte*> reads;
  reads.reserve(inputs.size());
  for (const std::vector<float>& input : inputs) {
    reads.push_back(reinterpret_cast<const std::byte*>(input.data()));
  }
  std::vector<float> y(2);
  std::byte* writes[] = {reinterpret_cast<std::byte*>(y.data())};
  AlignedBuffer scratch(static_cast<size_t>(kernel.scratch_bytes));
  bool failed = false;
  kernel.run({reads, writes, scratch.data(), &failed});
  EXPECT_FALSE(failed);
  return y;
}

// Functions whose parameters the library's versions have different views of.
TEST(OneDnnTest, FunctionsWithFixedParametersAreOnnxs) {
  const std::shared_ptr<OneDnn> dnn = OneDnn::Create().value();
  const Layout x = PlainLayout({2});
  const auto run = [&](dnnl::algorithm kind, float at) {
    return RunOn(dnn, MakeEltwisePrimitive(dnn->engine, {.kind = kind}, x),
                 {{DNNL_ARG_SRC, x, false, 0}, {DNNL_ARG_DST, x, true, 0}},
                 {{at, -at}});
  };
  EXPECT_THAT(
      run(dnnl::algorithm::eltwise_hardswish, 1),
      ElementsAre(FloatNear(4.0F / 6, 1e-6F), FloatNear(-2.0F / 6, 1e-6F)));
  EXPECT_THAT(
      run(dnnl::algorithm::eltwise_soft_relu, 1),
      ElementsAre(FloatNear(1.3132617F, 1e-5F), FloatNear(0.3132617F, 1e-5F)));
}

TEST(OneDnnTest, AMatrixProductHasABiasOrNone) {
  const std::shared_ptr<OneDnn> dnn = OneDnn::Create().value();
  const Layout row = PlainLayout({1, 2});
  const Layout square = PlainLayout({2, 2});
  dnnl::primitive_attr attr;
  ASSERT_TRUE(SetActivationAttr({}, attr));
  std::vector<PrimitiveArg> args = {{DNNL_ARG_SRC, row, false, 0},
                                    {DNNL_ARG_WEIGHTS, square, false, 1},
                                    {DNNL_ARG_DST, row, true, 0}};
  EXPECT_THAT(
      RunOn(dnn, MakeMatMulPrimitive(dnn->engine, {row, square, {}, row}, attr),
            args, {{1, 2}, {1, 2, 3, 4}}),
      ElementsAre(7, 10));
  args.push_back({DNNL_ARG_BIAS, row, false, 2});
  const Primitive biased =
      MakeMatMulPrimitive(dnn->engine, {row, square, row, row}, attr);
  EXPECT_TRUE(SameLayout(biased.bias, row));
  EXPECT_THAT(RunOn(dnn, biased, args, {{1, 2}, {1, 2, 3, 4}, {10, 20}}),
              ElementsAre(17, 30));
}

TEST(OneDnnTest, AnOddHardSwishIsNotOneDnns) {
  dnnl::primitive_attr attr;
  EXPECT_FALSE(SetActivationAttr(
      {.kind = ops::ActivationKind::kHardSwish, .alpha = 0.2F, .beta = 0.5F},
      attr));
}

}  // namespace
}  // namespace reprise::cpu
