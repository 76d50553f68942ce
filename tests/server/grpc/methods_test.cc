#include "server/grpc/methods.h"

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/server/grpc/front_fixture.h"

namespace reprise::testing {
namespace {

class MethodsTest : public FrontTest {
 protected:
  // The code of a call with an empty message.
  grpc::StatusCode Call(const std::string& method) {
    grpc::GenericStub stub(channel_);
    const grpc::Slice nothing;
    const grpc::ByteBuffer message(&nothing, 1);
    grpc::ByteBuffer reply;
    grpc::ClientContext context;
    absl::Notification done;
    grpc::Status status;
    stub.UnaryCall(&context,
                   absl::StrCat("/inference.GRPCInferenceService/", method), {},
                   &message, &reply, [&](grpc::Status s) {
                     status = std::move(s);
                     done.Notify();
                   });
    done.WaitForNotification();
    return status.error_code();
  }
};

TEST_F(MethodsTest, WhatIsNotServedIsUnimplemented) {
  Start();
  for (const char* method :
       {"SystemSharedMemoryStatus", "SystemSharedMemoryRegister",
        "SystemSharedMemoryUnregister", "CudaSharedMemoryStatus",
        "CudaSharedMemoryRegister", "CudaSharedMemoryUnregister",
        "TraceSetting", "LogSettings", "ModelStreamInfer", "Nope"}) {
    EXPECT_EQ(Call(method), grpc::StatusCode::UNIMPLEMENTED) << method;
  }
  ExpectAnswers();
}

TEST_F(MethodsTest, EveryServedMethodAnswers) {
  Start();
  for (const char* method :
       {"ServerLive", "ServerReady", "ServerMetadata", "ModelStatistics",
        "RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload"}) {
    EXPECT_EQ(Call(method), grpc::StatusCode::OK) << method;
  }
  for (const char* method : {"ModelReady", "ModelMetadata", "ModelConfig"}) {
    EXPECT_EQ(Call(method), grpc::StatusCode::NOT_FOUND) << method;
  }
  EXPECT_EQ(Metric("reprise_grpc_calls_total{code=\"NOT_FOUND\","
                   "method=\"ModelConfig\"}"),
            "1");
}

}  // namespace
}  // namespace reprise::testing
