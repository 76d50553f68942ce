#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

class UnloadCommand final : public Command {
 public:
  UnloadCommand()
      : Command({"unload", "MODEL", "stop serving a model",
                 "Asks the server to unload every version of the model; what "
                 "it has accepted is\nstill answered. The server must run with "
                 "--model-control-mode=explicit.\n",
                 "  reprise unload digits\n"}) {
    connection_.set_timeout(absl::Minutes(1));
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 1, 1));
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_RETURN_IF_ERROR(client->UnloadModel(arguments[0], dependents_));
    if (connection_.json()) {
      terminal.out << JsonText({{"name", arguments[0]}, {"loaded", false}});
    } else {
      terminal.out << arguments[0] << " is unloaded\n";
    }
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.Switch("dependents", &dependents_,
                 "also the models that it alone brought in");
  }

  bool dependents_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeUnloadCommand() {
  return std::make_unique<UnloadCommand>();
}

}  // namespace reprise::client
