#include "server/grpc/credentials.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "runtime/base/status_macros.h"

namespace reprise {
namespace {

void CheckFile(absl::string_view flag, const std::string& path,
               std::vector<std::string>* faults) {
  if (path.empty()) {
    faults->push_back(absl::StrCat(flag, " is needed for TLS"));
  } else if (!std::ifstream(path).good()) {
    faults->push_back(absl::StrCat(flag, ": cannot read '", path, "'"));
  }
}

absl::Status CheckFiles(const TlsOptions& options) {
  std::vector<std::string> faults;
  CheckFile("--grpc-server-cert", options.certificate, &faults);
  CheckFile("--grpc-server-key", options.key, &faults);
  if (options.mutual) CheckFile("--grpc-root-cert", options.root, &faults);
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const TlsOptions& options) {
  if (!options.enabled) return grpc::InsecureServerCredentials();
  REPRISE_RETURN_IF_ERROR(CheckFiles(options));
  const auto refresh = static_cast<unsigned>(
      std::max<int64_t>(1, absl::ToInt64Seconds(options.refresh)));
  grpc::experimental::TlsServerCredentialsOptions tls(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          options.key, options.certificate,
          options.mutual ? options.root : std::string(), refresh));
  tls.watch_identity_key_cert_pairs();
  if (options.mutual) {
    tls.watch_root_certs();
    tls.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

}  // namespace reprise
