#include "runtime/ops/window.h"

#include <string>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NodeCase;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Ints = std::vector<int64_t>;

TEST(WindowTest, DefaultsAreOnesAndNoPads) {
  const auto window =
      ReadWindow(NodeCase("Conv", 11).view(), {5, 7}, {3, 3}, false);
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_THAT(window->out, ElementsAre(3, 5));
  EXPECT_THAT(window->strides, ElementsAre(1, 1));
  EXPECT_THAT(window->pads_end, ElementsAre(0, 0));
}

TEST(WindowTest, SameUpperPutsTheOddPixelAtTheEndAndCountsDilations) {
  // A kernel of 3 dilated by 2 spans 5: 2 * (4 - 1) + 5 - 8 = 3 to pad.
  NodeCase node("Conv", 11);
  node.Set("auto_pad", std::string("SAME_UPPER"))
      .Set("strides", Ints{2})
      .Set("dilations", Ints{2});
  const auto window = ReadWindow(node.view(), {8}, {3}, false);
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_THAT(window->out, ElementsAre(4));
  EXPECT_THAT(window->pads_begin, ElementsAre(1));
  EXPECT_THAT(window->pads_end, ElementsAre(2));
  node.Set("auto_pad", std::string("SAME_LOWER"));
  EXPECT_THAT(ReadWindow(node.view(), {8}, {3}, false)->pads_begin,
              ElementsAre(2));
}

TEST(WindowTest, ValidIgnoresPads) {
  NodeCase node("Conv", 11);
  node.Set("auto_pad", std::string("VALID")).Set("pads", Ints{1, 1});
  EXPECT_THAT(ReadWindow(node.view(), {5}, {3}, false)->out, ElementsAre(3));
}

TEST(WindowTest, CeilModeRoundsUpButNeverStartsBeyondTheInput) {
  NodeCase node("MaxPool", 12);
  node.Set("strides", Ints{2});
  EXPECT_THAT(ReadWindow(node.view(), {6}, {3}, false)->out, ElementsAre(2));
  EXPECT_THAT(ReadWindow(node.view(), {6}, {3}, true)->out, ElementsAre(3));
  // A third window would begin at 4, in the padding after the 3 elements.
  NodeCase beyond("MaxPool", 12);
  beyond.Set("strides", Ints{2}).Set("pads", Ints{1, 1});
  EXPECT_THAT(ReadWindow(beyond.view(), {3}, {2}, true)->out, ElementsAre(2));
}

TEST(WindowTest, ListsOfTheWrongLengthAreRefusedBeforeTheyAreRead) {
  for (const char* name : {"strides", "dilations", "pads"}) {
    NodeCase node("Conv", 11);
    node.Set(name, Ints{1});
    EXPECT_THAT(ReadWindow(node.view(), {5, 5}, {3, 3}, false),
                StatusIs(kInvalid, HasSubstr(name)));
  }
  EXPECT_THAT(ReadWindow(NodeCase("Conv", 11).view(), {5, 5}, {3}, false),
              StatusIs(kInvalid, HasSubstr("kernel_shape")));
}

TEST(WindowTest, KernelsOfMoreElementsThanCanBeCountedAreRefused) {
  NodeCase node("MaxPool", 12);
  node.Set("auto_pad", std::string("SAME_UPPER"));
  const Ints kernel(3, 0x7fffffff);
  EXPECT_THAT(ReadWindow(node.view(), {5, 5, 5}, kernel, false),
              StatusIs(kInvalid, HasSubstr("too many elements")));
}

TEST(WindowTest, ValuesOutOfRangeAreRefused) {
  for (const Ints& strides : {Ints{0}, Ints{-1}, Ints{int64_t{1} << 40}}) {
    NodeCase node("Conv", 11);
    node.Set("strides", strides);
    EXPECT_THAT(ReadWindow(node.view(), {5}, {3}, false),
                StatusIs(kInvalid, HasSubstr("out of range")));
  }
  NodeCase negative("Conv", 11);
  negative.Set("pads", Ints{-1, 0});
  EXPECT_THAT(ReadWindow(negative.view(), {5}, {3}, false), StatusIs(kInvalid));
  EXPECT_THAT(ReadWindow(NodeCase("Conv", 11).view(), {5}, {6}, false),
              StatusIs(kInvalid, HasSubstr("larger than its padded input")));
  NodeCase odd("Conv", 11);
  odd.Set("auto_pad", std::string("FULL"));
  EXPECT_THAT(ReadWindow(odd.view(), {5}, {3}, false),
              StatusIs(kInvalid, HasSubstr("'FULL'")));
}

}  // namespace
}  // namespace reprise::ops
