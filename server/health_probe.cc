#include "server/health_probe.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Whether `name` is a flag that takes `value`.
bool SetFlag(absl::string_view name, const std::string& value, Probe& probe) {
  if (name == "connect-timeout") {
    return absl::SimpleAtod(value, &probe.connect_timeout);
  }
  if (name == "rpc-timeout") return absl::SimpleAtod(value, &probe.rpc_timeout);
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
  if (words.size() > 2) {
    fault = "expected [ADDRESS] [SERVICE]";
    return false;
  }
  if (!words.empty()) probe.address = words[0];
  if (words.size() == 2) probe.service = words[1];
  return true;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const Probe& probe) {
  if (!probe.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  if (!probe.ca_cert.empty()) ssl.pem_root_certs = ReadAll(probe.ca_cert);
  if (!probe.client_cert.empty()) {
    ssl.pem_cert_chain = ReadAll(probe.client_cert);
    ssl.pem_private_key = ReadAll(probe.client_key);
  }
  return grpc::SslCredentials(ssl);
}

std::chrono::system_clock::time_point After(const Clock& clock,
                                            double seconds) {
  return absl::ToChronoTime(clock.ToWall(clock.Now() + absl::Seconds(seconds)));
}

// Whether there is TLS behind `address`, whoever's certificate it has.
bool SpeaksTls(const std::string& address,
               std::chrono::system_clock::time_point until) {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
  return grpc::CreateChannel(address,
                             grpc::experimental::TlsCredentials(options))
      ->WaitForConnected(until);
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
  const std::shared_ptr<grpc::Channel> channel =
      grpc::CreateChannel(probe.address, CredentialsOf(probe));
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
