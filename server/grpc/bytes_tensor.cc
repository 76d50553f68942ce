#include "server/grpc/bytes_tensor.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/grpc/wire_reader.h"

namespace reprise {
namespace {

constexpr size_t kPrefix = 4;

}  // namespace

absl::Status SplitBytes(const InputRows& raw, int64_t count,
                        std::forward_list<std::string>& scratch,
                        std::vector<StringRef>& elements) {
  // Each element takes its prefix at least: no room is made for a count that
  // the data cannot hold.
  if (count > raw.bytes / static_cast<int64_t>(kPrefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", count, " string elements, got ", raw.bytes,
                     " bytes, which cannot hold so many"));
  }
  elements.reserve(elements.size() + static_cast<size_t>(count));
  WireReader reader(raw.pieces);
  int64_t found = 0;
  for (; !reader.done(); ++found) {
    if (found == count) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected ", count, " string elements, got more: ",
                       raw.bytes - static_cast<int64_t>(reader.position()),
                       " bytes follow the last"));
    }
    uint32_t length = 0;
    if (!reader.ReadFixed32(length)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "incomplete length indicator at byte ", reader.position(),
          " for string element ", found, " of ", count));
    }
    absl::string_view text;
    if (!reader.ReadTextOf(length, scratch, text)) {
      return absl::InvalidArgumentError(
          absl::StrCat("string element ", found, " of ", count, " should have ",
                       length, " bytes, but the data ends before"));
    }
    elements.push_back({text.data(), text.size()});
  }
  if (found < count) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", count, " string elements, got ", found));
  }
  return absl::OkStatus();
}

size_t RawBytesSize(std::span<const StringRef> elements) {
  size_t total = kPrefix * elements.size();
  for (const StringRef& element : elements) total += element.size;
  return total;
}

void WriteRawBytes(std::span<const StringRef> elements, char* to) {
  for (const StringRef& element : elements) {
    const auto length = static_cast<uint32_t>(element.size);
    std::memcpy(to, &length, kPrefix);
    if (element.size > 0) std::memcpy(to + kPrefix, element.data, element.size);
    to += kPrefix + element.size;
  }
}

}  // namespace reprise
