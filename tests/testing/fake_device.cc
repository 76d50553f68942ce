#include "tests/testing/fake_device.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::testing {
namespace {

uint64_t ThisThread() {
  uint64_t id = 0;
  const pthread_t self = pthread_self();
  std::memcpy(&id, &self, std::min(sizeof(id), sizeof(self)));
  return id;
}

size_t RowBytes(const TensorSpec& spec) {
  size_t bytes = ElementSize(spec.dtype);
  for (const int64_t dim : spec.dims) bytes *= static_cast<size_t>(dim);
  return bytes;
}

Signature Bind(Signature signature, const VariantKey& dims) {
  const auto bind = [&](TensorSpec& spec) {
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      if (spec.dims[i] != kFreeDim) continue;
      for (size_t k = 0; k < signature.free_symbols.size(); ++k) {
        if (signature.free_symbols[k] == spec.symbols[i]) {
          spec.dims[i] = dims[k];
        }
      }
    }
  };
  for (TensorSpec& spec : signature.inputs) bind(spec);
  for (TensorSpec& spec : signature.outputs) bind(spec);
  return signature;
}

}  // namespace

// Buffers grow to what the executable that acquires it needs.
class FakeDevice::PoolSlot final : public Slot {
 public:
  explicit PoolSlot(FakeDevice& fake) : fake_(fake) {}

  void Fit(const Signature& signature, size_t rows) {
    inputs_.resize(signature.inputs.size());
    outputs_.resize(signature.outputs.size());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      inputs_[k].resize(RowBytes(signature.inputs[k]) * rows);
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      outputs_[k].resize(RowBytes(signature.outputs[k]) * rows);
    }
  }

  std::span<std::byte> input(int k) override {
    return inputs_[static_cast<size_t>(k)];
  }
  std::span<const std::byte> output(int k) const override {
    return outputs_[static_cast<size_t>(k)];
  }
  void Release() override {
    absl::MutexLock lock(&fake_.mu_);
    used_ = false;
  }

  FakeDevice& fake_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::vector<std::byte>> outputs_;
  bool used_ = false;  // guarded by the fake's mutex
};

struct FakeDevice::Run {
  PoolSlot* slot = nullptr;
  const Signature* signature = nullptr;
  int lane = 0;
  size_t rung = 0;
  absl::Duration time;
  std::optional<absl::Status> ended;  // by Finish, or instantly
  absl::Time end = absl::InfiniteFuture();

  void Compute() const {
    for (size_t k = 0; k < slot->outputs_.size(); ++k) {
      const size_t from = std::min(k, slot->inputs_.size() - 1);
      const size_t in_bytes = RowBytes(signature->inputs[from]);
      const size_t out_bytes = RowBytes(signature->outputs[k]);
      std::vector<std::byte>& out = slot->outputs_[k];
      std::fill(out.begin(), out.end(), std::byte{0});
      for (size_t row = 0; row < rung; ++row) {
        std::copy_n(slot->inputs_[from].data() + row * in_bytes,
                    std::min(in_bytes, out_bytes),
                    out.data() + row * out_bytes);
      }
    }
  }
};

class FakeDevice::Exec final : public Executable {
 public:
  Exec(FakeDevice& fake, Signature signature, Ladder ladder, int lane)
      : fake_(fake),
        signature_(std::move(signature)),
        ladder_(std::move(ladder)),
        lane_(lane) {
    absl::MutexLock lock(&fake_.mu_);
    ++fake_.executables_;
  }
  ~Exec() override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.CheckThread();
    --fake_.executables_;
  }

  const Signature& signature() const override { return signature_; }
  const Ladder& ladder() const override { return ladder_; }

  bool RunsInline(int /*rows*/) const override {
    return fake_.options_.runs_inline;
  }

  SlotLease AcquireSlot() override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.CheckUser();
    for (const std::unique_ptr<PoolSlot>& slot : fake_.slots_) {
      if (slot->used_) continue;
      slot->used_ = true;
      slot->Fit(signature_, static_cast<size_t>(ladder_.back().rows));
      return SlotLease(slot.get());
    }
    return SlotLease();
  }

  int free_slots() const override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.CheckUser();
    return static_cast<int>(
        std::count_if(fake_.slots_.begin(), fake_.slots_.end(),
                      [](const auto& slot) { return !slot->used_; }));
  }

  absl::Status Submit(Slot& slot, int rows) override {
    const int rung_index = RungFor(ladder_, rows);
    if (rows < 1 || rung_index < 0) {
      return absl::OutOfRangeError(absl::StrCat("no rung for ", rows, " rows"));
    }
    const Rung& rung = ladder_[static_cast<size_t>(rung_index)];
    std::function<void(const FakeLaunch&)> callback;
    FakeLaunch launch{
        .rows = rows, .rung = rung.rows, .lane = lane_, .tags = {}};
    {
      absl::MutexLock lock(&fake_.mu_);
      fake_.CheckUser();
      if (!fake_.fail_submit_.ok()) return fake_.fail_submit_;
      callback = fake_.on_launch_;
    }
    auto& pool_slot = static_cast<PoolSlot&>(slot);
    Pad(pool_slot, rows, rung.rows);
    launch.tags = Tags(pool_slot, rung.rows);
    if (callback) callback(launch);
    Begin(pool_slot, rung, std::move(launch), !callback);
    return absl::OkStatus();
  }

  absl::StatusOr<RunTimes> Wait(Slot& slot, absl::Time deadline) override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.CheckUser();
    const auto it = std::find_if(
        fake_.runs_.begin(), fake_.runs_.end(),
        [&](const std::unique_ptr<Run>& run) { return run->slot == &slot; });
    if (it == fake_.runs_.end()) {
      return absl::FailedPreconditionError("the slot was not submitted");
    }
    Run& run = **it;
    struct Wanted {
      FakeDevice* fake;
      Run* run;
      bool Eval() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return fake->Over(*run) || fake->woken_;
      }
    } wanted{&fake_, &run};
    fake_.clock_.Await(fake_.mu_, absl::Condition(&wanted, &Wanted::Eval),
                       std::min(deadline, run.end));
    if (!fake_.Over(run)) {
      if (std::exchange(fake_.woken_, false)) {
        return absl::AbortedError("woken");
      }
      return absl::DeadlineExceededError("the run goes on");
    }
    run.Compute();
    const absl::Status status = run.ended.value_or(absl::OkStatus());
    RunTimes times{.graph = run.time, .copy_in = {}, .copy_out = {}};
    if (run.end != absl::InfiniteFuture()) {
      times.graph_begun = run.end - run.time - absl::UnixEpoch();
    }
    fake_.runs_.erase(std::find_if(fake_.runs_.begin(), fake_.runs_.end(),
                                   [&](const std::unique_ptr<Run>& other) {
                                     return other.get() == &run;
                                   }));
    if (!status.ok()) return status;
    return times;
  }

  int captured_graphs() const override {
    return static_cast<int>(ladder_.size());
  }
  int64_t arena_bytes() const override { return kFakeArenaBytes; }

 private:
  void Pad(PoolSlot& slot, int rows, int rung) const {
    for (size_t k = 0; k < slot.inputs_.size(); ++k) {
      const size_t bytes = RowBytes(signature_.inputs[k]);
      for (int row = rows; row < rung; ++row) {
        std::copy_n(slot.inputs_[k].data(), bytes,
                    slot.inputs_[k].data() + static_cast<size_t>(row) * bytes);
      }
    }
  }

  std::vector<uint64_t> Tags(const PoolSlot& slot, int rung) const {
    std::vector<uint64_t> tags(static_cast<size_t>(rung));
    const size_t bytes = RowBytes(signature_.inputs[0]);
    for (size_t row = 0; bytes > 0 && row < tags.size(); ++row) {
      std::memcpy(&tags[row], slot.inputs_[0].data() + row * bytes,
                  std::min(bytes, sizeof(uint64_t)));
    }
    return tags;
  }

  void Begin(PoolSlot& slot, const Rung& rung, FakeLaunch launch, bool keep) {
    auto run = std::make_unique<Run>();
    run->slot = &slot;
    run->signature = &signature_;
    run->lane = lane_;
    run->rung = static_cast<size_t>(rung.rows);
    run->time = rung.p50;
    const absl::Time now = fake_.clock_.Now();
    absl::MutexLock lock(&fake_.mu_);
    ++fake_.launches_;
    if (fake_.observer_ != nullptr) fake_.observer_->Ran(RunKind::kBatch);
    if (keep) fake_.log_.push_back(std::move(launch));
    if (fake_.mode_ == FakeRun::kInstant) run->ended = absl::OkStatus();
    if (fake_.mode_ == FakeRun::kTimed) {
      absl::Time& free = fake_.lane_free_.try_emplace(lane_, now).first->second;
      free = std::max(free, now) + run->time;
      run->end = free;
    }
    fake_.runs_.push_back(std::move(run));
  }

  FakeDevice& fake_;
  const Signature signature_;
  const Ladder ladder_;
  const int lane_;
};

class FakeDevice::Model final : public LoadedModel {
 public:
  Model(FakeDevice& fake, Signature signature)
      : fake_(fake), signature_(std::move(signature)) {
    absl::MutexLock lock(&fake_.mu_);
    ++fake_.models_;
  }
  ~Model() override {
    absl::MutexLock lock(&fake_.mu_);
    --fake_.models_;
  }

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& rows, int lane) override {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&fake_.mu_);
      callback = fake_.on_prepare_;
      const int number = ++fake_.prepares_;
      const std::vector<int64_t> values(dims.begin(), dims.end());
      fake_.prepare_log_.push_back(
          {.dims = values, .sizes = rows, .lane = lane});
      struct Free {
        const int* held_after;
        int number;
        bool Eval() const { return number <= *held_after; }
      } free{&fake_.hold_prepare_after_, number};
      fake_.mu_.Await(absl::Condition(&free, &Free::Eval));
      const auto failure = fake_.fail_prepare_.find(values);
      if (failure != fake_.fail_prepare_.end()) {
        REPRISE_RETURN_IF_ERROR(failure->second);
      }
    }
    if (callback) callback();
    Ladder ladder;
    for (const int size : rows) {
      const absl::Duration time = fake_.options_.rung_time(size);
      ladder.push_back({.rows = size, .p50 = time, .p999 = time});
    }
    return std::make_unique<Exec>(fake_, Bind(signature_, dims),
                                  std::move(ladder), lane);
  }

  int64_t weight_bytes() const override { return kFakeWeightBytes; }

 private:
  FakeDevice& fake_;
  const Signature signature_;
};

class FakeDevice::Impl final : public Device {
 public:
  explicit Impl(FakeDevice& fake) : fake_(fake) {
    absl::MutexLock lock(&fake_.mu_);
    fake_.owner_ = ThisThread();
    ++fake_.devices_;
  }
  ~Impl() override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.CheckThread();
    fake_.observer_ = nullptr;
    --fake_.devices_;
  }

  std::optional<int> gpu_index() const override {
    return fake_.options_.gpu_index;
  }
  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> /*graph*/, const Signature& signature,
      const LoadOptions& options) override {
    {
      absl::MutexLock lock(&fake_.mu_);
      fake_.load_options_ = options;
    }
    return fake_.Load(signature);
  }
  void Wake() override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.woken_ = true;
    ++fake_.wakes_;
  }
  DeviceMemory memory() const override {
    return {.total = int64_t{1} << 30,
            .free = int64_t{1} << 30,
            .slots = kFakeSlotBytes};
  }
  bool is_lost_when_stuck() const override {
    return fake_.options_.lost_when_stuck;
  }
  void Observe(DeviceObserver* observer) override {
    absl::MutexLock lock(&fake_.mu_);
    fake_.observer_ = observer;
  }
  LoadSteps* load_steps() override {
    return fake_.options_.load_steps ? &fake_.load_steps_ : nullptr;
  }

 private:
  FakeDevice& fake_;
};

FakeDevice::FakeDevice(Clock& clock, FakeDeviceOptions options)
    : clock_(clock), options_(std::move(options)), mode_(options_.run) {
  for (int i = 0; i < options_.slots; ++i) {
    slots_.push_back(std::make_unique<PoolSlot>(*this));
  }
}

FakeDevice::~FakeDevice() = default;

std::function<absl::StatusOr<std::unique_ptr<Device>>()> FakeDevice::factory() {
  return [this]() -> absl::StatusOr<std::unique_ptr<Device>> { return Make(); };
}

std::unique_ptr<Device> FakeDevice::Make() {
  return std::make_unique<Impl>(*this);
}

std::unique_ptr<LoadedModel> FakeDevice::Load(const Signature& signature) {
  return std::make_unique<Model>(*this, signature);
}

void FakeDevice::CheckUser() {
  if (!options_.runs_inline) CheckThread();
}

void FakeDevice::CheckThread() {
  if (owner_ != 0 && owner_ != ThisThread()) ++wrong_thread_;
}

bool FakeDevice::Over(const Run& run) const {
  return run.ended.has_value() || clock_.Now() >= run.end;
}

FakeDevice::Run* FakeDevice::Unfinished(int lane) {
  for (const std::unique_ptr<Run>& run : runs_) {
    if (!run->ended.has_value() && (lane < 0 || run->lane == lane)) {
      return run.get();
    }
  }
  return nullptr;
}

void FakeDevice::Finish(absl::Status status, int lane) {
  struct Wanted {
    FakeDevice* fake;
    int lane;
    bool Eval() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return fake->Unfinished(lane) != nullptr;
    }
  } wanted{this, lane};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Eval));
  Unfinished(lane)->ended = std::move(status);
}

void FakeDevice::FinishAll() {
  absl::MutexLock lock(&mu_);
  mode_ = FakeRun::kInstant;
  while (Run* run = Unfinished(-1)) run->ended = absl::OkStatus();
}

void FakeDevice::AwaitLaunches(int count) {
  struct Wanted {
    const int* value;
    int count;
    bool Eval() const { return *value >= count; }
  } wanted{&launches_, count};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Eval));
}

void FakeDevice::AwaitPrepares(int count) {
  struct Wanted {
    const int* value;
    int count;
    bool Eval() const { return *value >= count; }
  } wanted{&prepares_, count};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Eval));
}

int FakeDevice::launches() const {
  absl::MutexLock lock(&mu_);
  return launches_;
}

std::vector<FakeLaunch> FakeDevice::launch_log() const {
  absl::MutexLock lock(&mu_);
  return log_;
}

void FakeDevice::OnLaunch(std::function<void(const FakeLaunch&)> callback) {
  absl::MutexLock lock(&mu_);
  on_launch_ = std::move(callback);
}

void FakeDevice::FailPrepare(const VariantKey& dims, absl::Status status) {
  absl::MutexLock lock(&mu_);
  fail_prepare_[std::vector<int64_t>(dims.begin(), dims.end())] =
      std::move(status);
}

void FakeDevice::OnPrepare(std::function<void()> callback) {
  absl::MutexLock lock(&mu_);
  on_prepare_ = std::move(callback);
}

void FakeDevice::HoldPrepare(bool held) {
  HoldPrepareAfter(held ? 0 : std::numeric_limits<int>::max());
}

void FakeDevice::HoldPrepareAfter(int count) {
  absl::MutexLock lock(&mu_);
  hold_prepare_after_ = count;
}

std::vector<FakePrepare> FakeDevice::prepare_log() const {
  absl::MutexLock lock(&mu_);
  return prepare_log_;
}

LoadOptions FakeDevice::load_options() const {
  absl::MutexLock lock(&mu_);
  return load_options_;
}

int FakeDevice::prepares() const {
  absl::MutexLock lock(&mu_);
  return prepares_;
}

void FakeDevice::FailSubmit(absl::Status status) {
  absl::MutexLock lock(&mu_);
  fail_submit_ = std::move(status);
}

int FakeDevice::live_executables() const {
  absl::MutexLock lock(&mu_);
  return executables_;
}

void FakeDevice::AwaitExecutables(int count) {
  struct Wanted {
    const int* value;
    int count;
    bool Eval() const { return *value == count; }
  } wanted{&executables_, count};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Eval));
}

int FakeDevice::live_models() const {
  absl::MutexLock lock(&mu_);
  return models_;
}

int FakeDevice::live_devices() const {
  absl::MutexLock lock(&mu_);
  return devices_;
}

int FakeDevice::slots_out() const {
  absl::MutexLock lock(&mu_);
  int out = 0;
  for (const std::unique_ptr<PoolSlot>& slot : slots_) out += slot->used_;
  return out;
}

int FakeDevice::wrong_thread_calls() const {
  absl::MutexLock lock(&mu_);
  return wrong_thread_;
}

int FakeDevice::wakes() const {
  absl::MutexLock lock(&mu_);
  return wakes_;
}

}  // namespace reprise::testing
