#include "runtime/batch/assemble.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlainTask final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// One input "x" of two UINT8 a row, a slot of four rows.
class AssembleTest : public ::testing::Test {
 protected:
  AssembleTest() {
    signature_.inputs.push_back(
        {.name = "x", .dtype = DType::kUint8, .dims = {2}, .symbols = {""}});
  }

  void SetPieces(const std::vector<std::vector<std::byte>>& pieces) {
    pieces_ = pieces;
    task_.inputs.resize(1);
    for (const std::vector<std::byte>& piece : pieces_) {
      task_.inputs[0].pieces.push_back(piece);
    }
  }

  std::vector<std::byte> slot_ = std::vector<std::byte>(8);
  std::vector<InputBuffer> buffers_ = {{.bytes = slot_, .row_bytes = 2}};
  Signature signature_;
  PlainTask task_;
  std::vector<std::vector<std::byte>> pieces_;
};

TEST_F(AssembleTest, JoinsPiecesAtTheRequestsRows) {
  SetPieces({Bytes({1}), Bytes({}), Bytes({2, 3}), Bytes({4})});
  task_.rows = 2;
  EXPECT_THAT(Gather(task_, buffers_, 1, signature_), IsOk());
  EXPECT_EQ(slot_, Bytes({0, 0, 1, 2, 3, 4, 0, 0}));
}

TEST_F(AssembleTest, RefusesTooManyOrTooFewBytesByName) {
  SetPieces({Bytes({1, 2, 3})});
  EXPECT_THAT(Gather(task_, buffers_, 0, signature_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'x' has 3 bytes, 1 rows need 2")));
  task_.rows = 2;
  EXPECT_THAT(Gather(task_, buffers_, 0, signature_),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(slot_, std::vector<std::byte>(8));
}

TEST_F(AssembleTest, RefusesRowsOutsideOfTheSlot) {
  SetPieces({Bytes({1, 2, 3, 4})});
  task_.rows = 2;
  EXPECT_THAT(Gather(task_, buffers_, 3, signature_),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Gather(task_, buffers_, -1, signature_),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(AssembleTest, RefusesAnotherNumberOfInputs) {
  EXPECT_THAT(Gather(task_, buffers_, 0, signature_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("0 inputs, the model 1")));
}

TEST_F(AssembleTest, RepeatsARowOverOthersOnly) {
  slot_ = Bytes({1, 2, 3, 4, 5, 6, 7, 8});
  buffers_[0].bytes = slot_;
  RepeatRow(buffers_, 1, 1, 2);
  EXPECT_EQ(slot_, Bytes({1, 2, 3, 4, 3, 4, 7, 8}));
  RepeatRow(buffers_, 3, 0, 1);
  EXPECT_EQ(slot_, Bytes({7, 8, 3, 4, 3, 4, 7, 8}));
}

TEST_F(AssembleTest, RowBytesCountsEveryDim) {
  EXPECT_EQ(RowBytes({.name = "a",
                      .dtype = DType::kFp32,
                      .dims = {3, 5},
                      .symbols = {"", ""}}),
            60);
  EXPECT_EQ(
      RowBytes({.name = "a", .dtype = DType::kFp64, .dims = {}, .symbols = {}}),
      8);
}

}  // namespace
}  // namespace reprise
