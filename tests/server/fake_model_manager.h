// A model manager without devices, and models for it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/registry.h"
#include "runtime/tensor/signature.h"
#include "runtime/worker/model_manager.h"

namespace reprise::testing {

// Input and output names as in Triton's examples.
TensorSpec Tensor(const std::string& name, DType dtype, Dims dims);
// INPUT0, INPUT1 INT32 [16] -> OUTPUT0, OUTPUT1; batches up to 8.
Signature SimpleSignature();
// INPUT0 -> OUTPUT0 of one dtype; `dims` may hold kFreeDim, called "n".
Signature IdentitySignature(DType dtype, Dims dims, bool batched = true);
ModelHandle MakeModel(const std::string& name, Signature signature,
                      ModelConfig config = {}, int64_t version = 1);

// Bytes of one output of one batch, by output.
using Outputs = std::vector<std::vector<std::byte>>;
// A batch that deletes itself with its last share.
BatchOutput MakeOutput(const Signature& signature, Outputs outputs, int rows,
                       bool may_hold_slot = true);
// The bytes of an input in one piece.
std::vector<std::byte> InputBytes(const InferTask& task, size_t k);

// Answers each task at once with its inputs as outputs, or holds them until a
// test says so.
//
// Threads: any.
class FakeModelManager final : public ModelManager {
 public:
  FakeModelManager(ModelRegistry& registry, Clock& clock)
      : registry_(registry), clock_(clock) {}

  void Hold() ABSL_LOCKS_EXCLUDED(mu_);
  // Answers what is held, and from now on everything at once.
  void Release() ABSL_LOCKS_EXCLUDED(mu_);
  // What is held is as if it ran: nobody can take it back any more.
  void SetRunning() ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks until `count` tasks are held.
  void AwaitHeld(int count) ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitCancels(int count) ABSL_LOCKS_EXCLUDED(mu_);
  void RefuseWith(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_);
  void SetReady(bool ready) ABSL_LOCKS_EXCLUDED(mu_);
  void SetMayHoldSlot(bool may_hold_slot) ABSL_LOCKS_EXCLUDED(mu_);
  int launched() const ABSL_LOCKS_EXCLUDED(mu_);
  // Of the tasks that are held.
  absl::Time first_deadline() const ABSL_LOCKS_EXCLUDED(mu_);
  absl::Time last_deadline() const ABSL_LOCKS_EXCLUDED(mu_);  // of a task
  std::vector<std::string> calls() const ABSL_LOCKS_EXCLUDED(mu_);
  LoadOverrides overrides() const ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status LoadAtStart() override { return absl::OkStatus(); }
  absl::Status Load(absl::string_view name,
                    const LoadOverrides& overrides) override;
  absl::Status Unload(absl::string_view name) override;
  bool Ready() const override;
  std::vector<IndexEntry> Index() const override { return registry_.Index(); }
  absl::Status Offer(const ModelVersion& model, InferTask& task) override;
  void Cancel(const ModelVersion& model, InferTask& task) override;
  StopResult Stop(absl::Time deadline) override;

 private:
  struct Held {
    const ModelVersion* model;
    InferTask* task;
  };
  void Answer(const Held& held);

  ModelRegistry& registry_;
  Clock& clock_;
  mutable absl::Mutex mu_;
  bool hold_ ABSL_GUARDED_BY(mu_) = false;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  bool ready_ ABSL_GUARDED_BY(mu_) = true;
  bool may_hold_slot_ ABSL_GUARDED_BY(mu_) = true;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  int launched_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time last_deadline_ ABSL_GUARDED_BY(mu_);
  int cancels_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  std::vector<Held> held_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mu_);
  LoadOverrides overrides_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::testing
