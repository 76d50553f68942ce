#include "runtime/cpu/evaluate.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/graph/graph.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

class EvaluateTest : public ::testing::Test {
 protected:
  EvaluateTest() {
    tensor_.values<float>()[0] = -2;
    node_.op = "Neg";
    node_.version = 13;
    node_.inputs = {0};
    node_.outputs = {1};
    view_.node = &node_;
    view_.types = {&type_};
    view_.constants = {&tensor_};
  }

  HostTensor tensor_ = HostTensor::Create(DType::kFp32, {1}).value();
  ops::TensorType type_{DType::kFp32, {1}};
  graph::Node node_;
  ops::NodeView view_;
};

TEST_F(EvaluateTest, RunsThePlainLoop) {
  auto outputs = EvaluateNode(view_, {&type_, 1});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ((*outputs)[0].values<float>()[0], 2);
}

TEST_F(EvaluateTest, LeavesAloneWhatIsNotKnown) {
  view_.constants = {nullptr};
  EXPECT_THAT(EvaluateNode(view_, {&type_, 1}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(EvaluateTest, LeavesStringsAlone) {
  type_.dtype = DType::kString;
  node_.op = "Identity";
  EXPECT_THAT(EvaluateNode(view_, {&type_, 1}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace reprise::cpu
