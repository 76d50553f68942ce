#include "client/bench/driver.h"

#include "absl/strings/str_cat.h"
#include "client/channel.h"
#include "client/infer_message.h"
#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::FakeServer;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::Pair;

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() {
    InferCall call;
    call.model = "digits";
    call.inputs = {{"image", "FP32", {1, 1, 8, 8}, std::string(256, '\0')}};
    const grpc::Slice slice(EncodeInfer(call)->SerializeAsString());
    load_.request = grpc::ByteBuffer(&slice, 1);
    load_.duration = hours(1);
  }

  std::vector<std::shared_ptr<grpc::Channel>> Channels(int count) {
    ChannelOptions options;
    options.target = server_.address();
    return *MakeChannels(options, count);
  }

  FakeServer server_;
  Load load_;
};

TEST_F(DriverTest, ClosedLoopMakesExactlyTheCallsAsked) {
  load_.concurrency = 8;
  load_.max_calls = 100;
  load_.headers = {{"x-secret", "open"}};
  const LoadResult result = Drive(Channels(2), load_);
  EXPECT_EQ(result.calls, 100);
  EXPECT_EQ(result.ok(), 100);
  EXPECT_EQ(server_.service().calls(), 100);
  EXPECT_THAT(result.by_code, ElementsAre(Pair(0, 100)));
  EXPECT_TRUE(result.errors.empty());
  EXPECT_FALSE(result.interrupted);
  EXPECT_GT(result.latency.min(), 0);
  EXPECT_GT(result.rate(), 0);
  EXPECT_EQ(server_.service().last_infer().model_name(), "digits");
  EXPECT_EQ(server_.service().last_headers().count("x-secret"), 1U);
}

TEST_F(DriverTest, FewerCallsThanCallers) {
  load_.concurrency = 8;
  load_.max_calls = 3;
  EXPECT_EQ(Drive(Channels(1), load_).calls, 3);
}

TEST_F(DriverTest, CountsErrorsByCodeAndLeavesThemOutOfTheLatencies) {
  load_.max_calls = 10;
  server_.service().FailNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"});
  server_.service().FailNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"});
  server_.service().FailNext({grpc::StatusCode::INTERNAL, "odd"});
  const LoadResult result = Drive(Channels(1), load_);
  EXPECT_EQ(result.calls, 10);
  EXPECT_EQ(result.ok(), 7);
  EXPECT_THAT(result.by_code,
              ElementsAre(Pair(grpc::StatusCode::OK, 7),
                          Pair(grpc::StatusCode::RESOURCE_EXHAUSTED, 2),
                          Pair(grpc::StatusCode::INTERNAL, 1)));
  EXPECT_THAT(result.errors, ElementsAre(Pair("INTERNAL: odd", 1),
                                         Pair("RESOURCE_EXHAUSTED: full", 2)));
}

TEST_F(DriverTest, KeepsAtMostTwentyErrorTexts) {
  load_.max_calls = 30;
  for (int i = 0; i < 30; ++i) {
    server_.service().FailNext(
        {grpc::StatusCode::INTERNAL, absl::StrCat("error ", i)});
  }
  const LoadResult result = Drive(Channels(1), load_);
  EXPECT_EQ(result.errors.size(), 21U);
  EXPECT_EQ(result.errors.at("others"), 10);
}

TEST_F(DriverTest, OpenLoopMakesEveryCallThatIsDue) {
  load_.rate = 2'000;
  load_.distribution = Distribution::kConstant;
  load_.duration = milliseconds(100);
  const LoadResult result = Drive(Channels(1), load_);
  EXPECT_EQ(result.calls + result.unsent, 200);
  EXPECT_EQ(result.ok(), result.calls);
  EXPECT_GE(result.elapsed, load_.duration);
}

TEST_F(DriverTest, LatencyCountsFromWhenTheCallWasDue) {
  // A hundred calls are due in the first 100 us; one at a time may be under
  // way, so that the last one waits for all before it.
  load_.rate = 1e6;
  load_.distribution = Distribution::kConstant;
  load_.max_in_flight = 1;
  load_.max_calls = 100;
  const LoadResult result = Drive(Channels(1), load_);
  EXPECT_EQ(result.ok(), 100);
  EXPECT_GE(result.latency.max(),
            result.elapsed.count() - nanoseconds(milliseconds(1)).count());
}

TEST_F(DriverTest, StopsWhenTold) {
  load_.concurrency = 4;
  int asked = 0;
  DriveHooks hooks;
  hooks.stop = [&asked] { return ++asked > 50; };
  const LoadResult result = Drive(Channels(1), load_, hooks);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.calls, 0);
  EXPECT_LT(result.calls, 60);
  EXPECT_EQ(result.calls, server_.service().calls());
}

TEST_F(DriverTest, ACallWithoutAnAnswerIsCancelledAfterTheDrain) {
  // A server that accepts connections, and never answers.
  grpc::ServerBuilder builder;
  grpc::AsyncGenericService mute;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterAsyncGenericService(&mute);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();

  ChannelOptions options;
  options.target = absl::StrCat("localhost:", port);
  load_.max_calls = 2;
  load_.concurrency = 2;
  load_.drain = milliseconds(20);
  const LoadResult result = Drive(*MakeChannels(options, 1), load_);
  EXPECT_EQ(result.ok(), 0);
  EXPECT_THAT(result.by_code,
              ElementsAre(Pair(grpc::StatusCode::CANCELLED, 2)));

  load_.deadline = milliseconds(5);
  load_.drain = hours(1);
  EXPECT_THAT(Drive(*MakeChannels(options, 1), load_).by_code,
              ElementsAre(Pair(grpc::StatusCode::DEADLINE_EXCEEDED, 2)));

  server->Shutdown(std::chrono::system_clock::now());
  queue->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
  }
}

}  // namespace
}  // namespace reprise::client
