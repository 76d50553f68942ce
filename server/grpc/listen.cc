#include "server/grpc/listen.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpcpp/resource_quota.h"
#include "runtime/base/file_descriptor.h"

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
  const FileDescriptor file(socket(found->ai_family, SOCK_STREAM, 0));
  const int on = 1;
  setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (!file.valid() ||
      bind(file.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(file.get(), 1) != 0) {
    reason = std::strerror(errno);
  }
  freeaddrinfo(found);
  return reason;
}

// Of "unix:/path" or "unix:///path"; nothing if it is no such target, or its
// path does not fit.
std::optional<sockaddr_un> UnixAddress(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "unix:")) return std::nullopt;
  absl::ConsumePrefix(&target, "//");
  sockaddr_un address{};
  if (target.size() >= sizeof(address.sun_path)) return std::nullopt;
  address.sun_family = AF_UNIX;
  target.copy(address.sun_path, target.size());
  return address;
}

// As BindError, for the socket `target`.
std::string UnixBindError(absl::string_view target) {
  const std::optional<sockaddr_un> address = UnixAddress(target);
  if (!address.has_value()) return std::strerror(ENAMETOOLONG);
  const FileDescriptor file(socket(AF_UNIX, SOCK_STREAM, 0));
  if (!file.valid() ||
      bind(file.get(), reinterpret_cast<const sockaddr*>(&*address),
           sizeof(*address)) != 0) {
    return std::strerror(errno);
  }
  unlink(address->sun_path);
  return "";
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
  const std::optional<sockaddr_un> address = UnixAddress(target);
  if (!address.has_value()) return absl::OkStatus();
  const FileDescriptor file(
      socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!file.valid()) return absl::OkStatus();
  const bool connected =
      connect(file.get(), reinterpret_cast<const sockaddr*>(&*address),
              sizeof(*address)) == 0;
  const int error = connected ? 0 : errno;
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
  if (IsUnixTarget(where)) {
    reason = UnixBindError(where);
  } else {
    std::string host = target.address;
    if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
      host = host.substr(1, host.size() - 2);
    }
    reason = BindError(host, target.port);
  }
  if (reason.empty()) {
    reason = "the library refuses it, though a socket could be bound there";
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot listen on ", where, " for ", target.purpose, ": ", reason));
}

}  // namespace reprise
