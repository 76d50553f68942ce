#include "server/options.h"

#include <climits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace reprise {
namespace {

using Faults = std::vector<std::string>;

// Of sockaddr_un, with its terminator.
constexpr size_t kMaxUnixPath = 107;

void Append(std::vector<std::string> more, Faults* faults) {
  for (std::string& fault : more) faults->push_back(std::move(fault));
}

void CheckAtLeast(absl::string_view flag, int64_t value, int64_t least,
                  Faults* faults) {
  if (value < least) {
    faults->push_back(
        absl::StrCat(flag, " must be at least ", least, ", got ", value));
  }
}

// The sizes of messages are ints in gRPC.
void CheckMessages(const GrpcOptions& grpc, Faults* faults) {
  CheckAtLeast("--grpc-max-message-bytes", grpc.max_message_bytes, 1024,
               faults);
  if (grpc.max_message_bytes > INT_MAX) {
    faults->push_back(absl::StrCat("--grpc-max-message-bytes must be at most ",
                                   INT_MAX, ", which is gRPC's limit, got ",
                                   grpc.max_message_bytes));
  } else if (grpc.memory_bytes < grpc.max_message_bytes) {
    faults->push_back(
        absl::StrCat("--grpc-memory-bytes must be at least "
                     "--grpc-max-message-bytes, which is ",
                     grpc.max_message_bytes, ", got ", grpc.memory_bytes));
  }
}

void CheckPort(absl::string_view flag, int port, Faults* faults) {
  if (port < 0 || port > 65535) {
    faults->push_back(absl::StrCat(flag, " must be in 0..65535, got ", port));
  }
}

void CheckAddresses(const ServerOptions& options, Faults* faults) {
  const std::string& address = options.grpc.address;
  CheckPort("--grpc-port", options.grpc.port, faults);
  CheckPort("--metrics-port", options.metrics.port, faults);
  if (absl::StartsWith(address, "unix:") && address.size() - 5 > kMaxUnixPath) {
    faults->push_back(
        absl::StrCat("--grpc-address: a socket's path has at "
                     "most ",
                     kMaxUnixPath, " bytes"));
  }
  if (address.empty() || options.metrics.address.empty()) {
    faults->emplace_back(
        "--grpc-address and --metrics-address may not be empty");
  }
}

void CheckPortsDiffer(const ServerOptions& options, Faults* faults) {
  if (options.metrics.enabled && options.grpc.port != 0 &&
      options.grpc.port == options.metrics.port &&
      options.grpc.address == options.metrics.address) {
    faults->push_back(absl::StrCat("--grpc-port and --metrics-port are both ",
                                   options.grpc.port));
  }
}

void CheckTls(const TlsOptions& tls, Faults* faults) {
  if (!tls.wanted()) return;
  const char* const by =
      tls.mutual ? "--grpc-use-ssl-mutual" : "--grpc-use-ssl";
  const auto needs = [&](const std::string& path, absl::string_view flag) {
    if (path.empty()) faults->push_back(absl::StrCat(by, " needs ", flag));
  };
  needs(tls.certificate, "--grpc-server-cert");
  needs(tls.key, "--grpc-server-key");
  if (tls.mutual) needs(tls.root, "--grpc-root-cert");
}

}  // namespace

std::vector<std::string> Validate(const ServerOptions& options) {
  Faults faults = ValidateValues(options);
  Append(ManagerCombinationFaults(options.models), &faults);
  CheckPortsDiffer(options, &faults);
  CheckTls(options.grpc.tls, &faults);
  return faults;
}

std::vector<std::string> ValidateValues(const ServerOptions& options) {
  Faults faults;
  Append(ManagerValueFaults(options.models), &faults);
  CheckAddresses(options, &faults);
  CheckMessages(options.grpc, &faults);
  CheckAtLeast("--grpc-infer-thread-count", options.grpc.threads, 1, &faults);
  CheckAtLeast("--grpc-infer-posted-calls", options.grpc.posted_calls, 1,
               &faults);
  CheckAtLeast("--grpc-load-threads", options.grpc.load_threads, 1, &faults);
  CheckAtLeast("--grpc-max-concurrent-streams",
               options.grpc.max_concurrent_streams, 0, &faults);
  CheckAtLeast("--cpu-threads", options.cpu_threads, 0, &faults);
  return faults;
}

std::vector<std::string> Doubts(const ServerOptions& options) {
  const TlsOptions& tls = options.grpc.tls;
  if (tls.wanted()) return {};
  std::vector<std::string> flags;
  if (!tls.certificate.empty()) flags.emplace_back("--grpc-server-cert");
  if (!tls.key.empty()) flags.emplace_back("--grpc-server-key");
  if (!tls.root.empty()) flags.emplace_back("--grpc-root-cert");
  if (flags.empty()) return {};
  return {absl::StrCat("gRPC is not encrypted: ", absl::StrJoin(flags, ", "),
                       " without --grpc-use-ssl")};
}

}  // namespace reprise
