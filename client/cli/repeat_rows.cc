#include "client/cli/repeat_rows.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// The bytes of the first `rows` rows.
absl::StatusOr<std::string> FirstRows(const Tensor& tensor, int64_t rows) {
  const size_t all = static_cast<size_t>(tensor.shape[0]);
  const size_t some = static_cast<size_t>(rows);
  if (tensor.datatype != "BYTES") {
    return tensor.bytes.substr(0, tensor.bytes.size() / all * some);
  }
  CLIENT_ASSIGN_OR_RETURN(std::vector<std::string> strings,
                          DecodeStrings(tensor.bytes));
  strings.resize(strings.size() / all * some);
  return EncodeStrings(strings);
}

}  // namespace

absl::StatusOr<Tensor> RepeatRows(Tensor tensor, int64_t rows) {
  const int64_t have = tensor.shape[0];
  if (have == 0 || have > rows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input \"", tensor.name, "\": --batch ", rows, ", but its files hold ",
        have, have == 1 ? " row" : " rows"));
  }
  constexpr int64_t kMaxBytes = int64_t{1} << 31;
  const int64_t copies = rows / have;
  if (static_cast<int64_t>(tensor.bytes.size()) > kMaxBytes / (copies + 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("input \"", tensor.name, "\": ", rows,
                     " rows of its files are larger than 2 GiB"));
  }
  CLIENT_ASSIGN_OR_RETURN(const std::string rest,
                          FirstRows(tensor, rows % have));
  const std::string once = tensor.bytes;
  for (int64_t i = 1; i < copies && !once.empty(); ++i) tensor.bytes += once;
  tensor.bytes += rest;
  tensor.shape[0] = rows;
  return tensor;
}

}  // namespace reprise::client
