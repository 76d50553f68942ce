#include "runtime/ops/op_table.h"

#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

TEST(OpTableTest, TheLatestRowThatTheVersionHasCounts) {
  EXPECT_EQ((*FindOp("", "Squeeze", 12))->max_inputs, 1);
  EXPECT_EQ((*FindOp("", "Squeeze", 13))->max_inputs, 2);
  EXPECT_EQ((*FindOp("", "Squeeze", 23))->max_inputs, 2);
  EXPECT_EQ((*FindOp("", "Pad", 18))->max_inputs, 4);
}

TEST(OpTableTest, AnUnknownOperatorIsNamedWithItsDomain) {
  EXPECT_THAT(FindOp("com.acme", "Frob", 1),
              StatusIs(kUnimplemented, HasSubstr("com.acme::Frob")));
  EXPECT_THAT(FindOp("", "Loop", 13),
              StatusIs(kUnimplemented, HasSubstr("ai.onnx::Loop")));
  EXPECT_THAT(FindOp("com.acme", "Relu", 13),
              StatusIs(kUnimplemented, HasSubstr("com.acme::Relu")));
}

TEST(OpTableTest, AnOperatorOfALaterOpsetIsNotThereYet) {
  EXPECT_THAT(FindOp("", "Gelu", 19),
              StatusIs(kUnimplemented, HasSubstr("only from 20 on")));
  EXPECT_TRUE(FindOp("", "Gelu", 20).ok());
}

TEST(OpTableTest, TheLayoutAndReductionFamiliesAreThere) {
  for (const char* name : {"Reshape",
                           "Flatten",
                           "Squeeze",
                           "Unsqueeze",
                           "Transpose",
                           "Expand",
                           "Tile",
                           "Concat",
                           "Split",
                           "Slice",
                           "Gather",
                           "GatherElements",
                           "GatherND",
                           "ScatterND",
                           "ScatterElements",
                           "Pad",
                           "Resize",
                           "Upsample",
                           "DepthToSpace",
                           "SpaceToDepth",
                           "ReduceMean",
                           "ReduceSum",
                           "ReduceMax",
                           "ReduceMin",
                           "ReduceProd",
                           "ReduceL2",
                           "ReduceSumSquare",
                           "ReduceLogSumExp",
                           "ArgMax",
                           "ArgMin",
                           "TopK",
                           "CumSum"}) {
    EXPECT_TRUE(FindOp("", name, 17).ok()) << name;
  }
}

TEST(OpTableTest, EveryRowIsWhole) {
  const std::vector<absl::string_view> names = OpNames();
  EXPECT_GT(names.size(), 100u);
  EXPECT_THAT(names, Contains("Conv"));
  for (const absl::string_view name : names) {
    const absl::StatusOr<const Op*> op = FindOp("", name, 23);
    ASSERT_TRUE(op.ok()) << name;
    EXPECT_NE((*op)->infer, nullptr) << name;
    EXPECT_NE((*op)->batch, nullptr) << name;
    EXPECT_LE((*op)->min_inputs, (*op)->max_inputs) << name;
  }
}

}  // namespace
}  // namespace reprise::ops
