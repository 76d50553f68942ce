#include "server/grpc/key_material.h"

#include <string>

#include "tests/server/grpc/test_certificates.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class KeyMaterialTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!files_.available()) GTEST_SKIP() << "openssl is not installed";
    files_.MakeAuthority();
    files_.Issue("server");
    tls_ = files_.Options();
    tls_.mutual = true;
  }

  const TestCertificates files_{"key_material_test"};
  TlsOptions tls_;
};

TEST_F(KeyMaterialTest, GoodFilesAreReadAsTheyAre) {
  const auto read = ReadKeyMaterial(tls_);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->certificate, files_.Read("server.pem"));
  EXPECT_EQ(read->key, files_.Read("server.key"));
  EXPECT_EQ(read->root, files_.Read("ca.pem"));
  tls_.mutual = false;
  EXPECT_EQ(ReadKeyMaterial(tls_)->root, "");
}

TEST_F(KeyMaterialTest, EveryMissingFileIsNamed) {
  tls_.certificate = std::string("/no/such/cert");
  tls_.key.clear();
  tls_.root = files_.Path("");  // a folder
  EXPECT_THAT(
      ReadKeyMaterial(tls_),
      StatusIs(kInvalid, AllOf(HasSubstr("--grpc-server-cert: cannot read "
                                         "'/no/such/cert'"),
                               HasSubstr("--grpc-server-key is needed for TLS"),
                               HasSubstr("--grpc-root-cert: cannot read '"))));
}

TEST_F(KeyMaterialTest, WhatIsNoPemIsNamed) {
  for (const char* name : {"server.pem", "server.key", "ca.pem"}) {
    files_.Write(name, "-----BEGIN NOTHING-----\n");
  }
  EXPECT_THAT(ReadKeyMaterial(tls_),
              StatusIs(kInvalid,
                       AllOf(HasSubstr("server.pem' holds no PEM certificate"),
                             HasSubstr("server.key' holds no PEM key without a "
                                       "password"),
                             HasSubstr("--grpc-root-cert: "),
                             HasSubstr("ca.pem' holds no PEM certificate"))));
}

TEST_F(KeyMaterialTest, AKeyWithAPasswordIsRefusedAndNobodyIsAsked) {
  files_.Openssl(
      "pkey -aes256 -passout pass:secret -in server.key -out locked.key");
  tls_.key = files_.Path("locked.key");
  EXPECT_THAT(ReadKeyMaterial(tls_),
              StatusIs(kInvalid, HasSubstr("without a password")));
}

TEST_F(KeyMaterialTest, TheKeyMustBelongToTheCertificate) {
  files_.Issue("other");
  tls_.key = files_.Path("other.key");
  EXPECT_THAT(
      ReadKeyMaterial(tls_),
      StatusIs(kInvalid, HasSubstr("--grpc-server-key does not go with "
                                   "--grpc-server-cert: key values mismatch")));
}

TEST_F(KeyMaterialTest, AWeakKeyIsRefusedWithItsReason) {
  files_.Issue("weak", "rsa:1024");
  tls_.certificate = files_.Path("weak.pem");
  tls_.key = files_.Path("weak.key");
  EXPECT_THAT(ReadKeyMaterial(tls_),
              StatusIs(kInvalid, HasSubstr("key too small")));
}

}  // namespace
}  // namespace reprise::testing
