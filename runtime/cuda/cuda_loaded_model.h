// The weights of one model version on a GPU, and how its variants are prepared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/cuda_model_host.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/cuda/variant_draft.h"
#include "runtime/cuda/weight_store.h"
#include "runtime/device/device.h"
#include "runtime/graph/graph.h"
#include "runtime/prepare/rung_choice.h"

namespace reprise::cuda {

// How a model is lowered that is loaded with `options` onto a GPU of which
// `device` says what it has. INVALID_ARGUMENT: there is no such precision.
absl::StatusOr<LoweringOptions> LoweringFor(LoweringOptions device,
                                            const LoadOptions& options);

// Lifecycle and threads: as LoadedModel.
class CudaLoadedModel final : public LoadedModel {
 public:
  // Folds and fuses a copy of `graph`. UNIMPLEMENTED: tensors of strings;
  // INVALID_ARGUMENT: options name a fusion or a precision that there is not.
  static absl::StatusOr<std::unique_ptr<CudaLoadedModel>> Create(
      CudaModelHost host, std::shared_ptr<const graph::Graph> graph,
      Signature signature, LoadOptions options);

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder,
      int lane) override;
  int64_t weight_bytes() const override { return weights_.bytes(); }

 private:
  CudaLoadedModel(CudaModelHost host, LoweringOptions lowering,
                  std::unique_ptr<const graph::Graph> graph,
                  Signature signature, LoadOptions options);

  absl::Status LowerRungs(const VariantKey& dims,
                          const std::vector<int>& ladder, VariantDraft& draft);
  absl::Status LoadModules(const CurrentContext& current,
                           const VariantDraft& draft);
  absl::Status CheckMemory(const CurrentContext& current,
                           const VariantDraft& draft) const;
  absl::Status TakeMemory(const CurrentContext& current, VariantDraft& draft);
  absl::Status LoadKernels(const CurrentContext& current,
                           const VariantDraft& draft);
  std::unique_ptr<CudaExecutable> MakeExecutable(VariantDraft& draft) const;
  absl::StatusOr<std::unique_ptr<LoadedModel>> LoadReference() const;
  absl::Status Try(const VariantKey& dims, bool first,
                   CudaExecutable& executable, VariantDraft& draft);

  const CudaModelHost host_;
  const std::unique_ptr<const graph::Graph> graph_;
  std::shared_ptr<const graph::Graph> source_;  // null: nothing is compared
  const Signature signature_;
  const LoadOptions options_;
  const LoweringOptions lowering_;
  WeightStore weights_;
  std::set<std::string> products_;  // algorithms whose code is loaded
  RungChoices choices_;             // of variants whose rows have been compared
};

}  // namespace reprise::cuda
