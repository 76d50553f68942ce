#include "server/grpc/listen.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

TEST(ListenTest, TargetsAreWrittenAsGrpcReadsThem) {
  EXPECT_EQ(TargetOf("127.0.0.1", 1), "127.0.0.1:1");
  EXPECT_EQ(TargetOf("::", 1), "[::]:1");
  EXPECT_EQ(TargetOf("[::1]", 1), "[::1]:1");
  EXPECT_EQ(TargetOf("unix:/tmp/s", 1), "unix:/tmp/s");
}

TEST(ListenTest, TheReasonIsFoundByTrying) {
  EXPECT_THAT(WhyNotListening({"192.0.2.1", 8001, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot listen on 192.0.2.1:8001 for gRPC: "
                                 "Cannot assign requested address")));
  EXPECT_THAT(WhyNotListening({"unix:/no/such/folder/s", 0, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       "cannot listen on unix:/no/such/folder/s for gRPC: No "
                       "such file or directory"));
  const std::string file = ::testing::TempDir() + "listen_test.txt";
  std::ofstream(file) << "no socket";
  EXPECT_THAT(WhyNotListening({"unix:" + file, 0, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("for gRPC: Address already in use")));
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ListenTest, ThereIsAlwaysAReason) {
  EXPECT_THAT(WhyNotListening({"127.0.0.1", 0, "metrics"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("127.0.0.1:0 for metrics: the library")));
}

TEST(ListenTest, TryingLeavesNoSocketBehind) {
  const std::string path = ::testing::TempDir() + "listen_test_free.sock";
  EXPECT_THAT(WhyNotListening({"unix:" + path, 0, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(std::filesystem::exists(path));
}

class Socket {
 public:
  explicit Socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    unlink(path.c_str());
    bound_ =
        bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Socket() { close(fd_); }
  bool bound() const { return bound_; }
  void Listen() const { listen(fd_, 0); }

 private:
  const int fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
  bool bound_ = false;
};

TEST(ListenTest, ASocketIsFreeUnlessSomebodyListens) {
  const std::string path = ::testing::TempDir() + "listen_test.sock";
  EXPECT_THAT(CheckSocketIsFree("unix:/no/such/socket"), IsOk());
  EXPECT_THAT(CheckSocketIsFree("127.0.0.1:1"), IsOk());
  {
    const Socket socket(path);
    ASSERT_TRUE(socket.bound());
    EXPECT_THAT(CheckSocketIsFree("unix:" + path), IsOk());
    socket.Listen();
    // Also when so many wait there that no more fit.
    for (int i = 0; i < 10; ++i) {
      EXPECT_THAT(CheckSocketIsFree("unix:" + path),
                  StatusIs(absl::StatusCode::kUnavailable,
                           HasSubstr("another process serves it")));
    }
    EXPECT_THAT(CheckSocketIsFree("unix://" + path),
                StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_THAT(CheckSocketIsFree("unix:" + path), IsOk());  // left behind
}

}  // namespace
}  // namespace reprise::testing
