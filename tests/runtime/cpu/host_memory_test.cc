#include "runtime/cpu/host_memory.h"

#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

constexpr char kMeminfo[] =
    "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\n";

TEST(HostMemoryTest, ReadsTheMachine) {
  const DeviceMemory memory = ParseHostMemory(kMeminfo, "", "");
  EXPECT_EQ(memory.total, 1024000);
  EXPECT_EQ(memory.free, 614400);
}

TEST(HostMemoryTest, AControlGroupBoundsIt) {
  const DeviceMemory memory = ParseHostMemory(kMeminfo, "500000\n", "450000\n");
  EXPECT_EQ(memory.total, 500000);
  EXPECT_EQ(memory.free, 50000);
  EXPECT_EQ(ParseHostMemory(kMeminfo, "max\n", "1\n").total, 1024000);
  EXPECT_EQ(ParseHostMemory(kMeminfo, "100\n", "200\n").free, 0);
}

TEST(HostMemoryTest, ThisHostHasSome) {
  EXPECT_GT(HostMemory().total, 0);
  EXPECT_GT(HostMemory().free, 0);
}

}  // namespace
}  // namespace reprise::cpu
