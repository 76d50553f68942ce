#include "client/cli/generated_tensor.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/elements.h"
#include "client/status.h"

namespace reprise::client {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 31;

// The number of elements, if that many fit.
absl::StatusOr<int64_t> CheckedCount(const Tensor& target) {
  CLIENT_ASSIGN_OR_RETURN(const size_t size, ElementSize(target.datatype));
  CLIENT_ASSIGN_OR_RETURN(const int64_t count, ElementCount(target.shape));
  if (count > kMaxBytes / static_cast<int64_t>(size == 0 ? 8 : size)) {
    return absl::InvalidArgumentError(
        absl::StrCat("input \"", target.name, "\" of ", target.datatype, " ",
                     ShapeText(target.shape), " is larger than 2 GiB"));
  }
  return count;
}

}  // namespace

absl::StatusOr<Tensor> MakeZeros(Tensor target) {
  CLIENT_ASSIGN_OR_RETURN(const int64_t count, CheckedCount(target));
  CLIENT_ASSIGN_OR_RETURN(const size_t size, ElementSize(target.datatype));
  // An empty string is its length of four zero bytes.
  target.bytes.assign(static_cast<size_t>(count) * (size == 0 ? 4 : size),
                      '\0');
  return target;
}

absl::StatusOr<Tensor> MakeRandom(Tensor target, uint64_t seed) {
  CLIENT_ASSIGN_OR_RETURN(const int64_t count, CheckedCount(target));
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> digit(0, 9);
  std::uniform_real_distribution<double> real(0, 1);
  target.bytes.clear();
  if (target.datatype == "BYTES") {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < count; ++i) {
      strings.push_back(absl::StrCat(digit(random)));
    }
    target.bytes = EncodeStrings(strings);
    return target;
  }
  const bool is_float = IsFloatType(target.datatype);
  const bool is_bool = target.datatype == "BOOL";
  for (int64_t i = 0; i < count; ++i) {
    const double value = is_float ? real(random) : digit(random);
    AppendElement(target.datatype, is_bool && value < 5 ? 0 : value,
                  target.bytes);
  }
  return target;
}

}  // namespace reprise::client
