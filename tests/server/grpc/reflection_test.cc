#include "server/grpc/reflection.h"

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/reflection.grpc.pb.h"
#include "tests/server/grpc/front_fixture.h"

namespace reprise::testing {
namespace {

using grpc::reflection::v1::ServerReflection;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

ServerReflectionResponse Ask(
    const std::function<void(ServerReflectionRequest&)>& fill) {
  ServerReflectionRequest request;
  fill(request);
  return Reflect({"a.B"}, request);
}

TEST(ReflectTest, ListsServices) {
  const auto response = Ask([](auto& r) { r.set_list_services(""); });
  ASSERT_EQ(response.list_services_response().service_size(), 1);
  EXPECT_EQ(response.list_services_response().service(0).name(), "a.B");
}

TEST(ReflectTest, ASymbolComesWithAllFilesItNeeds) {
  const auto response = Ask([](auto& r) {
    r.set_file_containing_symbol("inference.GRPCInferenceService.ModelInfer");
  });
  const auto& files = response.file_descriptor_response();
  ASSERT_EQ(files.file_descriptor_proto_size(), 2);
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(file.ParseFromString(files.file_descriptor_proto(0)));
  EXPECT_EQ(file.name(), "grpc_service.proto");
  ASSERT_TRUE(file.ParseFromString(files.file_descriptor_proto(1)));
  EXPECT_EQ(file.name(), "model_config.proto");
}

TEST(ReflectTest, WhatIsNotThereIsAnErrorOfTheStreamsAnswer) {
  for (const auto& response :
       {Ask([](auto& r) { r.set_file_by_filename("nope.proto"); }),
        Ask([](auto& r) { r.set_file_containing_symbol("nope"); }),
        Ask([](auto& r) { r.set_all_extension_numbers_of_type("nope"); }),
        Ask([](auto& r) {
          r.mutable_file_containing_extension()->set_extension_number(1);
        })}) {
    EXPECT_EQ(response.error_response().error_code(),
              grpc::StatusCode::NOT_FOUND);
  }
  EXPECT_EQ(Ask([](auto&) {}).error_response().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

using ReflectionTest = FrontTest;

TEST_F(ReflectionTest, OneStreamAnswersManyQuestions) {
  Start();
  const auto stub = ServerReflection::NewStub(channel_);
  grpc::ClientContext context;
  const auto stream = stub->ServerReflectionInfo(&context);
  for (int i = 0; i < 3; ++i) {
    ServerReflectionRequest request;
    request.set_list_services("");
    ASSERT_TRUE(stream->Write(request));
    ServerReflectionResponse response;
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.list_services_response().service_size(), 3);
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(Metric("reprise_grpc_calls_total{code=\"OK\",method=\""
                   "ServerReflectionInfo\"}"),
            "1");
}

}  // namespace
}  // namespace reprise::testing
