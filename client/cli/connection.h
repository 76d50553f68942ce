// The flags that all subcommands share, and the client they describe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/flags.h"
#include "client/cli/terminal.h"
#include "client/client.h"

namespace reprise::client {

class Connection {
 public:
  // --server (REPRISE_SERVER is its default), --timeout, --retries, --header,
  // --tls*, --json.
  void AddFlags(FlagTable& flags, const Terminal& terminal);

  // The options that the flags say. INVALID_ARGUMENT for a header without ':',
  // --tls-cert or --tls-key alone, and what ServerTarget refuses.
  absl::StatusOr<ClientOptions> Options() const;
  // Errors as Options and Client::Create.
  absl::StatusOr<std::unique_ptr<Client>> Connect() const;

  // Where the calls go, for messages.
  std::string server() const;
  bool json() const { return json_; }
  absl::Duration timeout() const { return options_.timeout; }
  // A command's own default; before AddFlags.
  void set_timeout(absl::Duration timeout) { options_.timeout = timeout; }

 private:
  ClientOptions options_;
  int64_t retries_ = 0;
  std::vector<std::string> headers_;
  bool json_ = false;
};

}  // namespace reprise::client
