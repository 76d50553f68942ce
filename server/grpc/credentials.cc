#include "server/grpc/credentials.h"

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "server/grpc/key_material.h"

namespace reprise {
namespace {

// gRPC asks for certificates whenever a connection begins. Its own provider
// that watches files takes a new certificate without its key, and tells nobody.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  ReloadedCredentials(const TlsOptions& options, KeyMaterial material,
                      Clock& clock)
      : options_(options),
        clock_(clock),
        material_(std::move(material)),
        looked_(clock.Now()) {
    core_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            options.mutual
                ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            Fetch, this));
  }
  ~ReloadedCredentials() override { grpc_server_credentials_release(core_); }

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>& /*unused*/) override {
  }

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), core_);
  }

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<ReloadedCredentials*>(self)->FetchNow(config);
  }

  grpc_ssl_certificate_config_reload_status FetchNow(
      grpc_ssl_server_certificate_config** config) ABSL_LOCKS_EXCLUDED(mu_) {
    const News news = Look();
    if (!news.complaint.empty()) {
      LogWarning(absl::StrCat("certificate not reloaded, the old one serves: ",
                              news.complaint));
    }
    if (!news.changed) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    if (!news.first) LogInfo("certificate reloaded");
    const grpc_ssl_pem_key_cert_pair pair{news.material.key.c_str(),
                                          news.material.certificate.c_str()};
    // gRPC wants authorities even if no client is asked for a certificate.
    const std::string& root =
        options_.mutual ? news.material.root : news.material.certificate;
    *config = grpc_ssl_server_certificate_config_create(root.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  // What gRPC does not know yet, and what is to be said.
  struct News {
    bool changed = false;
    bool first = false;
    KeyMaterial material;
    std::string complaint;
  };

  News Look() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (!std::exchange(given_, true)) return {true, true, material_, ""};
    if (clock_.Now() - looked_ < options_.refresh) return {};
    looked_ = clock_.Now();
    absl::StatusOr<KeyMaterial> read = ReadKeyMaterial(options_);
    if (!read.ok()) {
      std::string complaint(read.status().message());
      if (complaint == complaint_) return {};  // it has been said
      complaint_ = complaint;
      return {false, false, {}, std::move(complaint)};
    }
    complaint_.clear();
    if (*read == material_) return {};
    material_ = *std::move(read);
    return {true, false, material_, ""};
  }

  const TlsOptions options_;
  Clock& clock_;
  grpc_server_credentials* core_ = nullptr;  // owned

  absl::Mutex mu_;
  bool given_ ABSL_GUARDED_BY(mu_) = false;
  KeyMaterial material_ ABSL_GUARDED_BY(mu_);
  std::string complaint_ ABSL_GUARDED_BY(mu_);
  absl::Time looked_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const TlsOptions& options, Clock& clock) {
  if (!options.wanted()) return grpc::InsecureServerCredentials();
  REPRISE_ASSIGN_OR_RETURN(KeyMaterial material, ReadKeyMaterial(options));
  return std::make_shared<ReloadedCredentials>(options, std::move(material),
                                               clock);
}

}  // namespace reprise
