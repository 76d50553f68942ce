#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/cli/table.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

class ModelsCommand final : public Command {
 public:
  ModelsCommand()
      : Command({"models", "", "the models of the repository and their states",
                 "Lists every model and version that the server knows, its "
                 "state (READY,\nLOADING, UNLOADING, UNAVAILABLE) and, if it "
                 "does not serve, why.\n",
                 "  reprise models\n"
                 "  reprise models --ready --json | jq -r '.[].name'\n"}) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 0, 0));
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_ASSIGN_OR_RETURN(const inference::RepositoryIndexResponse index,
                            client->RepositoryIndex(ready_only_));
    if (connection_.json()) {
      terminal.out << JsonText(ToJson(index));
      return ExitCode::kOk;
    }
    if (index.models().empty()) {
      terminal.out << (ready_only_ ? "no model is ready\n"
                                   : "the repository has no models\n");
      return ExitCode::kOk;
    }
    Table table({"MODEL", "VERSION", "STATE", "REASON"});
    for (const auto& model : index.models()) {
      table.AddRow(
          {model.name(), model.version(), model.state(), model.reason()});
    }
    terminal.out << table.Text();
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.Switch("ready", &ready_only_, "only those that serve");
  }

  static Json ToJson(const inference::RepositoryIndexResponse& index) {
    Json list = Json::array();
    for (const auto& model : index.models()) {
      list.push_back({{"name", model.name()},
                      {"version", model.version()},
                      {"state", model.state()},
                      {"reason", model.reason()}});
    }
    return list;
  }

  bool ready_only_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeModelsCommand() {
  return std::make_unique<ModelsCommand>();
}

}  // namespace reprise::client
