#include "runtime/cuda/bound_program.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/context_fixture.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeLaunch;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::byte kImage[4] = {};

struct Params {
  int32_t a = 0;
  float b = 0;
};

// Buffers x (an input), w (a constant), h (in the arena), v (a view of h) and y
// (an output), and one step with scratch.
class BoundProgramTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    cuda_.AddKernel("work", {8, 8, 8, 8, sizeof(Params)});
    modules_ = std::make_unique<Modules>();
    ASSERT_THAT(modules_->Add(*current_, "all", kImage), IsOk());
    auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    stream_ = *std::move(stream);
    auto memory = DeviceBuffer::Allocate(*current_, 4096);
    ASSERT_THAT(memory, IsOk());
    memory_ = *std::move(memory);
    program_.plan.buffers = {
        {.name = "x", .bytes = 64, .place = plan::Place::kInput},
        {.name = "w", .bytes = 64, .place = plan::Place::kConstant, .index = 1},
        {.name = "h", .bytes = 64, .offset = 128},
        {.name = "v", .bytes = 32, .alias = 2},
        {.name = "y", .bytes = 64, .place = plan::Place::kOutput}};
    program_.plan.steps = {
        {.name = "Step", .scratch_bytes = 64, .scratch_offset = 256}};
    program_.steps = {{}};
  }

  CUdeviceptr At(CUdeviceptr offset) const {
    return memory_.address() + offset;
  }
  absl::StatusOr<BoundProgram> Bind() {
    inputs_ = {At(1024)};
    outputs_ = {At(2048)};
    constants_ = {At(3072), At(3136)};
    return BoundProgram::Create(*current_, program_,
                                {.arena = At(0),
                                 .constants = constants_,
                                 .inputs = inputs_,
                                 .outputs = outputs_},
                                *modules_, nullptr);
  }
  void Add(Action action) { program_.steps[0].push_back(std::move(action)); }
  void AddLaunch(std::vector<Argument> arguments, Dim3 grid = {3, 2, 1}) {
    Add(KernelLaunch{.entry = "work",
                     .grid = grid,
                     .block = {64, 2, 1},
                     .shared_bytes = 48,
                     .arguments = std::move(arguments)});
  }
  absl::Status Issue(BoundProgram& bound) {
    return bound.Issue(cuda_.driver(), stream_.get());
  }

  std::unique_ptr<Modules> modules_;
  UniqueStream stream_;
  DeviceBuffer memory_;
  Program program_;
  std::vector<CUdeviceptr> inputs_;
  std::vector<CUdeviceptr> outputs_;
  std::vector<CUdeviceptr> constants_;
};

template <typename T>
T ValueOf(const FakeLaunch& launch, size_t argument) {
  T value{};
  std::memcpy(&value, launch.arguments.at(argument).data(), sizeof(T));
  return value;
}

TEST_F(BoundProgramTest, ArgumentsAreAddressesAndBytes) {
  AddLaunch({Place{0, 16}, Place{3}, Place{kScratch, 8}, Place{},
             ByValue(Params{7, 0.5F})});
  auto bound = Bind();
  ASSERT_THAT(bound, IsOk());
  EXPECT_EQ(bound->actions(), 1u);
  ASSERT_THAT(Issue(*bound), IsOk());
  ASSERT_EQ(cuda_.launches().size(), 1u);
  const FakeLaunch launch = cuda_.launches()[0];
  EXPECT_EQ(launch.grid, (std::array<unsigned, 3>{3, 2, 1}));
  EXPECT_EQ(launch.block, (std::array<unsigned, 3>{64, 2, 1}));
  EXPECT_EQ(launch.shared_bytes, 48u);
  EXPECT_EQ(launch.stream, stream_.get());
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 0), At(1024 + 16));
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 1), At(128));  // what it is a view of
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 2), At(256 + 8));
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 3), CUdeviceptr{0});
  EXPECT_EQ(ValueOf<Params>(launch, 4).a, 7);
  EXPECT_EQ(ValueOf<Params>(launch, 4).b, 0.5F);
}

TEST_F(BoundProgramTest, ConstantsAndOutputsAreFoundByTheirIndex) {
  AddLaunch({Place{1}, Place{4}, Place{2}, Place{}, ByValue(Params{})});
  auto bound = Bind();
  ASSERT_THAT(bound, IsOk());
  ASSERT_THAT(Issue(*bound), IsOk());
  const FakeLaunch launch = cuda_.launches().at(0);
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 0), At(3136));
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 1), At(2048));
  EXPECT_EQ(ValueOf<CUdeviceptr>(launch, 2), At(128));
}

TEST_F(BoundProgramTest, ActionsRunInOrderAndEmptyOnesNotAtAll) {
  std::memset(cuda_.Host(At(1024), 64), 5, 64);
  std::memset(cuda_.Host(At(2048), 64), 0, 64);
  Add(Copy{.from = {0}, .to = {2}, .bytes = 64});
  Add(Copy{.from = {0}, .to = {4}, .bytes = 0});
  AddLaunch({Place{0}, Place{2}, Place{4}, Place{}, ByValue(Params{})},
            {0, 1, 1});
  Add(Copy{.from = {2, 16}, .to = {4, 32}, .bytes = 16});
  auto bound = Bind();
  ASSERT_THAT(bound, IsOk());
  EXPECT_EQ(bound->actions(), 2u);
  ASSERT_THAT(Issue(*bound), IsOk());
  EXPECT_TRUE(cuda_.launches().empty());
  const auto* const y = static_cast<unsigned char*>(cuda_.Host(At(2048), 64));
  EXPECT_EQ(y[31], 0);
  EXPECT_EQ(y[32], 5);
  EXPECT_EQ(y[47], 5);
  EXPECT_EQ(y[48], 0);
}

TEST_F(BoundProgramTest, AnErrorNamesTheStepAndWhatItMisses) {
  Add(KernelLaunch{.entry = "gone", .grid = {}, .block = {}, .arguments = {}});
  EXPECT_THAT(Bind(),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("step Step"), HasSubstr("gone"))));
  program_.steps = {{Copy{.from = {9}, .to = {2}, .bytes = 4}}};
  EXPECT_THAT(Bind(), StatusIs(absl::StatusCode::kInternal,
                               HasSubstr("step Step: no buffer 9")));
  program_.plan.buffers[0].index = 3;
  program_.steps = {{Copy{.from = {0}, .to = {2}, .bytes = 4}}};
  EXPECT_THAT(Bind(), StatusIs(absl::StatusCode::kInternal,
                               HasSubstr("buffer 'x' has no address")));
  program_.plan.steps[0].scratch_offset = -1;
  program_.steps = {{Copy{.from = {kScratch}, .to = {2}, .bytes = 4}}};
  EXPECT_THAT(Bind(), StatusIs(absl::StatusCode::kInternal,
                               HasSubstr("scratch without a place")));
}

TEST_F(BoundProgramTest, AProductNeedsTheLibrary) {
  Add(MatrixProduct{});
  EXPECT_THAT(Bind(), StatusIs(absl::StatusCode::kUnimplemented,
                               HasSubstr("needs cuBLASLt")));
}

TEST_F(BoundProgramTest, ALaunchThatFailsNamesItsKernel) {
  AddLaunch({Place{0}, Place{2}, Place{4}, Place{}, ByValue(Params{})});
  auto bound = Bind();
  ASSERT_THAT(bound, IsOk());
  cuda_.FailAt("LaunchKernelEx", 1, CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(Issue(*bound),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("work")));
}

}  // namespace
}  // namespace reprise::cuda
