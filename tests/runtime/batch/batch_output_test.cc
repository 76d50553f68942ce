#include "runtime/batch/batch_output.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace reprise {
namespace {

// Four rows of two bytes, numbered; counts its shares.
class CountedResult final : public BatchResult {
 public:
  CountedResult() {
    signature_.outputs.push_back(
        {.name = "y", .dtype = DType::kUint8, .dims = {2}, .symbols = {""}});
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(i));
  }
  ~CountedResult() override = default;

  const Signature& signature() const override { return signature_; }
  std::span<const std::byte> output(int /*k*/) const override { return bytes_; }
  bool may_hold_slot() const override { return true; }
  void Ref() override { ++shares; }
  void Unref() override { --shares; }

  int shares = 0;

 private:
  Signature signature_;
  std::vector<std::byte> bytes_;
};

TEST(BatchOutputTest, ShowsItsOwnRowsOnly) {
  CountedResult result;
  const BatchOutput output(&result, 1, 2);
  const std::span<const std::byte> bytes = output.bytes(0);
  ASSERT_EQ(bytes.size(), 4);
  EXPECT_EQ(bytes[0], std::byte{2});
  EXPECT_EQ(bytes[3], std::byte{5});
  EXPECT_EQ(output.rows(), 2);
}

TEST(BatchOutputTest, CountsSharesAndDropsEachOnce) {
  CountedResult result;
  {
    BatchOutput first(&result, 0, 1);
    EXPECT_EQ(result.shares, 1);
    const BatchOutput second = first.Share();
    EXPECT_EQ(result.shares, 2);
    BatchOutput moved = std::move(first);
    EXPECT_EQ(result.shares, 2);
    EXPECT_TRUE(moved);
    moved.Reset();
    EXPECT_EQ(result.shares, 1);
    EXPECT_FALSE(moved);
  }
  EXPECT_EQ(result.shares, 0);
}

}  // namespace
}  // namespace reprise
