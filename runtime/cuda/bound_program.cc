#include "runtime/cuda/bound_program.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

// Arguments lie at multiples of this, which suits every type.
constexpr size_t kArgumentAlignment = 16;

bool IsEmpty(const Dim3& dims) {
  return dims.x == 0 || dims.y == 0 || dims.z == 0;
}

}  // namespace

// Binds the actions of one step after the other.
class BoundProgram::Binder {
 public:
  Binder(const CurrentContext& current, const Program& program,
         const Addresses& addresses, Modules& modules,
         const CublasLtHandle* products)
      : current_(current),
        plan_(program.plan),
        addresses_(addresses),
        modules_(modules),
        products_(products) {}

  absl::Status Bind(const plan::Step& step, const Action& action,
                    std::vector<Bound>& bound) {
    step_ = &step;
    if (const auto* launch = std::get_if<KernelLaunch>(&action)) {
      return BindLaunch(*launch, bound);
    }
    if (const auto* copy = std::get_if<Copy>(&action)) {
      return BindCopy(*copy, bound);
    }
    return BindProduct(std::get<MatrixProduct>(action), bound);
  }

 private:
  absl::StatusOr<CUdeviceptr> AddressOf(const Place& place) const {
    if (place.buffer == plan::kNoBuffer) return CUdeviceptr{0};
    const auto offset = static_cast<CUdeviceptr>(place.offset);
    if (place.buffer == kScratch) {
      if (step_->scratch_offset < 0) {
        return absl::InternalError("scratch without a place");
      }
      return addresses_.arena +
             static_cast<CUdeviceptr>(step_->scratch_offset) + offset;
    }
    if (place.buffer < 0 ||
        static_cast<size_t>(place.buffer) >= plan_.buffers.size()) {
      return absl::InternalError(absl::StrCat("no buffer ", place.buffer));
    }
    const plan::Buffer& buffer =
        plan_.buffers[static_cast<size_t>(Root(plan_, place.buffer))];
    REPRISE_ASSIGN_OR_RETURN(const CUdeviceptr base, BaseOf(buffer));
    return base + offset;
  }

  absl::StatusOr<CUdeviceptr> BaseOf(const plan::Buffer& buffer) const {
    switch (buffer.place) {
      case plan::Place::kArena:
        return addresses_.arena + static_cast<CUdeviceptr>(buffer.offset);
      case plan::Place::kInput:
        return At(addresses_.inputs, buffer);
      case plan::Place::kOutput:
        return At(addresses_.outputs, buffer);
      case plan::Place::kConstant:
        return At(addresses_.constants, buffer);
    }
    return absl::InternalError("a buffer without a place");
  }

  static absl::StatusOr<CUdeviceptr> At(std::span<const CUdeviceptr> addresses,
                                        const plan::Buffer& buffer) {
    const auto index = static_cast<size_t>(buffer.index);
    if (index >= addresses.size()) {
      return absl::InternalError(
          absl::StrCat("buffer '", buffer.name, "' has no address"));
    }
    return addresses[index];
  }

  absl::Status BindLaunch(const KernelLaunch& from, std::vector<Bound>& bound) {
    if (IsEmpty(from.grid)) return absl::OkStatus();
    Launch launch{.entry = from.entry,
                  .function = nullptr,
                  .grid = from.grid,
                  .block = from.block,
                  .shared_bytes = from.shared_bytes,
                  .values = {},
                  .offsets = {}};
    REPRISE_ASSIGN_OR_RETURN(
        launch.function,
        modules_.Find(current_, from.entry, from.shared_bytes));
    for (const Argument& argument : from.arguments) {
      if (const auto* place = std::get_if<Place>(&argument)) {
        REPRISE_ASSIGN_OR_RETURN(const CUdeviceptr address, AddressOf(*place));
        Put(&address, sizeof(address), launch);
      } else {
        const auto& bytes = std::get<std::vector<std::byte>>(argument);
        Put(bytes.data(), bytes.size(), launch);
      }
    }
    bound.emplace_back(std::move(launch));
    return absl::OkStatus();
  }

  static void Put(const void* from, size_t size, Launch& launch) {
    const size_t at = (launch.values.size() + kArgumentAlignment - 1) /
                      kArgumentAlignment * kArgumentAlignment;
    launch.values.resize(at + size);
    std::memcpy(launch.values.data() + at, from, size);
    launch.offsets.push_back(at);
  }

  absl::Status BindCopy(const Copy& copy, std::vector<Bound>& bound) const {
    if (copy.bytes == 0) return absl::OkStatus();
    Move move{.from = 0, .to = 0, .bytes = static_cast<size_t>(copy.bytes)};
    REPRISE_ASSIGN_OR_RETURN(move.from, AddressOf(copy.from));
    REPRISE_ASSIGN_OR_RETURN(move.to, AddressOf(copy.to));
    bound.emplace_back(move);
    return absl::OkStatus();
  }

  // The library may use all of the step's scratch.
  absl::Status BindProduct(const MatrixProduct& product,
                           std::vector<Bound>& bound) const {
    if (products_ == nullptr) {
      return absl::UnimplementedError("a matrix product needs cuBLASLt");
    }
    MatMulAddresses at;
    if (product.workspace.buffer == kScratch) {
      at.workspace_bytes = static_cast<size_t>(step_->scratch_bytes);
    }
    for (const auto& [place, address] :
         {std::pair(&product.a, &at.a), std::pair(&product.b, &at.b),
          std::pair(&product.c, &at.c), std::pair(&product.d, &at.d),
          std::pair(&product.bias, &at.bias),
          std::pair(&product.workspace, &at.workspace)}) {
      REPRISE_ASSIGN_OR_RETURN(*address, AddressOf(*place));
    }
    REPRISE_ASSIGN_OR_RETURN(
        MatMulPlan plan,
        MatMulPlan::Create(*products_, product,
                           {.workspace_bytes = at.workspace_bytes}));
    bound.emplace_back(Product{.plan = std::move(plan), .addresses = at});
    return absl::OkStatus();
  }

  const CurrentContext& current_;
  const plan::Plan& plan_;
  const Addresses& addresses_;
  Modules& modules_;
  const CublasLtHandle* const products_;
  const plan::Step* step_ = nullptr;
};

absl::StatusOr<BoundProgram> BoundProgram::Create(
    const CurrentContext& current, const Program& program,
    const Addresses& addresses, Modules& modules,
    const CublasLtHandle* products) {
  BoundProgram bound;
  Binder binder(current, program, addresses, modules, products);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const plan::Step& step = program.plan.steps[i];
    for (const Action& action : program.steps[i]) {
      const absl::Status status = binder.Bind(step, action, bound.actions_);
      if (!status.ok())
        return Annotate(status, absl::StrCat("step ", step.name));
    }
  }
  return bound;
}

absl::Status BoundProgram::Issue(const Driver& driver, CUstream stream) {
  for (size_t i = 0; i < actions_.size(); ++i) {
    REPRISE_RETURN_IF_ERROR(IssueOnly(i, driver, stream));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::IssueOnly(size_t action, const Driver& driver,
                                     CUstream stream) {
  return std::visit(
      [&](auto& bound) { return IssueOne(driver, stream, bound); },
      actions_[action]);
}

std::vector<size_t> BoundProgram::NewProducts(
    std::set<std::string>& seen) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < actions_.size(); ++i) {
    const auto* const product = std::get_if<Product>(&actions_[i]);
    if (product == nullptr) continue;
    if (seen.insert(product->plan.algorithm()).second) found.push_back(i);
  }
  return found;
}

absl::Status BoundProgram::IssueOne(const Driver& driver, CUstream stream,
                                    Launch& launch) {
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid.x;
  config.gridDimY = launch.grid.y;
  config.gridDimZ = launch.grid.z;
  config.blockDimX = launch.block.x;
  config.blockDimY = launch.block.y;
  config.blockDimZ = launch.block.z;
  config.sharedMemBytes = launch.shared_bytes;
  config.hStream = stream;
  std::vector<void*> arguments;
  arguments.reserve(launch.offsets.size());
  for (const size_t offset : launch.offsets) {
    arguments.push_back(launch.values.data() + offset);
  }
  return ToStatus(driver,
                  driver.LaunchKernelEx(&config, launch.function,
                                        arguments.data(), nullptr),
                  launch.entry);
}

absl::Status BoundProgram::IssueOne(const Driver& driver, CUstream stream,
                                    Move& move) {
  return ToStatus(
      driver, driver.MemcpyDtoDAsync(move.to, move.from, move.bytes, stream),
      "a copy on the device");
}

absl::Status BoundProgram::IssueOne(const Driver& /*driver*/, CUstream stream,
                                    Product& product) {
  return product.plan.Run(product.addresses, stream);
}

}  // namespace reprise::cuda
