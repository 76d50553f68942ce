#include "server/metrics_http.h"

#include <civetweb.h>
#include <netdb.h>
#include <sys/socket.h>

#include <sstream>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "prometheus/text_serializer.h"
#include "runtime/base/file_descriptor.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread.h"
#include "server/grpc/listen.h"

namespace reprise {
namespace {

constexpr char kTextFormat[] = "text/plain; version=0.0.4; charset=utf-8";

struct Response {
  int code = 200;
  const char* type = "text/plain; charset=utf-8";
  std::string body;
};

const char* ReasonOf(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Not Found";
  }
}

std::string Scrape(const MetricsHttp::Pages& pages) {
  std::vector<prometheus::MetricFamily> families;
  for (const prometheus::Collectable* source : pages.metrics) {
    for (prometheus::MetricFamily& family : source->Collect()) {
      families.push_back(std::move(family));
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

Response Probe(bool ok) {
  Response response;
  response.code = ok ? 200 : 503;
  response.body = ok ? "ok\n" : "not ready\n";
  return response;
}

Response Answer(const MetricsHttp::Pages& pages, absl::string_view path) {
  if (path == "/metrics") return {200, kTextFormat, Scrape(pages)};
  if (path == "/livez") return Probe(pages.live());
  if (path == "/readyz") return Probe(pages.ready());
  if (path == "/") return {200, "text/html; charset=utf-8", pages.status()};
  return {404, "text/plain; charset=utf-8",
          "pages: / /metrics /livez /readyz\n"};
}

// Its complaints: why it does not listen is found out otherwise.
int Silence(const mg_connection* /*connection*/, const char* /*message*/) {
  return 1;
}

// Tries to connect, and says nothing.
void Knock(absl::string_view address, int port) {
  absl::ConsumePrefix(&address, "[");
  absl::ConsumeSuffix(&address, "]");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(std::string(address).c_str(), absl::StrCat(port).c_str(),
                  &hints, &found) != 0) {
    return;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const FileDescriptor file(
        socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!file.valid()) continue;
    static_cast<void>(connect(file.get(), at->ai_addr, at->ai_addrlen));
  }
  freeaddrinfo(found);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsHttp>> MetricsHttp::Create(
    const MetricsOptions& options, Pages pages) {
  auto http =
      absl::WrapUnique(new MetricsHttp(options.address, std::move(pages)));
  REPRISE_RETURN_IF_ERROR(http->Listen(options.port));
  return http;
}

absl::Status MetricsHttp::Listen(int port) {
  const std::string target = TargetOf(address_, port);
  // A connection holds its thread from the moment that it is accepted, though
  // it may never ask: threads for many such, and not for long.
  const char* settings[] = {"listening_ports",
                            target.c_str(),
                            "num_threads",
                            "32",
                            "request_timeout_ms",
                            "2000",
                            "enable_keep_alive",
                            "no",
                            "enable_directory_listing",
                            "no",
                            nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = Silence;
  context_ = mg_start(&callbacks, nullptr, settings);
  if (context_ == nullptr) {
    return WhyNotListening({address_, port, "metrics"});
  }
  mg_set_request_handler(context_, "/", Handle, this);
  mg_server_port ports[1] = {};
  if (mg_get_server_ports(context_, 1, ports) == 1) port_ = ports[0].port;
  return absl::OkStatus();
}

MetricsHttp::~MetricsHttp() {
  if (context_ == nullptr) return;
  // The thread that accepts looks every two seconds, and at each connection,
  // whether it is to end.
  absl::Notification stopped;
  const Thread stop("metrics-stop", [&] {
    mg_stop(context_);
    stopped.Notify();
  });
  while (!stopped.WaitForNotificationWithTimeout(absl::Milliseconds(10))) {
    Knock(address_, port_);
  }
}

int MetricsHttp::Handle(mg_connection* connection, void* self) {
  const Pages& pages = static_cast<const MetricsHttp*>(self)->pages_;
  const mg_request_info* const request = mg_get_request_info(connection);
  const absl::string_view method = request->request_method;
  const bool head = method == "HEAD";
  Response response;
  if (head || method == "GET") {
    response = Answer(pages, request->local_uri);
  } else {
    response.code = 405;
    response.body = "only GET and HEAD\n";
  }
  const std::string header =
      absl::StrCat("HTTP/1.1 ", response.code, " ", ReasonOf(response.code),
                   "\r\nContent-Type: ", response.type,
                   "\r\nContent-Length: ", response.body.size(),
                   "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
  mg_write(connection, header.data(), header.size());
  if (!head) mg_write(connection, response.body.data(), response.body.size());
  return response.code;
}

}  // namespace reprise
