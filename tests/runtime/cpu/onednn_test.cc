#include "runtime/cpu/onednn.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
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

TEST(OneDnnTest, AnOddHardSwishIsNotOneDnns) {
  dnnl::primitive_attr attr;
  EXPECT_FALSE(SetActivationAttr(
      {.kind = ops::ActivationKind::kHardSwish, .alpha = 0.2F, .beta = 0.5F},
      attr));
}

}  // namespace
}  // namespace reprise::cpu
