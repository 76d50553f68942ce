#include "tests/server/fake_model_manager.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reprise::testing {
namespace {

class FakeBatch final : public BatchResult {
 public:
  FakeBatch(Signature signature, Outputs outputs, bool may_hold_slot)
      : signature_(std::move(signature)),
        outputs_(std::move(outputs)),
        may_hold_slot_(may_hold_slot) {}

  const Signature& signature() const override { return signature_; }
  std::span<const std::byte> output(int k) const override {
    return outputs_[static_cast<size_t>(k)];
  }
  bool may_hold_slot() const override { return may_hold_slot_; }

 private:
  void Ref() override { ++shares_; }
  void Unref() override {
    if (--shares_ == 0) delete this;
  }

  const Signature signature_;
  const Outputs outputs_;
  const bool may_hold_slot_;
  std::atomic<int> shares_{0};
};

// `signature` with the task's variant in place of its free dims.
Signature Bound(Signature signature, const InferTask& task) {
  for (std::vector<TensorSpec>* specs :
       {&signature.inputs, &signature.outputs}) {
    for (TensorSpec& spec : *specs) {
      for (int64_t& dim : spec.dims) {
        if (dim == kFreeDim) dim = task.variant[0];
      }
    }
  }
  return signature;
}

}  // namespace

TensorSpec Tensor(const std::string& name, DType dtype, Dims dims) {
  TensorSpec spec{name, dtype, dims, {}};
  for (const int64_t dim : dims) spec.symbols.push_back(dim < 0 ? "n" : "");
  return spec;
}

Signature SimpleSignature() {
  Signature signature;
  signature.batched = true;
  signature.max_batch = 8;
  for (const char* name : {"INPUT0", "INPUT1"}) {
    signature.inputs.push_back(Tensor(name, DType::kInt32, {16}));
  }
  for (const char* name : {"OUTPUT0", "OUTPUT1"}) {
    signature.outputs.push_back(Tensor(name, DType::kInt32, {16}));
  }
  return signature;
}

Signature IdentitySignature(DType dtype, Dims dims, bool batched) {
  Signature signature;
  signature.batched = batched;
  signature.max_batch = batched ? 8 : 1;
  signature.inputs.push_back(Tensor("INPUT0", dtype, dims));
  signature.outputs.push_back(Tensor("OUTPUT0", dtype, dims));
  if (std::count(dims.begin(), dims.end(), kFreeDim) > 0) {
    signature.free_symbols = {"n"};
  }
  return signature;
}

ModelHandle MakeModel(const std::string& name, Signature signature,
                      ModelConfig config, int64_t version) {
  static std::atomic<uint64_t> next_uid{1};
  config.proto.set_name(name);
  config.proto.set_max_batch_size(signature.batched ? signature.max_batch : 0);
  config.proto.set_platform("onnxruntime_onnx");
  return std::make_shared<const ModelVersion>(
      next_uid++, name, version, std::move(config), std::move(signature));
}

BatchOutput MakeOutput(const Signature& signature, Outputs outputs, int rows,
                       bool may_hold_slot) {
  return {new FakeBatch(signature, std::move(outputs), may_hold_slot), 0, rows};
}

std::vector<std::byte> InputBytes(const InferTask& task, size_t k) {
  std::vector<std::byte> bytes;
  for (const auto& piece : task.inputs[k].pieces) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

void FakeModelManager::Hold() {
  absl::MutexLock lock(&mu_);
  hold_ = true;
}

void FakeModelManager::Release() {
  std::vector<Held> held;
  {
    absl::MutexLock lock(&mu_);
    hold_ = false;
    held.swap(held_);
  }
  for (const Held& one : held) Answer(one);
}

void FakeModelManager::SetRunning() {
  absl::MutexLock lock(&mu_);
  running_ = true;
}

void FakeModelManager::AwaitHeld(int count) {
  absl::MutexLock lock(&mu_);
  const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return held_.size() >= static_cast<size_t>(count);
  };
  mu_.Await(absl::Condition(&enough));
}

void FakeModelManager::AwaitCancels(int count) {
  absl::MutexLock lock(&mu_);
  const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return cancels_ >= count;
  };
  mu_.Await(absl::Condition(&enough));
}

void FakeModelManager::RefuseWith(absl::Status status) {
  absl::MutexLock lock(&mu_);
  refusal_ = std::move(status);
}

void FakeModelManager::SetReady(bool ready) {
  absl::MutexLock lock(&mu_);
  ready_ = ready;
}

void FakeModelManager::SetMayHoldSlot(bool may_hold_slot) {
  absl::MutexLock lock(&mu_);
  may_hold_slot_ = may_hold_slot;
}

absl::Time FakeModelManager::last_deadline() const {
  absl::MutexLock lock(&mu_);
  return last_deadline_;
}

int FakeModelManager::launched() const {
  absl::MutexLock lock(&mu_);
  return launched_;
}

absl::Time FakeModelManager::first_deadline() const {
  absl::MutexLock lock(&mu_);
  absl::Time first = absl::InfiniteFuture();
  for (const Held& held : held_) first = std::min(first, held.task->deadline);
  return first;
}

std::vector<std::string> FakeModelManager::calls() const {
  absl::MutexLock lock(&mu_);
  return calls_;
}

LoadOverrides FakeModelManager::overrides() const {
  absl::MutexLock lock(&mu_);
  return overrides_;
}

absl::Status FakeModelManager::Load(absl::string_view name,
                                    const LoadOverrides& overrides) {
  absl::MutexLock lock(&mu_);
  calls_.push_back(absl::StrCat("load ", name));
  overrides_ = overrides;
  return refusal_;
}

absl::Status FakeModelManager::Unload(absl::string_view name) {
  absl::MutexLock lock(&mu_);
  calls_.push_back(absl::StrCat("unload ", name));
  return refusal_;
}

bool FakeModelManager::Ready() const {
  absl::MutexLock lock(&mu_);
  return ready_;
}

absl::Status FakeModelManager::Offer(const ModelVersion& model,
                                     InferTask& task) {
  {
    absl::MutexLock lock(&mu_);
    last_deadline_ = task.deadline;
    if (!refusal_.ok()) return refusal_;
    if (stopped_) return absl::UnavailableError("stopping");
    if (hold_) {
      held_.push_back({&model, &task});
      return absl::OkStatus();
    }
  }
  Answer({&model, &task});
  return absl::OkStatus();
}

void FakeModelManager::Cancel(const ModelVersion& /*model*/, InferTask& task) {
  {
    absl::MutexLock lock(&mu_);
    ++cancels_;
    if (running_) return;
    const auto it =
        std::find_if(held_.begin(), held_.end(),
                     [&task](const Held& held) { return held.task == &task; });
    if (it == held_.end()) return;
    held_.erase(it);
  }
  task.Complete({absl::CancelledError("cancelled"), {}, {}});
}

StopResult FakeModelManager::Stop(absl::Time /*deadline*/) {
  std::vector<Held> held;
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    held.swap(held_);
  }
  for (const Held& one : held) {
    one.task->Complete({absl::UnavailableError("exit timeout"), {}, {}});
  }
  return {.all_answered = held.empty()};
}

void FakeModelManager::Answer(const Held& held) {
  bool may_hold_slot = true;
  {
    absl::MutexLock lock(&mu_);
    ++launched_;
    may_hold_slot = may_hold_slot_;
  }
  InferTask& task = *held.task;
  TaskResult result;
  const absl::Time now = clock_.Now();
  result.times = {task.arrival, now, now, now, now};
  Outputs outputs;
  for (size_t k = 0; k < task.inputs.size(); ++k) {
    outputs.push_back(InputBytes(task, k));
  }
  result.output = MakeOutput(Bound(held.model->signature(), task),
                             std::move(outputs), task.rows, may_hold_slot);
  task.Complete(std::move(result));
}

}  // namespace reprise::testing
