#include "server/grpc/shown.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

constexpr size_t kMaxShown = 64;

std::string Escaped(absl::string_view text) {
  if (text.size() <= kMaxShown) return absl::Utf8SafeCEscape(text);
  const size_t end = CharacterStart(text, kMaxShown);
  return absl::StrCat(absl::Utf8SafeCEscape(text.substr(0, end)), "...");
}

}  // namespace

std::string Shown(absl::string_view name) {
  return absl::StrCat("'", Escaped(name), "'");
}

std::string WithRequestId(absl::string_view id, absl::string_view message) {
  if (id.empty()) return std::string(message);
  return absl::StrCat("[request id: ", Escaped(id), "] ", message);
}

}  // namespace reprise
