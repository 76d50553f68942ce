#include "server/grpc/key_material.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace reprise {
namespace {

template <typename Type, void (*Free)(Type*)>
struct Deleter {
  void operator()(Type* object) const { Free(object); }
};
void FreeBio(BIO* bio) { BIO_free(bio); }

using Bio = std::unique_ptr<BIO, Deleter<BIO, FreeBio>>;
using Certificate = std::unique_ptr<X509, Deleter<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY, EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX, SSL_CTX_free>>;

// Instead of asking the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/,
               void* /*data*/) {
  return 0;
}

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate ParseCertificate(const std::string& pem) {
  return Certificate(
      PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassword, nullptr));
}

Key ParseKey(const std::string& pem) {
  return Key(
      PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, NoPassword, nullptr));
}

// The last thing that OpenSSL complained about on this thread.
std::string Complaint() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  return text == nullptr ? "unknown reason" : text;
}

struct File {
  const char* flag;
  const std::string& path;
};

// Empty, and a fault, if it cannot be read.
std::string Read(const File& file, std::vector<std::string>* faults) {
  if (file.path.empty()) {
    faults->push_back(absl::StrCat(file.flag, " is needed for TLS"));
    return "";
  }
  std::ifstream stream(file.path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream.good() || text.str().empty()) {
    faults->push_back(
        absl::StrCat(file.flag, ": cannot read '", file.path, "'"));
    return "";
  }
  return text.str();
}

// Whether OpenSSL would serve with them; what it does not like otherwise.
std::string WhyNotServed(X509* certificate, EVP_PKEY* key) {
  const Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Complaint();
  if (SSL_CTX_use_certificate(context.get(), certificate) != 1) {
    return absl::StrCat("--grpc-server-cert: ", Complaint());
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return absl::StrCat(
        "--grpc-server-key does not go with --grpc-server-cert: ", Complaint());
  }
  return "";
}

void CheckPair(const TlsOptions& options, const KeyMaterial& read,
               std::vector<std::string>* faults) {
  ERR_clear_error();
  const Certificate certificate = ParseCertificate(read.certificate);
  if (certificate == nullptr) {
    faults->push_back(absl::StrCat("--grpc-server-cert: '", options.certificate,
                                   "' holds no PEM certificate"));
  }
  const Key key = ParseKey(read.key);
  if (key == nullptr) {
    faults->push_back(absl::StrCat("--grpc-server-key: '", options.key,
                                   "' holds no PEM key without a password"));
  }
  if (certificate == nullptr || key == nullptr) return;
  const std::string why = WhyNotServed(certificate.get(), key.get());
  if (!why.empty()) faults->push_back(why);
}

}  // namespace

absl::StatusOr<KeyMaterial> ReadKeyMaterial(const TlsOptions& options) {
  std::vector<std::string> faults;
  KeyMaterial read;
  read.certificate = Read({"--grpc-server-cert", options.certificate}, &faults);
  read.key = Read({"--grpc-server-key", options.key}, &faults);
  if (options.mutual) {
    read.root = Read({"--grpc-root-cert", options.root}, &faults);
  }
  if (faults.empty()) {
    CheckPair(options, read, &faults);
    if (options.mutual && ParseCertificate(read.root) == nullptr) {
      faults.push_back(absl::StrCat("--grpc-root-cert: '", options.root,
                                    "' holds no PEM certificate"));
    }
    ERR_clear_error();
  }
  if (faults.empty()) return read;
  return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

}  // namespace reprise
