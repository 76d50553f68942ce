#include "server/grpc/reflection.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/codegen/rpc_service_method.h"
#include "grpcpp/support/status.h"
#include "server/grpc/completion.h"
#include "server/grpc/shown.h"

namespace reprise {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::FileDescriptorResponse;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>* seen,
             FileDescriptorResponse* out) {
  if (!seen->insert(file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  file->CopyJsonNameTo(&proto);  // without it tools print snake_case
  proto.SerializeToString(out->add_file_descriptor_proto());
  for (int i = 0; i < file->dependency_count(); ++i) {
    AddFile(file->dependency(i), seen, out);
  }
}

void NotFound(const std::string& what, ServerReflectionResponse* response) {
  auto* const error = response->mutable_error_response();
  error->set_error_code(grpc::StatusCode::NOT_FOUND);
  error->set_error_message(absl::StrCat("not found: ", Shown(what)));
}

void AnswerFile(const FileDescriptor* file, const std::string& what,
                ServerReflectionResponse* response) {
  if (file == nullptr) {
    NotFound(what, response);
    return;
  }
  std::set<const FileDescriptor*> seen;
  AddFile(file, &seen, response->mutable_file_descriptor_response());
}

// One stream: a read, its answer, the next read. Deletes itself.
class ReflectionCall {
 public:
  static void Post(ReflectionContext& context) {
    auto* const call = new ReflectionCall(context);
    context.service.RequestInfo(&call->rpc_, &call->stream_, &context.queue,
                                call->arrived_.tag());
  }

 private:
  explicit ReflectionCall(ReflectionContext& context)
      : context_(context), stream_(&rpc_) {}

  void OnArrived(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    Post(context_);
    stream_.Read(&request_, read_.tag());
  }

  void OnRead(bool ok) {
    if (!ok) {
      Finish();
      return;
    }
    stream_.Write(Reflect(context_.service.services(), request_),
                  written_.tag());
  }

  void OnWritten(bool ok) {
    if (!ok) {
      Finish();
      return;
    }
    stream_.Read(&request_, read_.tag());
  }

  void Finish() {
    context_.finished.Increment();
    stream_.Finish(grpc::Status::OK, finished_.tag());
  }

  void OnFinished(bool /*ok*/) { delete this; }

  ReflectionContext& context_;
  grpc::ServerContext rpc_;
  ReflectionService::Stream stream_;
  ServerReflectionRequest request_;
  Event<ReflectionCall, &ReflectionCall::OnArrived> arrived_{this};
  Event<ReflectionCall, &ReflectionCall::OnRead> read_{this};
  Event<ReflectionCall, &ReflectionCall::OnWritten> written_{this};
  Event<ReflectionCall, &ReflectionCall::OnFinished> finished_{this};
};

}  // namespace

ServerReflectionResponse Reflect(const std::vector<std::string>& services,
                                 const ServerReflectionRequest& request) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool.FindFileByName(request.file_by_filename()),
                 request.file_by_filename(), &response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(
          pool.FindFileContainingSymbol(request.file_containing_symbol()),
          request.file_containing_symbol(), &response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:  // proto3: none
      NotFound(request.file_containing_extension().containing_type(),
               &response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType: {
      const std::string& type = request.all_extension_numbers_of_type();
      if (pool.FindMessageTypeByName(type) == nullptr) {
        NotFound(type, &response);
      } else {
        response.mutable_all_extension_numbers_response()->set_base_type_name(
            type);
      }
      break;
    }
    case ServerReflectionRequest::kListServices:
      for (const std::string& service : services) {
        response.mutable_list_services_response()->add_service()->set_name(
            service);
      }
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(
          grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("empty request");
      break;
  }
  return response;
}

ReflectionService::ReflectionService(const std::string& package,
                                     std::vector<std::string> services)
    : services_(std::move(services)),
      method_(absl::StrCat("/", package,
                           ".ServerReflection/ServerReflectionInfo")) {
  AddMethod(new grpc::internal::RpcServiceMethod(
      method_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodAsync(0);
}

void PostReflection(ReflectionContext& context) {
  ReflectionCall::Post(context);
}

}  // namespace reprise
