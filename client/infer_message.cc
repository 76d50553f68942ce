#include "client/infer_message.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/status.h"

namespace reprise::client {

absl::StatusOr<inference::ModelInferRequest> EncodeInfer(
    const InferCall& call) {
  inference::ModelInferRequest request;
  request.set_model_name(call.model);
  request.set_model_version(call.version);
  request.set_id(call.id);
  auto& parameters = *request.mutable_parameters();
  if (call.priority != 0) {
    parameters["priority"].set_uint64_param(call.priority);
  }
  if (call.queue_timeout > absl::ZeroDuration()) {
    parameters["timeout"].set_int64_param(
        absl::ToInt64Microseconds(call.queue_timeout));
  }
  for (const Tensor& tensor : call.inputs) {
    CLIENT_RETURN_IF_ERROR(CheckTensor(tensor));
    auto& input = *request.add_inputs();
    input.set_name(tensor.name);
    input.set_datatype(tensor.datatype);
    input.mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
    request.add_raw_input_contents(tensor.bytes);
  }
  for (const std::string& name : call.outputs) {
    request.add_outputs()->set_name(name);
  }
  return request;
}

absl::StatusOr<InferResult> DecodeInfer(
    inference::ModelInferResponse response) {
  if (response.outputs_size() != response.raw_output_contents_size()) {
    return absl::InternalError(absl::StrCat(
        "the reply names ", response.outputs_size(), " outputs, but holds ",
        response.raw_output_contents_size(), " raw contents"));
  }
  InferResult result;
  result.model = std::move(*response.mutable_model_name());
  result.version = std::move(*response.mutable_model_version());
  result.id = std::move(*response.mutable_id());
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& output = response.outputs(i);
    Tensor tensor{output.name(),
                  output.datatype(),
                  {output.shape().begin(), output.shape().end()},
                  std::move(*response.mutable_raw_output_contents(i))};
    if (absl::Status status = CheckTensor(tensor); !status.ok()) {
      return absl::InternalError(
          absl::StrCat("in the reply: ", status.message()));
    }
    result.outputs.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace reprise::client
