#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/kernel.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/op_table.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/testing/status_matchers.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* Counted(size_t size) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  void* const p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}

}  // namespace

// Not inlined: a compiler that sees malloc in one and not in the other warns.
[[gnu::noinline]] void* operator new(size_t size) { return Counted(size); }
[[gnu::noinline]] void* operator new[](size_t size) { return Counted(size); }
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  return Counted(size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept {
  std::free(p);
}

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(PlainKernelsTest, EveryOperatorOfTheTableHasALoop) {
  for (const absl::string_view op : ops::OpNames()) {
    EXPECT_TRUE(HasPlainKernel(op)) << op;
  }
}

TEST(PlainKernelsTest, RefusesOthersByName) {
  EXPECT_FALSE(HasPlainKernel("Loop"));
  graph::Node node;
  node.op = "Loop";
  ops::NodeView view;
  view.node = &node;
  EXPECT_THAT(MakePlainKernel({view, {}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Loop")));
}

TEST(PlainKernelsTest, RefusesTensorsOfMoreAxesThanAWalkHas) {
  graph::Node node;
  node.op = "Relu";
  node.version = 13;
  ops::TensorType type{DType::kFp32, Dims(ops::kMaxRank, 2)};
  ops::NodeView view;
  view.node = &node;
  view.types = {&type};
  view.constants = {nullptr};
  EXPECT_THAT(MakePlainKernel({view, {&type, 1}}), IsOk());
  type.dims.push_back(2);
  EXPECT_THAT(MakePlainKernel({view, {&type, 1}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("9 axes")));
}

struct Input {
  DType dtype = DType::kFp32;
  Dims dims;
  std::vector<int64_t> ints;  // known, INT64
};
struct Case {
  std::string op;
  std::vector<Input> inputs;
  std::vector<std::pair<std::string, graph::AttributeValue>> attributes;
  int outputs = 1;
};

// What one run of the case's kernel asks for; zeros are its data.
int AllocationsOf(const Case& tested) {
  graph::Node node;
  node.op = tested.op;
  node.version = 18;
  for (const auto& [name, value] : tested.attributes) {
    node.attributes.Set(name, value);
  }
  std::deque<HostTensor> tensors;
  std::deque<ops::TensorType> types;
  ops::NodeView view;
  std::vector<const std::byte*> inputs;
  for (const Input& input : tested.inputs) {
    tensors.push_back(HostTensor::Create(input.dtype, input.dims).value());
    types.push_back({input.dtype, input.dims});
    std::copy(input.ints.begin(), input.ints.end(),
              tensors.back().values<int64_t>().begin());
    view.types.push_back(&types.back());
    view.constants.push_back(input.ints.empty() ? nullptr : &tensors.back());
    inputs.push_back(tensors.back().bytes().data());
  }
  for (int i = 0; i < tested.outputs; ++i) node.outputs.push_back(i);
  view.node = &node;
  const auto out = (*ops::FindOp("", node.op, node.version))->infer(view);
  EXPECT_THAT(out, IsOk()) << node.op;
  if (!out.ok()) return -1;
  const auto kernel = MakePlainKernel({view, *out});
  EXPECT_THAT(kernel, IsOk()) << node.op;
  if (!kernel.ok()) return -1;
  std::vector<std::byte*> outputs;
  for (const ops::TensorType& type : *out) {
    tensors.push_back(HostTensor::Create(type.dtype, type.dims).value());
    outputs.push_back(tensors.back().bytes().data());
  }
  AlignedBuffer scratch(static_cast<size_t>(kernel->scratch_bytes));
  allocations = 0;
  counting = true;
  kernel->run({inputs, outputs, scratch.data()});
  counting = false;
  return allocations;
}

TEST(PlainKernelsTest, RunningAllocatesNothing) {
  const Input f{DType::kFp32, {2, 300}, {}};
  const Input half{DType::kFp16, {2, 300}, {}};
  const Input row{DType::kFp32, {300}, {}};
  const std::string linear = "linear";
  const Case cases[] = {
      {"Add", {f, row}, {}},
      {"Add", {half, half}, {}},
      {"Less", {half, half}, {}},
      {"Pow", {f, row}, {}},
      {"Max", {f, row, f}, {}},
      {"Sigmoid", {half}, {}},
      {"Cast", {half}, {{"to", int64_t{7}}}},
      {"Where", {{DType::kBool, {300}, {}}, f, row}, {}},
      {"ReduceMean", {half, {DType::kInt64, {1}, {1}}}, {}},
      {"ReduceSum", {f, {DType::kInt64, {1}, {0}}}, {}},
      {"ReduceLogSumExp", {half, {DType::kInt64, {1}, {1}}}, {}},
      {"ArgMax", {half}, {{"axis", int64_t{1}}}},
      {"CumSum", {half, {DType::kInt64, {1}, {1}}}, {}},
      {"TopK", {f, {DType::kInt64, {1}, {7}}}, {}, 2},
      {"Resize",
       {f,
        {DType::kFp32, {0}, {}},
        {DType::kFp32, {0}, {}},
        {DType::kInt64, {2}, {3, 70}}},
       {}},
      {"Resize",
       {half,
        {DType::kFp32, {0}, {}},
        {DType::kFp32, {0}, {}},
        {DType::kInt64, {2}, {3, 70}}},
       {{"mode", linear}}},
      {"Pad", {f, {DType::kInt64, {4}, {1, 1, 1, 1}}}, {}},
      {"ScatterND",
       {f, {DType::kInt64, {1, 1}, {1}}, {DType::kFp32, {1, 300}, {}}},
       {}},
      {"BatchNormalization",
       {{DType::kFp32, {2, 300, 4}, {}}, row, row, row, row},
       {}},
      {"LayerNormalization", {half, {DType::kFp16, {300}, {}}}, {}, 3},
  };
  for (const Case& tested : cases) {
    EXPECT_EQ(AllocationsOf(tested), 0) << tested.op;
  }
}

}  // namespace
}  // namespace reprise::cpu
