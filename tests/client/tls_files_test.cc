#include "client/tls_files.h"

#include "client/files.h"
#include "tests/client/test_certificate.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::IsOkAndHolds;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/tls_files_test_" + name;
  EXPECT_THAT(WriteFile(path, text), IsOk());
  return path;
}

TEST(TlsFilesTest, ReadsWhatFits) {
  const std::string crt = Write("good.crt", testing::kCertificate);
  const std::string key = Write("good.key", testing::kKey);
  EXPECT_THAT(ReadCertificates(crt),
              IsOkAndHolds(std::string(testing::kCertificate)));
  EXPECT_THAT(ReadKey(key, testing::kCertificate, crt),
              IsOkAndHolds(std::string(testing::kKey)));
}

TEST(TlsFilesTest, NamesTheFileThatIsNoCertificate) {
  const std::string key = Write("ca.key", testing::kKey);
  EXPECT_THAT(ReadCertificates(key),
              StatusIs(kInvalid, key + " holds no PEM certificate"));
  EXPECT_THAT(ReadCertificates(Write("empty.crt", "")), StatusIs(kInvalid));
  EXPECT_THAT(ReadCertificates("/no/such.crt"), StatusIs(kNotFound));
}

TEST(TlsFilesTest, NamesTheFileThatIsNoKey) {
  const std::string crt = Write("as.key", testing::kCertificate);
  EXPECT_THAT(ReadKey(crt, testing::kCertificate, crt),
              StatusIs(kInvalid, crt + " holds no PEM key without a password"));
  EXPECT_THAT(ReadKey("/no/such.key", testing::kCertificate, crt),
              StatusIs(kNotFound));
}

TEST(TlsFilesTest, AKeyOfAnotherCertificateIsRefused) {
  const std::string key = Write("other.key", testing::kOtherKey);
  EXPECT_THAT(ReadKey(key, testing::kCertificate, "my.crt"),
              StatusIs(kInvalid, "the key in " + key +
                                     " does not belong to the certificate in "
                                     "my.crt"));
}

}  // namespace
}  // namespace reprise::client
