#include "runtime/cpu/program.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// out = constant + in, by way of the arena and a view of it.
Program AddConstant(const std::byte* constant) {
  Program program;
  program.constants = {constant};
  program.plan.buffers = {
      {.name = "in", .bytes = 1, .place = plan::Place::kInput},
      {.name = "c", .bytes = 1, .place = plan::Place::kConstant},
      {.name = "h", .bytes = 1, .offset = 64},
      {.name = "view", .bytes = 1, .alias = 2},
      {.name = "out", .bytes = 1, .place = plan::Place::kOutput}};
  program.plan.steps = {
      {.name = "Add", .reads = {0, 1, plan::kNoBuffer}, .writes = {2}},
      {.name = "Copy", .reads = {3}, .writes = {4}}};
  program.plan.arena_bytes = 128;
  program.kernels.push_back({[](const KernelArgs& args) {
    EXPECT_EQ(args.in<uint8_t>(2), nullptr);
    *args.out<uint8_t>(0) =
        static_cast<uint8_t>(*args.in<uint8_t>(0) + *args.in<uint8_t>(1));
  }});
  program.kernels.push_back({[](const KernelArgs& args) {
    *args.out<uint8_t>(0) = *args.in<uint8_t>(0);
  }});
  return program;
}

TEST(ProgramTest, ReadsAndWritesTheSlotItIsGiven) {
  const std::byte constant{5};
  AlignedBuffer arena(128);
  Runner runner(AddConstant(&constant), arena.data());
  for (const uint8_t x : {uint8_t{1}, uint8_t{7}}) {
    std::byte in{x};
    std::byte out{0};
    std::byte* const inputs[] = {&in};
    std::byte* const outputs[] = {&out};
    ASSERT_THAT(runner.Run({inputs, outputs}), IsOk());
    EXPECT_EQ(static_cast<int>(out), x + 5);
  }
}

TEST(ProgramTest, MovesToAnotherArena) {
  const std::byte constant{5};
  AlignedBuffer trial(128);
  Runner runner(AddConstant(&constant), trial.data());
  AlignedBuffer arena(128);
  runner.MoveTo(arena.data());
  std::byte in{1};
  std::byte out{0};
  std::byte* const inputs[] = {&in};
  std::byte* const outputs[] = {&out};
  ASSERT_THAT(runner.Run({inputs, outputs}), IsOk());
  EXPECT_EQ(static_cast<int>(out), 6);
  EXPECT_EQ(static_cast<int>(arena.data()[64]), 6);
}

TEST(ProgramTest, StopsAfterAStepAndNamesIt) {
  const std::byte constant{5};
  AlignedBuffer arena(128);
  Runner runner(AddConstant(&constant), arena.data());
  std::byte in{1};
  std::byte out{0};
  std::byte* const inputs[] = {&in};
  std::byte* const outputs[] = {&out};
  EXPECT_THAT(runner.RunUntil({inputs, outputs}, [] { return true; }),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("step 0 Add that makes 'h'")));
  EXPECT_EQ(static_cast<int>(out), 0);
  ASSERT_THAT(runner.RunUntil({inputs, outputs}, [] { return false; }), IsOk());
  EXPECT_EQ(static_cast<int>(out), 6);
}

TEST(ProgramTest, NamesTheStepThatFailed) {
  const std::byte constant{5};
  Program program = AddConstant(&constant);
  program.kernels[1] = {[](const KernelArgs& args) { *args.failed = true; }};
  AlignedBuffer arena(128);
  Runner runner(std::move(program), arena.data());
  std::byte in{1};
  std::byte out{0};
  std::byte* const inputs[] = {&in};
  std::byte* const outputs[] = {&out};
  EXPECT_THAT(runner.Run({inputs, outputs}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("1 Copy")));
}

}  // namespace
}  // namespace reprise::cpu
