#include <string>

#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

using grpc::health::v1::HealthCheckResponse;

class HealthCommand final : public Command {
 public:
  HealthCommand()
      : Command(
            {"health", "[SERVICE]", "whether the server or a model serves",
             "Asks grpc.health.v1 and prints the status. SERVICE is empty "
             "or \"liveness\" for\nthe process, \"readiness\" for all "
             "required models, or the name of a model.\n\n"
             "Exit codes, as grpc_health_probe has them: 0 serving; 1 a "
             "wrong flag or\nargument, or output that cannot be written; 2 no "
             "connection in time; 3 the call\nfailed (an unknown service, "
             "too); 4 not serving.\n",
             "  reprise health\n"
             "  reprise health readiness --timeout 500ms\n"
             "  reprise health digits && reprise infer digits three.png\n"}) {
    connection_.set_timeout(absl::Seconds(1));
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 0, 1));
    const std::string service = arguments.empty() ? "" : arguments[0];
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    const absl::StatusOr<HealthCheckResponse::ServingStatus> status =
        client->HealthCheck(service);
    if (!status.ok()) {
      const bool connected = client->channel()->GetState(false) ==
                             grpc_connectivity_state::GRPC_CHANNEL_READY;
      if (status.status().code() == absl::StatusCode::kDeadlineExceeded &&
          !connected) {
        return FromGrpc({grpc::StatusCode::UNAVAILABLE,
                         "no connection within the timeout"});
      }
      return status.status();
    }
    const std::string& text = HealthCheckResponse::ServingStatus_Name(*status);
    if (connection_.json()) {
      terminal.out << JsonText({{"service", service}, {"status", text}});
    } else {
      terminal.out << text << "\n";
    }
    return *status == HealthCheckResponse::SERVING ? ExitCode::kOk
                                                   : ExitCode::kNotServing;
  }
};

}  // namespace

std::unique_ptr<Command> MakeHealthCommand() {
  return std::make_unique<HealthCommand>();
}

}  // namespace reprise::client
