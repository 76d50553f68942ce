#include "runtime/ops/activation.h"

#include <string>

#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

TEST(ActivationTest, ANodeWithoutOneHasNone) {
  const absl::StatusOr<Activation> read = ReadActivation(graph::Node{});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->kind, ActivationKind::kNone);
}

TEST(ActivationTest, EveryKindSurvivesTheNode) {
  for (const ActivationKind kind :
       {ActivationKind::kRelu, ActivationKind::kLeakyRelu,
        ActivationKind::kClip, ActivationKind::kSigmoid, ActivationKind::kTanh,
        ActivationKind::kHardSigmoid, ActivationKind::kHardSwish,
        ActivationKind::kSilu}) {
    graph::Node node;
    SetActivation({kind, 0.25f, 0.75f}, node);
    const absl::StatusOr<Activation> read = ReadActivation(node);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->alpha, 0.25f);
    EXPECT_EQ(read->beta, 0.75f);
    EXPECT_FALSE(ActivationName(kind).empty());
  }
}

TEST(ActivationTest, AnUnknownWordIsRefused) {
  graph::Node node;
  node.attributes.Set("activation", std::string("Sine"));
  EXPECT_THAT(ReadActivation(node),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Sine")));
}

}  // namespace
}  // namespace reprise::ops
