// The typed attributes of a node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::graph {

struct Graph;

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>,
                 std::shared_ptr<const HostTensor>,
                 std::shared_ptr<const Graph>>;

// Constant once a graph is built. The getters fail with INVALID_ARGUMENT that
// names the attribute when it is absent without a default, or of another type.
class Attributes {
 public:
  void Set(std::string name, AttributeValue value);
  bool Has(absl::string_view name) const;
  const AttributeValue* Find(absl::string_view name) const;  // null if absent

  absl::StatusOr<int64_t> Int(absl::string_view name) const;
  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t fallback) const;
  absl::StatusOr<float> Float(absl::string_view name, float fallback) const;
  absl::StatusOr<std::string> String(absl::string_view name,
                                     std::string fallback) const;
  absl::StatusOr<std::vector<int64_t>> Ints(
      absl::string_view name, std::vector<int64_t> fallback) const;

  const std::map<std::string, AttributeValue, std::less<>>& all() const {
    return values_;
  }

 private:
  std::map<std::string, AttributeValue, std::less<>> values_;
};

}  // namespace reprise::graph
