#include "runtime/cuda/lowering_context.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// x (input) -> h -> y (output), and a constant c; all FP32 [2, 8].
class LoweringContextTest : public ::testing::Test {
 protected:
  LoweringContextTest() {
    graph_.values.resize(4);
    graph_.values[0].name = "x";
    graph_.values[1].name = "h";
    graph_.values[2].name = "y";
    graph_.values[3].name = "c";
    graph_.inputs = {0};
    graph_.outputs = {2};
    bound_.graph = &graph_;
    bound_.types.assign(4, {DType::kFp32, {2, 8}});
    bound_.constants.resize(4);
    bound_.constants[3] = std::make_shared<const HostTensor>(Noise({2, 8}, 1));
  }

  LoweringContext Context(Precision precision) {
    return LoweringContext(bound_, weights_, {.precision = precision});
  }
  static std::string Text(LoweringContext& context) {
    auto program = context.Finish();
    if (!program.ok()) return program.status().ToString();
    return ProgramText(*program) + plan::PlanText(program->plan);
  }
  // Makes `to` of `from`.
  static void Use(LoweringContext& context, graph::ValueId from,
                  graph::ValueId to) {
    auto read = context.Read(from);
    ASSERT_THAT(read, IsOk());
    context.AddStep("Use", {}, {*read}, {context.Define(to)});
  }

  graph::Graph graph_;
  ops::BoundGraph bound_;
  CudaWeights weights_;
};

TEST_F(LoweringContextTest, InFp32TheSlotIsReadAndWrittenWithoutACast) {
  for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
    LoweringContext context = Context(precision);
    EXPECT_EQ(context.TypeOf(0), DType::kFp32);
    Use(context, 0, 1);
    Use(context, 1, 2);
    EXPECT_EQ(Text(context),
              "step 0 Use\n"
              "step 1 Use\n"
              "arena 0 bytes\n"
              "step 0 Use(x) -> h\n"
              "step 1 Use(h) -> y\n"
              "buffer x 64 bytes: slot input 0\n"
              "buffer h 64 bytes: arena+-1\n"
              "buffer y 64 bytes: slot output 0\n");
  }
}

TEST_F(LoweringContextTest, InFp16TheSlotIsCastOnceOnEachSide) {
  LoweringContext context = Context(Precision::kFp16);
  EXPECT_EQ(context.TypeOf(0), DType::kFp16);
  EXPECT_EQ(context.StoredAs(DType::kInt64), DType::kInt64);
  EXPECT_EQ(context.StoredAs(DType::kFp64), DType::kFp64);
  Use(context, 0, 1);
  Use(context, 0, 2);
  const std::string text = Text(context);
  EXPECT_THAT(
      text, HasSubstr("step 0 Cast\n"
                      "  reprise_cast_f32_f16<<<1, 256>>>(x, x#stored, {24:"));
  EXPECT_THAT(text,
              HasSubstr("step 1 Use\n"
                        "step 2 Use\n"
                        "step 3 Cast\n"
                        "  reprise_cast_f16_f32<<<1, 256>>>(y, y#out, {24:"));
  EXPECT_THAT(text, HasSubstr("buffer h 32 bytes"));
  EXPECT_THAT(text, HasSubstr("buffer y#out 64 bytes: slot output 0"));
}

TEST_F(LoweringContextTest, ConstantsAreKeptInTheTypeThatIsComputedIn) {
  LoweringContext full = Context(Precision::kFp32);
  Use(full, 3, 2);
  LoweringContext half = Context(Precision::kBf16);
  Use(half, 3, 2);
  ASSERT_EQ(weights_.size(), 2);
  EXPECT_EQ(weights_.entry(0).bytes, 64);
  EXPECT_EQ(weights_.entry(1).bytes, 32);
  EXPECT_THAT(Text(half), HasSubstr("reprise_cast_bf16_f32"));
}

TEST_F(LoweringContextTest, AViewSharesBytesAndMovesToTheSlot) {
  LoweringContext context = Context(Precision::kFp32);
  Use(context, 0, 1);
  ASSERT_THAT(context.DefineView(2, 1), IsOk());
  const std::string text = Text(context);
  EXPECT_THAT(text, HasSubstr("buffer h 64 bytes: slot output 0"));
  EXPECT_THAT(text, HasSubstr("buffer y 64 bytes: view of h"));
}

TEST_F(LoweringContextTest, AViewInFp16IsCastIntoTheSlot) {
  LoweringContext context = Context(Precision::kFp16);
  Use(context, 0, 1);
  ASSERT_THAT(context.DefineView(2, 1), IsOk());
  const std::string text = Text(context);
  EXPECT_THAT(text, HasSubstr("reprise_cast_f16_f32<<<1, 256>>>(y, y#out"));
  EXPECT_THAT(text, HasSubstr("buffer h 32 bytes: arena"));
}

TEST_F(LoweringContextTest, AnOutputThatIsAnInputIsCopiedAsItIs) {
  graph_.outputs = {0};
  LoweringContext context = Context(Precision::kFp16);
  EXPECT_THAT(Text(context), HasSubstr("step 0 Copy\n"
                                       "  copy 64 bytes x -> x#out\n"));
}

TEST_F(LoweringContextTest, AnOutputThatIsConstantIsCopiedInItsOwnType) {
  graph_.outputs = {3};
  LoweringContext context = Context(Precision::kFp16);
  EXPECT_THAT(Text(context), HasSubstr("  copy 64 bytes c -> c#out\n"));
}

TEST_F(LoweringContextTest, AValueGivenOutTwiceIsMadeOnce) {
  graph_.outputs = {2, 2};
  LoweringContext context = Context(Precision::kFp32);
  Use(context, 0, 2);
  EXPECT_THAT(Text(context), HasSubstr("step 0 Use\n"
                                       "step 1 Copy\n"
                                       "  copy 64 bytes y -> y#out\n"));
}

TEST_F(LoweringContextTest, ReadingWhatNobodyMadeIsAnError) {
  LoweringContext context = Context(Precision::kFp32);
  EXPECT_THAT(context.Read(1),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("'h'")));
}

}  // namespace
}  // namespace reprise::cuda
