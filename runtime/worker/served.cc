#include "runtime/worker/served.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/strings/str_cat.h"
#include "runtime/batch/policy.h"

namespace reprise {

Variant::Variant(Served& of, VariantKey values)
    : served(of), key(std::move(values)), queue(of.bounds) {}

void Variant::SetLadder(const Ladder& table) {
  ladder = table;
  const Capacity capacity = CapacityAt(ladder, served.batch().slo);
  row_cost = absl::Seconds(1 / capacity.rows_per_second);
}

bool Variant::WantsRungs() const {
  const std::span<const Waiting> waiting = queue.waiting();
  return std::any_of(waiting.begin(), waiting.end(),
                     [&](const Waiting& one) { return !HasRoom(one.rows); });
}

Served::Served(const ModelVersion& version, WorkerMetrics& metrics_of)
    : model(&version),
      text(absl::StrCat("model '", version.name(), "' version ",
                        version.version())),
      labels(metrics_of.ModelLabels(version.name(), version.version_text())),
      metrics(metrics_of, labels, version.config().batch.slo),
      bounds(version.config().batch) {}

Variant* Served::Find(const VariantKey& key) {
  for (const std::unique_ptr<Variant>& variant : variants) {
    if (variant->key == key) return variant.get();
  }
  return nullptr;
}

Variant& Served::AddVariant(const VariantKey& key) {
  variants.push_back(std::make_unique<Variant>(*this, key));
  return *variants.back();
}

std::string Served::ReadyVariants() const {
  std::string dims;
  for (const std::unique_ptr<Variant>& variant : variants) {
    if (!variant->ready()) continue;
    absl::StrAppend(&dims, dims.empty() ? "" : "; ",
                    VariantText(model->signature(), variant->key));
  }
  return dims.empty() ? "none" : dims;
}

std::string VariantText(const Signature& signature, const VariantKey& key) {
  std::string text;
  for (size_t i = 0; i < key.size(); ++i) {
    const std::string symbol = i < signature.free_symbols.size()
                                   ? signature.free_symbols[i]
                                   : absl::StrCat("dim", i);
    absl::StrAppend(&text, i > 0 ? "," : "", symbol, "=", key[i]);
  }
  return text;
}

}  // namespace reprise
