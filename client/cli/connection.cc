#include "client/cli/connection.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/server_target.h"
#include "client/status.h"

namespace reprise::client {

void Connection::AddFlags(FlagTable& flags, const Terminal& terminal) {
  ChannelOptions& channel = options_.channel;
  const std::string server = terminal.env("REPRISE_SERVER");
  if (!server.empty()) channel.target = server;
  flags.Text("server", "HOST:PORT", &channel.target,
             "the server, port 8001 unless given, or unix:/path/to.sock; "
             "REPRISE_SERVER sets it too");
  flags.PositiveTime("timeout", "TIME", &options_.timeout,
                     "limit for a call, retries included; inf: none");
  flags.Count("retries", "N", &retries_,
              "further attempts when the server is unavailable or asks to come "
              "back later",
              0);
  flags.List("header", "NAME:VALUE", &headers_, "metadata sent with each call");
  flags.Switch("tls", &channel.tls, "use TLS; any of the following implies it");
  flags.Text("tls-ca", "FILE", &channel.ca_file,
             "PEM roots to trust instead of the system's");
  flags.Text("tls-cert", "FILE", &channel.cert_file,
             "PEM certificate of the client (mTLS)");
  flags.Text("tls-key", "FILE", &channel.key_file, "its PEM key");
  flags.Text("tls-server-name", "NAME", &channel.server_name,
             "the name the server's certificate must hold");
  flags.Group("Output");
  flags.Switch("json", &json_, "print JSON");
}

absl::StatusOr<ClientOptions> Connection::Options() const {
  ClientOptions options = options_;
  CLIENT_ASSIGN_OR_RETURN(options.channel.target,
                          ServerTarget(options_.channel.target));
  if (options.channel.cert_file.empty() != options.channel.key_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert and --tls-key must be given together");
  }
  const int attempts = static_cast<int>(retries_) + 1;
  options.retry.max_attempts = attempts;
  options.infer_attempts = attempts;
  for (const std::string& header : headers_) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(header, absl::MaxSplits(':', 1));
    const std::string name(absl::StripAsciiWhitespace(parts.first));
    if (name.empty() || header.find(':') == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--header: \"", header, "\" is not NAME:VALUE"));
    }
    options.headers.emplace_back(
        absl::AsciiStrToLower(name),
        std::string(absl::StripAsciiWhitespace(parts.second)));
  }
  return options;
}

std::string Connection::server() const {
  const std::string& text = options_.channel.target;
  return ServerTarget(text).value_or(text);
}

absl::StatusOr<std::unique_ptr<Client>> Connection::Connect() const {
  CLIENT_ASSIGN_OR_RETURN(ClientOptions options, Options());
  return Client::Create(std::move(options));
}

}  // namespace reprise::client
