#include "client/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "client/files.h"
#include "client/status.h"

namespace reprise::client {
namespace {

template <typename Type, void (*Free)(Type*)>
struct Deleter {
  void operator()(Type* object) const { Free(object); }
};
void FreeBio(BIO* bio) { BIO_free(bio); }

using Bio = std::unique_ptr<BIO, Deleter<BIO, FreeBio>>;
using Certificate = std::unique_ptr<X509, Deleter<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY, EVP_PKEY_free>>;

// Instead of asking the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/,
               void* /*data*/) {
  return 0;
}

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate FirstCertificate(const std::string& pem) {
  Certificate certificate(
      PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  return certificate;
}

Key ParseKey(const std::string& pem) {
  Key key(
      PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  return key;
}

}  // namespace

absl::StatusOr<std::string> ReadCertificates(const std::string& path) {
  CLIENT_ASSIGN_OR_RETURN(std::string pem, ReadFile(path));
  if (FirstCertificate(pem) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " holds no PEM certificate"));
  }
  return pem;
}

absl::StatusOr<std::string> ReadKey(const std::string& path,
                                    const std::string& certificates,
                                    const std::string& certificates_path) {
  CLIENT_ASSIGN_OR_RETURN(std::string pem, ReadFile(path));
  const Key key = ParseKey(pem);
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " holds no PEM key without a password"));
  }
  const Certificate certificate = FirstCertificate(certificates);
  const bool pair = certificate != nullptr &&
                    X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!pair) {
    return absl::InvalidArgumentError(
        absl::StrCat("the key in ", path,
                     " does not belong to the certificate "
                     "in ",
                     certificates_path));
  }
  return pem;
}

}  // namespace reprise::client
