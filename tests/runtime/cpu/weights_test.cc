#include "runtime/cpu/weights.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;

TEST(WeightsTest, CountsSharedConstantsOnceAndPacksOnce) {
  auto tensor = std::make_shared<HostTensor>(
      HostTensor::Create(DType::kFp32, {2, 3}).value());
  for (int i = 0; i < 6; ++i) {
    tensor->values<float>()[i] = static_cast<float>(i);
  }
  graph::Graph graph;
  graph.values.resize(2);
  graph.values[0].constant = tensor;
  graph.values[1].constant = tensor;
  Weights weights(graph);
  EXPECT_EQ(weights.bytes(), 24);

  auto dnn = OneDnn::Create();
  ASSERT_THAT(dnn, IsOk());
  const Layout rows = PlainLayout({2, 3});
  const Layout columns({2, 3}, dnnl::memory::data_type::f32,
                       dnnl::memory::dims{1, 2});
  auto packed = weights.Packed(**dnn, tensor, rows, columns, 1);
  ASSERT_THAT(packed, IsOk());
  const auto* values = reinterpret_cast<const float*>(*packed);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(weights.bytes(), 48);
  EXPECT_EQ(*weights.Packed(**dnn, tensor, rows, columns, 1), *packed);
  EXPECT_EQ(weights.bytes(), 48);

  auto scaled = weights.Packed(**dnn, tensor, rows, columns, 2);
  ASSERT_THAT(scaled, IsOk());
  EXPECT_EQ(reinterpret_cast<const float*>(*scaled)[1], 6);
  EXPECT_EQ(weights.bytes(), 72);
}

}  // namespace
}  // namespace reprise::cpu
