#include "runtime/graph/attributes.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reprise::graph {
namespace {

template <typename T>
absl::StatusOr<T> Get(const Attributes& attributes, absl::string_view name) {
  const AttributeValue* value = attributes.Find(name);
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute '", name, "' is missing"));
  }
  if (const T* typed = std::get_if<T>(value)) return *typed;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' has the wrong type"));
}

template <typename T>
absl::StatusOr<T> GetOr(const Attributes& attributes, absl::string_view name,
                        T fallback) {
  if (!attributes.Has(name)) return fallback;
  return Get<T>(attributes, name);
}

}  // namespace

void Attributes::Set(std::string name, AttributeValue value) {
  values_.insert_or_assign(std::move(name), std::move(value));
}

bool Attributes::Has(absl::string_view name) const {
  return Find(name) != nullptr;
}

const AttributeValue* Attributes::Find(absl::string_view name) const {
  const auto it = values_.find(std::string(name));
  return it == values_.end() ? nullptr : &it->second;
}

absl::StatusOr<int64_t> Attributes::Int(absl::string_view name) const {
  return Get<int64_t>(*this, name);
}

absl::StatusOr<int64_t> Attributes::Int(absl::string_view name,
                                        int64_t fallback) const {
  return GetOr<int64_t>(*this, name, fallback);
}

absl::StatusOr<float> Attributes::Float(absl::string_view name,
                                        float fallback) const {
  return GetOr<float>(*this, name, fallback);
}

absl::StatusOr<std::string> Attributes::String(absl::string_view name,
                                               std::string fallback) const {
  return GetOr<std::string>(*this, name, std::move(fallback));
}

absl::StatusOr<std::vector<int64_t>> Attributes::Ints(
    absl::string_view name, std::vector<int64_t> fallback) const {
  return GetOr<std::vector<int64_t>>(*this, name, std::move(fallback));
}

}  // namespace reprise::graph
