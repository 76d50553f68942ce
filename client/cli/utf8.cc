#include "client/cli/utf8.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/format.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

// The two ways to write what is no UTF-8 differ only if there is some.
bool IsUtf8(absl::string_view text) {
  const Json json(std::string{text});
  return json.dump(-1, ' ', false, Json::error_handler_t::ignore) ==
         json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

absl::Status CheckUtf8(absl::string_view text) {
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(text), "\" is not UTF-8"));
}

}  // namespace reprise::client
