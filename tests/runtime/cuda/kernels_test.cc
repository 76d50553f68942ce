#include "runtime/cuda/kernels.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

using ::testing::Contains;
using ::testing::Not;

// How a fatbin begins: a mark, a version, the header's bytes, those that
// follow.
struct FatbinHeader {
  uint32_t mark;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;
};

FatbinHeader HeaderOf(const KernelImage& image) {
  FatbinHeader header = {};
  std::memcpy(&header, image.fatbin.data(), sizeof(header));
  return header;
}

TEST(KernelsTest, EveryImageIsAWholeFatbin) {
  for (const KernelImage& image : KernelImages()) {
    SCOPED_TRACE(std::string(image.name));
    ASSERT_GT(image.fatbin.size(), sizeof(FatbinHeader));
    const FatbinHeader header = HeaderOf(image);
    EXPECT_EQ(header.mark, 0xBA55ED50u);
    EXPECT_EQ(header.header_bytes + header.bytes, image.fatbin.size());
  }
}

// The driver reads 64-bit words of it in place.
TEST(KernelsTest, EveryImageIsAligned) {
  for (const KernelImage& image : KernelImages()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(image.fatbin.data()) % 64, 0u)
        << image.name;
  }
}

TEST(KernelsTest, FilesAreNamedOnceAndWithoutTheirEnding) {
  std::vector<std::string> names;
  for (const KernelImage& image : KernelImages()) {
    const std::string name(image.name);
    EXPECT_THAT(names, Not(Contains(name)));
    names.push_back(name);
  }
  EXPECT_THAT(names, Contains("softmax"));
}

}  // namespace
}  // namespace reprise::cuda
