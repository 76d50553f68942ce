#include <string>

#include "client/cli/commands.h"
#include "client/status.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"

namespace reprise::client {
namespace {

class ConfigCommand final : public Command {
 public:
  ConfigCommand()
      : Command(
            {"config", "MODEL", "the configuration that a model serves with",
             "Prints the effective configuration, what the server filled in "
             "included, in\nthe form of a config.pbtxt; with --json as "
             "`reprise load --config` takes it.\n",
             "  reprise config digits\n"
             "  reprise config digits --json > digits.json\n"}) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 1, 1));
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_ASSIGN_OR_RETURN(const inference::ModelConfig config,
                            client->ModelConfig(arguments[0], version_));
    std::string text;
    if (connection_.json()) {
      google::protobuf::util::JsonPrintOptions options;
      options.add_whitespace = true;
      options.preserve_proto_field_names = true;
      const auto status =
          google::protobuf::util::MessageToJsonString(config, &text, options);
      if (!status.ok()) return absl::InternalError(status.ToString());
    } else {
      google::protobuf::TextFormat::PrintToString(config, &text);
    }
    terminal.out << text;
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.SentText("model-version", "N", &version_, "instead of the latest");
  }

  std::string version_;
};

}  // namespace

std::unique_ptr<Command> MakeConfigCommand() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace reprise::client
