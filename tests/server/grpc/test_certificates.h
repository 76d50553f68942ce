// Certificates for tests, made by openssl.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/grpc/grpc_options.h"

namespace reprise::testing {

// A folder with an authority (ca.pem, ca.key) and what it signed (NAME.pem,
// NAME.key, for "localhost").
class TestCertificates {
 public:
  explicit TestCertificates(const std::string& name)
      : folder_(absl::StrCat(::testing::TempDir(), name, "/")) {
    EXPECT_EQ(std::system(absl::StrCat("mkdir -p ", folder_).c_str()), 0);
  }

  bool available() const {
    return std::system("openssl version >/dev/null 2>&1") == 0;
  }

  // A new one; what the old one signed is worth nothing to it.
  void MakeAuthority() const {
    Openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=authority "
        "-keyout ca.key -out ca.pem");
  }

  // `key` as openssl's -newkey and what goes with it.
  void Issue(
      const std::string& name,
      const std::string& key = "ec -pkeyopt ec_paramgen_curve:P-256") const {
    Openssl(absl::StrCat("req -newkey ", key,
                         " -nodes -subj /CN=localhost -keyout ", name,
                         ".key -out ", name, ".csr"));
    Write("san", "subjectAltName=DNS:localhost\n");
    Openssl(absl::StrCat("x509 -req -in ", name,
                         ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days "
                         "2 -extfile san -out ",
                         name, ".pem"));
  }

  // TLS with "server"'s files, looked at for every connection.
  TlsOptions Options() const {
    TlsOptions tls;
    tls.enabled = true;
    tls.certificate = Path("server.pem");
    tls.key = Path("server.key");
    tls.root = Path("ca.pem");
    tls.refresh = absl::ZeroDuration();
    return tls;
  }

  std::string Path(const std::string& name) const { return folder_ + name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file),
            std::istreambuf_iterator<char>()};
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  void Openssl(const std::string& command) const {
    ASSERT_EQ(std::system(absl::StrCat("cd ", folder_, " && openssl ", command,
                                       " >/dev/null 2>&1")
                              .c_str()),
              0)
        << command;
  }

 private:
  const std::string folder_;
};

}  // namespace reprise::testing
