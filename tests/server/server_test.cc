#include "server/server.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "grpcpp/create_channel.h"
#include "proto/grpc_service.grpc.pb.h"
#include "runtime/base/thread.h"
#include "runtime/device/fault.h"
#include "tests/server/grpc/request_builder.h"
#include "tests/server/http_ask.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using inference::GRPCInferenceService;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A daemon in process, on free ports, with a repository of one model: "add"
// gives the sum of INPUT0 and INPUT1.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    const std::string folder = ::testing::TempDir() + "server_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/add/1");
    OnnxBuilder model(/*opset=*/13);
    model.Input("INPUT0", {"N", 4})
        .Input("INPUT1", {"N", 4})
        .Node("Add", {"INPUT0", "INPUT1"}, {"OUTPUT0"})
        .Output("OUTPUT0", {"N", 4});
    std::ofstream(folder + "/add/1/model.onnx", std::ios::binary)
        << model.Bytes();
    options_.models.repositories = {folder};
    options_.grpc.port = 0;
    options_.metrics.port = 0;
    options_.lame_duck = absl::ZeroDuration();
    options_.device = DeviceChoice::kCpu;
  }

  void Start(const DeviceWrapper& wrap = nullptr) {
    auto server = Server::Create(options_, RealClock::Get(), wrap);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    server_->OnLost([this] { ++lost_; });
    absl::Notification loaded;
    server_->Start([&loaded](const absl::Status& status) {
      EXPECT_THAT(status, IsOk());
      loaded.Notify();
    });
    loaded.WaitForNotification();
    stub_ = GRPCInferenceService::NewStub(grpc::CreateChannel(
        server_->grpc_target(), grpc::InsecureChannelCredentials()));
  }

  grpc::Status Add(std::string* sum) { return Add(*stub_, sum); }
  static grpc::Status Add(GRPCInferenceService::Stub& stub, std::string* sum) {
    inference::ModelInferRequest request;
    request.set_model_name("add");
    for (const char* name : {"INPUT0", "INPUT1"}) {
      AddInput(request, name, "FP32", {1, 4});
      request.add_raw_input_contents(Raw<float>({1, 2, 3, 4}));
    }
    inference::ModelInferResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub.ModelInfer(&context, request, &response);
    if (status.ok()) *sum = response.raw_output_contents(0);
    return status;
  }

  int lost_ = 0;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<GRPCInferenceService::Stub> stub_;
};

TEST_F(ServerTest, AModelIsServedFromFileToReply) {
  Start();
  std::string sum;
  const grpc::Status status = Add(&sum);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(sum, Raw<float>({2, 4, 6, 8}));
  inference::ServerReadyResponse ready;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ServerReady(&context, {}, &ready).ok());
  EXPECT_TRUE(ready.ready());
  EXPECT_TRUE(server_->Drain());
  EXPECT_EQ(Add(&sum).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(Ask(server_->metrics_port(), "GET /readyz"),
              HasSubstr("not ready"));
}

TEST_F(ServerTest, ALostDeviceEndsHealthAndEveryCall) {
  FakeDevice fake(RealClock::Get());
  Start([&fake](const DeviceWorker::DeviceFactory&) { return fake.factory(); });
  std::string sum;
  ASSERT_TRUE(Add(&sum).ok());
  fake.FailSubmit(AsDeviceFault(absl::UnavailableError("an illegal address")));
  const grpc::Status status = Add(&sum);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("an illegal address"));
  EXPECT_EQ(lost_, 1);
  EXPECT_TRUE(server_->lost());
  inference::ServerLiveResponse live;
  inference::ServerReadyResponse ready;
  grpc::ClientContext first;
  grpc::ClientContext second;
  ASSERT_TRUE(stub_->ServerLive(&first, {}, &live).ok());
  ASSERT_TRUE(stub_->ServerReady(&second, {}, &ready).ok());
  EXPECT_FALSE(live.live());
  EXPECT_FALSE(ready.ready());
  EXPECT_THAT(Ask(server_->metrics_port(), "GET /livez"), HasSubstr("not"));
  fake.FailSubmit(absl::OkStatus());
  EXPECT_EQ(Add(&sum).error_code(), grpc::StatusCode::UNAVAILABLE);
  server_->EndLost();
  server_.reset();  // before the fake device
}

// Each with a connection of its own, which hears of the end in its own time.
TEST_F(ServerTest, NoCallIsCancelledWhileALostServerEnds) {
  FakeDevice fake(RealClock::Get());
  Start([&fake](const DeviceWorker::DeviceFactory&) { return fake.factory(); });
  fake.FailSubmit(AsDeviceFault(absl::UnavailableError("an illegal address")));
  absl::BlockingCounter connected(4);
  std::atomic<bool> ended{false};
  std::vector<std::string> others[4];
  {
    std::vector<Thread> callers;
    for (std::vector<std::string>& other : others) {
      callers.emplace_back("caller", [&] {
        grpc::ChannelArguments own;
        own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
        const auto stub = GRPCInferenceService::NewStub(
            grpc::CreateCustomChannel(server_->grpc_target(),
                                      grpc::InsecureChannelCredentials(), own));
        std::string sum;
        Add(*stub, &sum);
        connected.DecrementCount();
        while (!ended) {
          const grpc::Status status = Add(*stub, &sum);
          if (status.error_code() == grpc::StatusCode::UNAVAILABLE) continue;
          other.push_back(
              absl::StrCat(status.error_code(), " ", status.error_message()));
        }
      });
    }
    connected.Wait();
    server_->EndLost();
    ended = true;
  }
  for (const auto& other : others) EXPECT_THAT(other, ElementsAre());
  server_.reset();  // before the fake device
}

TEST_F(ServerTest, EverySeriesIsInTheTableOfTheReadme) {
  Start();
  std::string sum;
  ASSERT_TRUE(Add(&sum).ok());
  std::ifstream file(std::string(REPRISE_SOURCE_DIR) + "/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  const std::string page = Ask(server_->metrics_port(), "GET /metrics");
  EXPECT_THAT(page, HasSubstr("reprise_build_info{commit="));
  EXPECT_THAT(page, HasSubstr("onednn=\""));
  int families = 0;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() != 4 || words[1] != "TYPE") continue;
    ++families;
    EXPECT_THAT(readme, HasSubstr(absl::StrCat("`", words[2], "`")));
  }
  EXPECT_GT(families, 30);
}

TEST_F(ServerTest, AStartThatFailsSaysWhere) {
  Start();
  options_.grpc.port = server_->grpc_port();
  EXPECT_THAT(Server::Create(options_, RealClock::Get()),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("Address already in use")));
}

TEST_F(ServerTest, CudaWithoutADeviceIsAnError) {
  options_.device = DeviceChoice::kCuda;
  EXPECT_THAT(
      Server::Create(options_, RealClock::Get()),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("--device=cuda")));
}

}  // namespace
}  // namespace reprise::testing
