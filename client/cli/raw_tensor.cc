#include "client/cli/raw_tensor.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// The last line may do without its newline.
std::vector<std::string> Lines(absl::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

absl::StatusOr<std::vector<std::string>> Strings(const std::string& path,
                                                 absl::string_view bytes) {
  if (absl::EndsWithIgnoreCase(path, ".txt")) return Lines(bytes);
  absl::StatusOr<std::vector<std::string>> strings = DecodeStrings(bytes);
  if (strings.ok()) return strings;
  return absl::InvalidArgumentError(
      absl::StrCat("each string stands behind its length in 4 bytes (in a .txt "
                   "file, on a line): ",
                   strings.status().message()));
}

// `got` bytes or strings, where a row or all of the target takes `want`.
absl::Status Misfit(const Tensor& target, int64_t got, int64_t want) {
  const bool free = std::find(target.shape.begin(), target.shape.end(), -1) !=
                    target.shape.end();
  const bool rows = free && target.shape.front() == -1;
  return absl::InvalidArgumentError(
      absl::StrCat(got, target.datatype == "BYTES" ? " strings" : " bytes",
                   ", but ", rows ? "a row of " : "", "input \"", target.name,
                   "\" (", target.datatype, " ", ShapeText(target.shape),
                   ") takes ", free && !rows ? "a multiple of " : "", want));
}

// Sets the free dim, if there is one, to what `got` bytes or strings fill.
absl::Status Fill(size_t element_size, int64_t got, Tensor& target) {
  std::vector<int64_t> known = target.shape;
  known.erase(std::remove(known.begin(), known.end(), -1), known.end());
  CLIENT_ASSIGN_OR_RETURN(const int64_t count, ElementCount(known));
  int64_t want = 0;
  if (__builtin_mul_overflow(
          count, static_cast<int64_t>(std::max(element_size, size_t{1})),
          &want)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no file fills ", ShapeText(target.shape)));
  }
  const auto free = std::find(target.shape.begin(), target.shape.end(), -1);
  if (free == target.shape.end()) {
    return got == want ? absl::OkStatus() : Misfit(target, got, want);
  }
  if (want == 0 || got == 0 || got % want != 0) {
    return Misfit(target, got, want);
  }
  *free = got / want;
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Parse(const std::string& path, std::string bytes,
                             Tensor target) {
  CLIENT_ASSIGN_OR_RETURN(const size_t size, ElementSize(target.datatype));
  int64_t got = static_cast<int64_t>(bytes.size());
  if (size == 0) {
    CLIENT_ASSIGN_OR_RETURN(const std::vector<std::string> strings,
                            Strings(path, bytes));
    got = static_cast<int64_t>(strings.size());
    bytes = EncodeStrings(strings);
  }
  CLIENT_RETURN_IF_ERROR(Fill(size, got, target));
  target.bytes = std::move(bytes);
  return target;
}

}  // namespace

absl::StatusOr<Tensor> RawTensor(const std::string& path, std::string bytes,
                                 Tensor target) {
  absl::StatusOr<Tensor> tensor =
      Parse(path, std::move(bytes), std::move(target));
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return tensor;
}

}  // namespace reprise::client
