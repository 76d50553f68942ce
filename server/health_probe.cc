#include "server/health_probe.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/tls_certificate_verifier.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "proto/health.grpc.pb.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"
#include "server/grpc/status.h"

namespace reprise {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr char kHelp[] =
    R"(reprised health [ADDRESS] [SERVICE] [flags]: asks a server for its health

ADDRESS is 127.0.0.1:8001 without one; unix:/path is one, too. SERVICE is a
model, or readiness, or liveness; without one it is the process.

  --connect-timeout=SECONDS  [1]
  --rpc-timeout=SECONDS  [1]
  --tls                    the server speaks TLS; its certificate is checked
                           against this machine's authorities
  --tls-ca-cert=FILE       TLS, and the authority to check it against, PEM
  --tls-client-cert=FILE   TLS with a certificate of the client's, PEM
  --tls-client-key=FILE    its private key, PEM
  --help

Exit codes, as grpc_health_probe's: 0 serving; 1 bad arguments; 2 no connection;
3 the call failed; 4 not serving.
)";

// What the process returns.
enum ProbeResult {
  kServing = 0,
  kBadArguments = 1,
  kNoConnection = 2,
  kCallFailed = 3,
  kNotServing = 4,
};

struct Probe {
  std::string address = "127.0.0.1:8001";
  std::string service;
  double connect_timeout = 1;
  double rpc_timeout = 1;
  bool tls = false;
  std::string ca_cert;
  std::string client_cert;
  std::string client_key;
};

// Whether `name` is a flag that takes `value`; a file has a name.
bool SetFlag(absl::string_view name, const std::string& value, Probe& probe) {
  if (name == "connect-timeout") {
    return absl::SimpleAtod(value, &probe.connect_timeout);
  }
  if (name == "rpc-timeout") return absl::SimpleAtod(value, &probe.rpc_timeout);
  if (value.empty()) return false;
  probe.tls = probe.tls || name == "tls-ca-cert" || name == "tls-client-cert" ||
              name == "tls-client-key";
  if (name == "tls-ca-cert") {
    probe.ca_cert = value;
  } else if (name == "tls-client-cert") {
    probe.client_cert = value;
  } else if (name == "tls-client-key") {
    probe.client_key = value;
  } else {
    return false;
  }
  return true;
}

bool ParseArgs(std::span<const char* const> args, Probe& probe,
               std::string& fault) {
  std::vector<std::string> words;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view arg = args[i];
    if (arg == "--tls") {
      probe.tls = true;
    } else if (absl::ConsumePrefix(&arg, "--")) {
      std::pair<std::string, std::string> parts =
          absl::StrSplit(arg, absl::MaxSplits('=', 1));
      if (!absl::StrContains(arg, "=") && i + 1 < args.size()) {
        parts.second = args[++i];
      }
      if (!SetFlag(parts.first, parts.second, probe)) {
        fault = absl::StrCat("bad flag --", parts.first);
        return false;
      }
    } else {
      words.emplace_back(arg);
    }
  }
  if (probe.client_cert.empty() != probe.client_key.empty()) {
    fault = "--tls-client-cert and --tls-client-key go together";
    return false;
  }
  if (words.size() > 2) {
    fault = "expected [ADDRESS] [SERVICE]";
    return false;
  }
  if (!words.empty()) probe.address = words[0];
  if (words.size() == 2) probe.service = words[1];
  if (!IsUtf8(probe.service)) {
    fault = "a SERVICE is UTF-8";
    return false;
  }
  return true;
}

// What the file `path` of `flag` holds; nothing without one.
absl::StatusOr<std::string> ReadPem(absl::string_view flag,
                                    const std::string& path) {
  if (path.empty()) return std::string();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.good()) text << file.rdbuf();
  std::string reason;
  if (!file.good() || text.fail()) {
    reason = errno == 0 ? "it is empty" : std::strerror(errno);
  } else if (!absl::StrContains(text.str(), "-----BEGIN ")) {
    reason = "it is not PEM";
  }
  if (reason.empty()) return text.str();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, "=", path, ": ", reason));
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const Probe& probe) {
  if (!probe.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  REPRISE_ASSIGN_OR_RETURN(ssl.pem_root_certs,
                           ReadPem("--tls-ca-cert", probe.ca_cert));
  REPRISE_ASSIGN_OR_RETURN(ssl.pem_cert_chain,
                           ReadPem("--tls-client-cert", probe.client_cert));
  REPRISE_ASSIGN_OR_RETURN(ssl.pem_private_key,
                           ReadPem("--tls-client-key", probe.client_key));
  return grpc::SslCredentials(ssl);
}

std::chrono::system_clock::time_point After(const Clock& clock,
                                            double seconds) {
  return absl::ToChronoTime(clock.ToWall(clock.Now() + absl::Seconds(seconds)));
}

// Accepts every certificate, and says that there was one.
class CertificateWatch
    : public grpc::experimental::ExternalCertificateVerifier {
 public:
  explicit CertificateWatch(std::shared_ptr<std::atomic<bool>> seen)
      : seen_(std::move(seen)) {}

  bool Verify(
      grpc::experimental::TlsCustomVerificationCheckRequest* /*request*/,
      std::function<void(grpc::Status)> /*callback*/,
      grpc::Status* sync_status) override {
    seen_->store(true);
    *sync_status = grpc::Status::OK;
    return true;
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*
              /*request*/) override {}

 private:
  const std::shared_ptr<std::atomic<bool>> seen_;
};

// Whether there is TLS behind `address`, whoever's certificate it has, and even
// if it refuses us: with TLS 1.3 it shows its own before it misses ours.
bool SpeaksTls(const std::string& address,
               std::chrono::system_clock::time_point until) {
  const auto seen = std::make_shared<std::atomic<bool>>(false);
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      grpc::experimental::ExternalCertificateVerifier::Create<CertificateWatch>(
          seen));
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateChannel(address, grpc::experimental::TlsCredentials(options));
  while (!seen->load()) {
    const grpc_connectivity_state state = channel->GetState(true);
    if (!channel->WaitForStateChange(state, until)) break;
  }
  return seen->load();
}

}  // namespace

int ProbeHealth(std::span<const char* const> args, const Clock& clock,
                std::ostream& out, std::ostream& err) {
  for (const absl::string_view arg : args) {
    if (arg != "--help" && arg != "-h") continue;
    out << kHelp;
    return kServing;
  }
  Probe probe;
  std::string fault;
  if (!ParseArgs(args, probe, fault)) {
    err << "error: " << fault << "\n";
    return kBadArguments;
  }
  const auto credentials = CredentialsOf(probe);
  if (!credentials.ok()) {
    err << "error: " << credentials.status().message() << "\n";
    return kBadArguments;
  }
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateChannel(probe.address, *credentials);
  if (!channel->WaitForConnected(After(clock, probe.connect_timeout))) {
    err << "error: cannot connect to " << probe.address << " within "
        << probe.connect_timeout << " s\n";
    if (!probe.tls &&
        SpeaksTls(probe.address, After(clock, probe.connect_timeout))) {
      err << "the server speaks TLS: say --tls or --tls-ca-cert=FILE, and "
             "--tls-client-cert and --tls-client-key if it asks for them\n";
    }
    return kNoConnection;
  }
  grpc::ClientContext rpc;
  rpc.set_deadline(After(clock, probe.rpc_timeout));
  HealthCheckRequest request;
  request.set_service(probe.service);
  HealthCheckResponse response;
  const grpc::Status status = grpc::health::v1::Health::NewStub(channel)->Check(
      &rpc, request, &response);
  if (!status.ok()) {
    err << "error: " << FromGrpc(status) << "\n";
    return kCallFailed;
  }
  out << "status: "
      << HealthCheckResponse::ServingStatus_Name(response.status()) << "\n";
  return response.status() == HealthCheckResponse::SERVING ? kServing
                                                           : kNotServing;
}

}  // namespace reprise
