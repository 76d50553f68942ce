#include "server/grpc/unimplemented.h"

#include <utility>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/server/grpc/front_fixture.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

using UnimplementedTest = FrontTest;

TEST_F(UnimplementedTest, UnknownMethodsAndServicesAreNamed) {
  Start();
  grpc::GenericStub stub(channel_);
  for (const std::string method :
       {"/inference.GRPCInferenceService/Nope", "/no.Service/Nope"}) {
    const grpc::Slice nothing;
    const grpc::ByteBuffer message(&nothing, 1);
    grpc::ByteBuffer reply;
    grpc::ClientContext context;
    absl::Notification done;
    grpc::Status status;
    stub.UnaryCall(&context, method, {}, &message, &reply, [&](grpc::Status s) {
      status = std::move(s);
      done.Notify();
    });
    done.WaitForNotification();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_THAT(status.error_message(), HasSubstr(method));
  }
  ExpectAnswers();
  EXPECT_EQ(Metric("reprise_grpc_calls_total{code=\"UNIMPLEMENTED\","
                   "method=\"other\"}"),
            "2");
}

}  // namespace
}  // namespace reprise::testing
