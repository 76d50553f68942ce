#include "runtime/cpu/weights.h"

#include <set>
#include <utility>

#include "runtime/base/status_macros.h"

namespace reprise::cpu {

Weights::Weights(const graph::Graph& graph) {
  std::set<const HostTensor*> seen;
  for (const graph::Value& value : graph.values) {
    if (value.constant != nullptr && seen.insert(value.constant.get()).second) {
      bytes_ += static_cast<int64_t>(value.constant->bytes().size());
    }
  }
}

absl::StatusOr<const std::byte*> Weights::Packed(
    OneDnn& dnn, const std::shared_ptr<const HostTensor>& tensor,
    const Layout& from, const Layout& to, float scale) {
  for (const Copy& copy : copies_) {
    if (copy.tensor == tensor && copy.scale == scale &&
        SameLayout(copy.from, from) && SameLayout(copy.to, to)) {
      return copy.buffer->data();
    }
  }
  REPRISE_ASSIGN_OR_RETURN(AlignedBuffer packed,
                           AlignedBuffer::Create(to.get_size()));
  AlignedBuffer scaled;
  if (scale != 1) {
    REPRISE_ASSIGN_OR_RETURN(scaled,
                             AlignedBuffer::Create(tensor->bytes().size()));
  }
  auto buffer = std::make_unique<AlignedBuffer>(std::move(packed));
  REPRISE_RETURN_IF_ERROR(Guarded("packing weights", [&] {
    if (scale == 1) {
      ReorderNow(dnn, from, tensor->bytes().data(), to, buffer->data());
      return;
    }
    const auto values = tensor->values<float>();
    auto* target = reinterpret_cast<float*>(scaled.data());
    for (size_t i = 0; i < values.size(); ++i) target[i] = values[i] * scale;
    ReorderNow(dnn, from, scaled.data(), to, buffer->data());
  }));
  bytes_ += static_cast<int64_t>(buffer->size());
  copies_.push_back({tensor, from, to, scale, std::move(buffer)});
  return copies_.back().buffer->data();
}

}  // namespace reprise::cpu
