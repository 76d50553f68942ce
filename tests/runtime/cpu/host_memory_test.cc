#include "runtime/cpu/host_memory.h"

#include <string>

#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

constexpr char kMeminfo[] =
    "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\n";

TEST(HostMemoryTest, ReadsTheMachine) {
  const DeviceMemory memory = ParseHostMemory(kMeminfo, {});
  EXPECT_EQ(memory.total, 1024000);
  EXPECT_EQ(memory.free, 614400);
}

TEST(HostMemoryTest, AControlGroupBoundsIt) {
  const DeviceMemory memory =
      ParseHostMemory(kMeminfo, {"500000\n", "450000\n", ""});
  EXPECT_EQ(memory.total, 500000);
  EXPECT_EQ(memory.free, 50000);
  EXPECT_EQ(ParseHostMemory(kMeminfo, {"max\n", "1\n", ""}).total, 1024000);
  EXPECT_EQ(ParseHostMemory(kMeminfo, {"100\n", "200\n", ""}).free, 0);
}

// Right after a large model was read, its file is most of what a group uses.
TEST(HostMemoryTest, TheCacheOfAControlGroupIsNotInUse) {
  const std::string stat =
      "anon 50000\nfile 400000\ninactive_file 300000\nactive_file 100000\n";
  const DeviceMemory memory =
      ParseHostMemory(kMeminfo, {"500000\n", "450000\n", stat});
  EXPECT_EQ(memory.total, 500000);
  EXPECT_EQ(memory.free, 350000);
  // The files are read one after the other: their figures need not agree.
  EXPECT_EQ(ParseHostMemory(kMeminfo, {"500000\n", "200000\n", stat}).free,
            500000);
}

TEST(HostMemoryTest, AControlGroupOfVersionOneHasItsOwnNames) {
  const std::string stat = "inactive_file 1000\ntotal_inactive_file 30000\n";
  EXPECT_EQ(ParseHostMemory(kMeminfo, {"500000\n", "450000\n", stat}).free,
            80000);
  // No limit is a number there.
  const DeviceMemory free =
      ParseHostMemory(kMeminfo, {"9223372036854771712\n", "450000\n", stat});
  EXPECT_EQ(free.total, 1024000);
  EXPECT_EQ(free.free, 614400);
}

TEST(HostMemoryTest, ThisHostHasSome) {
  EXPECT_GT(HostMemory().total, 0);
  EXPECT_GT(HostMemory().free, 0);
}

}  // namespace
}  // namespace reprise::cpu
