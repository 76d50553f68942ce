#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/cli/utf8.h"
#include "client/files.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

class LoadCommand final : public Command {
 public:
  LoadCommand()
      : Command({"load", "MODEL", "load a model, or reload it after a change",
                 "Asks the server to load the model, and returns when it "
                 "serves or has failed. A\nversion that serves goes on serving "
                 "until the new one is ready. The server must\nrun with "
                 "--model-control-mode=explicit.\n",
                 "  reprise load digits\n"
                 "  reprise load digits --config digits.json\n"
                 "  reprise load digits --config digits.json "
                 "--file 2/model.onnx=new.onnx\n"}) {
    connection_.set_timeout(absl::Minutes(5));
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 1, 1));
    CLIENT_ASSIGN_OR_RETURN(const LoadOverrides overrides, Overrides());
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    if (terminal.err_is_tty) {
      terminal.err << "loading " << arguments[0] << " ...\n";
    }
    CLIENT_RETURN_IF_ERROR(client->LoadModel(arguments[0], overrides));
    if (connection_.json()) {
      terminal.out << JsonText({{"name", arguments[0]}, {"loaded", true}});
    } else {
      terminal.out << arguments[0] << " is loaded\n";
    }
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.Text("config", "FILE", &config_,
               "a configuration as JSON, used instead of config.pbtxt");
    flags.List("file", "PATH=FILE", &files_,
               "a file of the model sent along, e.g. 1/model.onnx=new.onnx; "
               "needs --config");
  }

  absl::StatusOr<LoadOverrides> Overrides() const {
    LoadOverrides overrides;
    if (!config_.empty()) {
      CLIENT_ASSIGN_OR_RETURN(overrides.config, ReadFile(config_));
      if (overrides.config.empty()) {  // would mean: as it is in the repository
        return absl::InvalidArgumentError(
            absl::StrCat("--config: \"", config_, "\" is empty"));
      }
      CLIENT_RETURN_IF_ERROR(Annotate(CheckUtf8(overrides.config),
                                      absl::StrCat("--config ", config_)));
    }
    if (!files_.empty() && config_.empty()) {
      return absl::InvalidArgumentError("--file needs --config");
    }
    for (const std::string& file : files_) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(file, absl::MaxSplits('=', 1));
      if (parts.first.empty() || parts.second.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--file: \"", file, "\" is not PATH=FILE"));
      }
      CLIENT_RETURN_IF_ERROR(Annotate(CheckUtf8(parts.first), "--file"));
      CLIENT_ASSIGN_OR_RETURN(std::string content, ReadFile(parts.second));
      overrides.files[absl::StrCat("file:", parts.first)] = std::move(content);
    }
    return overrides;
  }

  std::string config_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> MakeLoadCommand() {
  return std::make_unique<LoadCommand>();
}

}  // namespace reprise::client
