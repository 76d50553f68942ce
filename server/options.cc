#include "server/options.h"

#include <climits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace reprise {
namespace {

using Faults = std::vector<std::string>;

// Of sockaddr_un, with its terminator.
constexpr size_t kMaxUnixPath = 107;

void Append(std::vector<std::string> more, Faults* faults) {
  for (std::string& fault : more) faults->push_back(std::move(fault));
}

struct Range {
  int64_t least;
  int64_t most;
};

// What --help says of the flags, too.
constexpr Range kThreads{1, 1024};
constexpr Range kThreadsOrAuto{0, 1024};
constexpr Range kPostedCalls{1, 65536};
constexpr Range kPorts{0, 65535};
constexpr Range kNotNegative{0, INT_MAX};
constexpr Range kPercent{1, 100};

void CheckRange(absl::string_view flag, int64_t value, Range range,
                Faults* faults) {
  if (value >= range.least && value <= range.most) return;
  faults->push_back(absl::StrCat(flag, " must be in ", range.least, "..",
                                 range.most, ", got ", value));
}

// The sizes of messages are ints in gRPC.
void CheckMessages(const GrpcOptions& grpc, Faults* faults) {
  if (grpc.max_message_bytes < 1024) {
    faults->push_back(
        absl::StrCat("--grpc-max-message-bytes must be at least 1024, got ",
                     grpc.max_message_bytes));
  } else if (grpc.max_message_bytes > INT_MAX) {
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

// Of "unix:/path" or "unix:///path"; empty for other addresses, too.
absl::string_view UnixPath(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return "";
  absl::ConsumePrefix(&address, "//");
  return address;
}

// Debian builds CivetWeb, which serves the pages, without IPv6.
void CheckMetricsAddress(const MetricsOptions& metrics, Faults* faults) {
  if (!metrics.enabled || !absl::StrContains(metrics.address, ':')) return;
  faults->push_back(
      absl::StrCat("--metrics-address must be a host name or an IPv4 address, "
                   "0.0.0.0 for all, got '",
                   metrics.address,
                   "': the HTTP library has no IPv6 and no Unix sockets, and "
                   "the port is --metrics-port"));
}

void CheckAddresses(const ServerOptions& options, Faults* faults) {
  const std::string& address = options.grpc.address;
  CheckRange("--grpc-port", options.grpc.port, kPorts, faults);
  CheckRange("--metrics-port", options.metrics.port, kPorts, faults);
  CheckMetricsAddress(options.metrics, faults);
  if (absl::StartsWith(address, "unix:") && UnixPath(address).empty()) {
    faults->push_back(absl::StrCat("--grpc-address=", address,
                                   " has no path; say unix:/path"));
  }
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

void CheckCalls(const GrpcOptions& grpc, Faults* faults) {
  CheckRange("--grpc-infer-thread-count", grpc.threads, kThreads, faults);
  CheckRange("--grpc-infer-posted-calls", grpc.posted_calls, kPostedCalls,
             faults);
  CheckRange("--grpc-load-threads", grpc.load_threads, kThreads, faults);
  CheckRange("--grpc-max-concurrent-streams", grpc.max_concurrent_streams,
             kNotNegative, faults);
}

void CheckKeepalive(const KeepaliveOptions& keepalive, Faults* faults) {
  CheckRange("--grpc-http2-max-pings-without-data",
             keepalive.max_pings_without_data, kNotNegative, faults);
  CheckRange("--grpc-http2-max-ping-strikes", keepalive.max_ping_strikes,
             kNotNegative, faults);
  // Longer ones are cut to what gRPC takes.
  const auto positive = [&](absl::string_view flag, absl::Duration time) {
    if (time >= absl::Milliseconds(1)) return;
    faults->push_back(absl::StrCat(flag, " must be at least 1, got ",
                                   absl::ToDoubleMilliseconds(time)));
  };
  positive("--grpc-keepalive-time", keepalive.time);
  positive("--grpc-keepalive-timeout", keepalive.timeout);
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
  CheckCalls(options.grpc, &faults);
  CheckKeepalive(options.grpc.keepalive, &faults);
  CheckRange("--cpu-threads", options.cpu_threads, kThreadsOrAuto, &faults);
  CheckRange("--load-share-percent", options.load_share_percent, kPercent,
             &faults);
  CheckRange("--log-verbose", options.log.verbose_level, kNotNegative, &faults);
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
