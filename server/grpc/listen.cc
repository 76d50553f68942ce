#include "server/grpc/listen.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpcpp/resource_quota.h"

namespace reprise {
namespace {

int Millis(absl::Duration duration) {
  return static_cast<int>(
      std::min<int64_t>(INT_MAX, absl::ToInt64Milliseconds(duration)));
}

// The reason why `host`:`port` cannot be bound; empty if it can.
std::string BindError(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return gai_strerror(error);
  std::string reason;
  const int fd = socket(found->ai_family, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(fd, 1) != 0) {
    reason = std::strerror(errno);
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return reason;
}

}  // namespace

bool IsUnixTarget(absl::string_view target) {
  return absl::StartsWith(target, "unix:");
}

std::string TargetOf(absl::string_view address, int port) {
  if (IsUnixTarget(address)) return std::string(address);
  const bool is_v6 =
      absl::StrContains(address, ":") && !absl::StartsWith(address, "[");
  return is_v6 ? absl::StrCat("[", address, "]:", port)
               : absl::StrCat(address, ":", port);
}

absl::Status CheckSocketIsFree(const std::string& target) {
  absl::string_view path = target;
  if (!absl::ConsumePrefix(&path, "unix:")) return absl::OkStatus();
  absl::ConsumePrefix(&path, "//");  // unix:///path
  sockaddr_un address{};
  if (path.size() >= sizeof(address.sun_path)) return absl::OkStatus();
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::OkStatus();
  const bool connected =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  const int error = connected ? 0 : errno;
  close(fd);
  // EAGAIN: so many connections wait there that ours could not.
  if (!connected && error != EAGAIN && error != EACCES) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "cannot listen on ", target, " for gRPC: ",
      error == EACCES ? std::strerror(error) : "another process serves it"));
}

void ApplyOptions(const GrpcOptions& options, grpc::ServerBuilder& builder) {
  const int bytes =
      static_cast<int>(std::min<int64_t>(INT_MAX, options.max_message_bytes));
  builder.SetMaxReceiveMessageSize(bytes);
  builder.SetMaxSendMessageSize(bytes);
  grpc::ResourceQuota quota("reprised");
  quota.Resize(static_cast<size_t>(options.memory_bytes));
  builder.SetResourceQuota(quota);
  const KeepaliveOptions& keepalive = options.keepalive;
  const auto set = [&builder](const char* name, int value) {
    builder.AddChannelArgument(name, value);
  };
  // Two daemons on one port would share its connections unnoticed.
  set(GRPC_ARG_ALLOW_REUSEPORT, 0);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, Millis(keepalive.time));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Millis(keepalive.timeout));
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS,
      keepalive.permit_without_calls ? 1 : 0);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, keepalive.max_pings_without_data);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      Millis(keepalive.min_receive_ping_interval));
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, keepalive.max_ping_strikes);
  if (keepalive.max_connection_age != absl::InfiniteDuration()) {
    set(GRPC_ARG_MAX_CONNECTION_AGE_MS, Millis(keepalive.max_connection_age));
  }
  if (keepalive.max_connection_age_grace != absl::InfiniteDuration()) {
    set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
        Millis(keepalive.max_connection_age_grace));
  }
  if (options.max_concurrent_streams > 0) {
    set(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  }
}

absl::Status WhyNotListening(const ListenTarget& target) {
  const std::string where = TargetOf(target.address, target.port);
  std::string reason;
  if (!IsUnixTarget(where)) {
    std::string host = target.address;
    if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
      host = host.substr(1, host.size() - 2);
    }
    reason = BindError(host, target.port);
  }
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", where, " for ", target.purpose,
                   reason.empty() ? "" : ": ", reason));
}

}  // namespace reprise
