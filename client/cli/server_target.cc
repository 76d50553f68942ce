#include "client/cli/server_target.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/status.h"

namespace reprise::client {
namespace {

constexpr int kDefaultPort = 8001;

absl::Status Bad(const std::string& text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("server \"", absl::CHexEscape(text), "\": ", why));
}

bool IsOtherResolver(absl::string_view text) {
  for (const char* scheme :
       {"unix:", "unix-abstract:", "ipv4:", "ipv6:", "vsock:", "xds:"}) {
    if (absl::StartsWith(text, scheme)) return true;
  }
  return false;
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

// `endpoint` with a port; `text` is what the user wrote.
absl::StatusOr<std::string> WithPort(absl::string_view endpoint,
                                     const std::string& text) {
  const size_t bracket = endpoint.rfind(']');
  const bool bracketed = bracket != absl::string_view::npos;
  if (!bracketed && std::count(endpoint.begin(), endpoint.end(), ':') > 1) {
    return absl::StrCat("[", endpoint, "]:", kDefaultPort);
  }
  const size_t colon = endpoint.find(':', bracketed ? bracket : 0);
  const absl::string_view host = endpoint.substr(0, colon);
  if (host.empty()) return Bad(text, "it names no host");
  if (colon == absl::string_view::npos) {
    return absl::StrCat(host, ":", kDefaultPort);
  }
  const absl::string_view port = endpoint.substr(colon + 1);
  if (!IsPort(port)) {
    return Bad(text, absl::StrCat("\"", absl::CHexEscape(port),
                                  "\" is no port from 1 to 65535"));
  }
  return std::string(endpoint);
}

}  // namespace

absl::StatusOr<std::string> ServerTarget(const std::string& text) {
  if (absl::StartsWith(text, "http://") || absl::StartsWith(text, "https://")) {
    return Bad(text, "HOST:PORT is wanted, not a URL; --tls makes it TLS");
  }
  if (IsOtherResolver(text)) return text;
  // "dns:HOST" or "dns://RESOLVER/HOST".
  size_t start = 0;
  if (absl::StartsWith(text, "dns:")) start = 4;
  if (absl::StartsWith(text, "dns://")) start = text.rfind('/') + 1;
  CLIENT_ASSIGN_OR_RETURN(
      const std::string endpoint,
      WithPort(absl::string_view(text).substr(start), text));
  return absl::StrCat(text.substr(0, start), endpoint);
}

}  // namespace reprise::client
