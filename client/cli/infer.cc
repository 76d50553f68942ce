#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/cli/infer_input.h"
#include "client/cli/infer_output.h"
#include "client/files.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

class InferCommand final : public Command {
 public:
  InferCommand()
      : Command(
            {"infer", "MODEL [FILE ...]", "one inference",
             "Sends one request and prints the answer: a table of the outputs, "
             "or the largest\nvalues of each row (--top-k); with --json, as "
             "JSON. Dims and datatypes come from\nthe model. FILEs are sources "
             "of the only input, as with --input; several\npictures or .npy "
             "files are the rows of one batch.\n",
             "  reprise infer digits three.png --scale 1/255 --top-k 3\n"
             "  reprise infer digits *.png --scale 1/255 --top-k 1 --labels "
             "labels.txt\n"
             "  reprise infer simple --input INPUT0=a.npy --input "
             "INPUT1=zeros\n"
             "  reprise infer resnet --input random --batch 8 --output "
             "logits=out.npy\n"
             "  reprise infer resnet cat.jpg --scale 1/255 --mean "
             "0.485,0.456,0.406 \\\n"
             "      --std 0.229,0.224,0.225 --json\n"}) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 1, SIZE_MAX));
    call_.model = arguments[0];
    inputs_.inputs.insert(inputs_.inputs.end(), arguments.begin() + 1,
                          arguments.end());
    CLIENT_ASSIGN_OR_RETURN(const std::vector<std::string> labels, Labels());
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_ASSIGN_OR_RETURN(const inference::ModelMetadataResponse model,
                            client->ModelMetadata(call_.model, call_.version));
    CLIENT_ASSIGN_OR_RETURN(call_.inputs, MakeInputs(model, inputs_));
    call_.priority = static_cast<uint64_t>(priority_);
    CLIENT_ASSIGN_OR_RETURN(const InferResult result, client->Infer(call_));
    CLIENT_RETURN_IF_ERROR(WriteOutputs(result, output_files_));
    CLIENT_ASSIGN_OR_RETURN(const std::string text, Answer(result, labels));
    terminal.out << text;
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.SentText("model-version", "N", &call_.version,
                   "instead of the latest");
    flags.SentText("id", "TEXT", &call_.id, "an id for the server's log");
    flags.Count("priority", "N", &priority_,
                "1 is the highest; 0 leaves it to the model", 0);
    flags.Time("queue-timeout", "TIME", &call_.queue_timeout,
               "longest wait in the server's queue");
    flags.SentList("want", "NAME", &call_.outputs, "only these outputs");
    flags.List("output", "NAME=FILE", &output_files_,
               "write an output to a .npy file");
    flags.Count("top-k", "N", &top_k_,
                "print the N largest values of each row; 0: a table of the "
                "outputs",
                0);
    flags.Text("labels", "FILE", &labels_file_,
               "names of the indices for --top-k, one a line");
    flags.Group("Inputs");
    AddInputFlags(flags, inputs_);
  }

  absl::StatusOr<std::string> Answer(
      const InferResult& result, const std::vector<std::string>& labels) const {
    if (top_k_ == 0) {
      return connection_.json() ? JsonText(ResultJson(result))
                                : OutputTable(result);
    }
    if (!connection_.json()) return TopK(result, top_k_, labels);
    CLIENT_ASSIGN_OR_RETURN(const Json json, TopKJson(result, top_k_, labels));
    return JsonText(json);
  }

  absl::StatusOr<std::vector<std::string>> Labels() const {
    std::vector<std::string> labels;
    if (labels_file_.empty()) return labels;
    if (top_k_ == 0) {
      return absl::InvalidArgumentError(
          "--labels names what --top-k prints: give --top-k too");
    }
    CLIENT_ASSIGN_OR_RETURN(const std::string text, ReadFile(labels_file_));
    for (absl::string_view line :
         absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), '\n')) {
      labels.emplace_back(absl::StripAsciiWhitespace(line));
    }
    return labels;
  }

  InferCall call_;
  InputOptions inputs_;
  std::vector<std::string> output_files_;
  std::string labels_file_;
  int64_t priority_ = 0;
  int64_t top_k_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeInferCommand() {
  return std::make_unique<InferCommand>();
}

}  // namespace reprise::client
