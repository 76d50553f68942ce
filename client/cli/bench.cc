#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/bench/driver.h"
#include "client/bench/schedule.h"
#include "client/cli/bench_report.h"
#include "client/cli/commands.h"
#include "client/cli/infer_input.h"
#include "client/cli/range.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

grpc::ByteBuffer ToBuffer(const inference::ModelInferRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return {&slice, 1};
}

std::string DateText() {
  const absl::Time now = absl::FromChrono(std::chrono::system_clock::now());
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now, absl::UTCTimeZone());
}

// Longer than any run; far from overflow when added to an instant.
constexpr std::chrono::nanoseconds kUnlimited = std::chrono::hours(24 * 365);

class BenchCommand final : public Command {
 public:
  BenchCommand()
      : Command(
            {"bench", "MODEL", "a load test: rates, latencies, batches",
             "Sends one request over and over. Closed loop (--concurrency): "
             "each caller asks\nagain when it has its answer. Open loop "
             "(--rate): calls leave when they are due,\nanswered or not, and "
             "latency counts from then, so that a server that falls\nbehind "
             "cannot hide it. Inputs are random unless --input says "
             "otherwise.\n\nA step for each value of a range "
             "(--concurrency 1:64:9). Each step warms up, and\nits figures "
             "leave that out. \"server\" is the server's own mean split of a\n"
             "request; \"overhead\" is the rest of the client's mean. Split "
             "and "
             "batches include\nwhat other clients ask of the model meanwhile. "
             "In the last millisecond before a\ncall is due an open loop "
             "polls, "
             "which takes a whole core: give the client cores\nof its own.\n\n"
             "The rate counts every answer, \"OK\" those that are OK. "
             "Latencies "
             "and rows are of\nthe latter.\n\n"
             "A run in which no call was answered OK exits with 2 or 3; other "
             "failed calls are\npart of the report. --json writes ghz's "
             "fields (an array of them for a range).\n",
             "  reprise bench digits --concurrency 64 --connections 4\n"
             "  reprise bench digits --concurrency 1:64:9 --duration 5s\n"
             "  reprise bench digits --rate 2000 --distribution poisson "
             "--duration 30s\n"
             "  reprise bench resnet --batch 8 --requests 1000 --json > "
             "report.json\n"}) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 1, 1));
    call_.model = arguments[0];
    if (inputs_.inputs.empty()) inputs_.inputs = {"random"};
    if (!rates_.empty() && !concurrencies_.empty()) {
      return absl::InvalidArgumentError(
          "--rate is an open loop, --concurrency a closed one: give one");
    }
    if (rates_.empty() && concurrencies_.empty()) concurrencies_ = {1};
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_ASSIGN_OR_RETURN(const inference::ModelMetadataResponse model,
                            client->ModelMetadata(call_.model, call_.version));
    CLIENT_ASSIGN_OR_RETURN(call_.inputs, MakeInputs(model, inputs_));
    rows_ = RowCount(model, call_.inputs);
    // What the server refuses is told at once, and not by a million errors.
    CLIENT_RETURN_IF_ERROR(client->Infer(call_).status());
    CLIENT_ASSIGN_OR_RETURN(const inference::ModelInferRequest request,
                            EncodeInfer(call_));
    CLIENT_ASSIGN_OR_RETURN(const ClientOptions options, connection_.Options());
    CLIENT_ASSIGN_OR_RETURN(
        const Channels channels,
        MakeChannels(options.channel, static_cast<int>(connections_)));

    Load load = BaseLoad(options);
    load.request = ToBuffer(request);
    std::vector<BenchStep> steps;
    for (const Load& step : Steps(load)) {
      if (terminal.interrupted != nullptr && terminal.interrupted()) break;
      steps.push_back(RunStep(step, channels, *client, terminal));
      if (!connection_.json()) terminal.out << StepText(steps.back());
      terminal.out.flush();
    }
    return Conclude(steps, terminal);
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.Custom("concurrency", "N[:M[:S]]",
                 "closed loop: callers, or a range of them (default 1)",
                 RangeSetter(&concurrencies_, ParseRange));
    flags.Custom("rate", "N[:M[:S]]",
                 "open loop: calls a second, such as 0.5, or a range of them",
                 RangeSetter(&rates_, ParseRealRange));
    flags.Custom("distribution", "NAME",
                 "poisson or constant gaps between the calls of an open loop; "
                 "--seed fixes the former too (default poisson)",
                 [this](const std::string& text) -> absl::Status {
                   CLIENT_ASSIGN_OR_RETURN(distribution_,
                                           ParseDistribution(text));
                   return absl::OkStatus();
                 });
    flags.PositiveTime("duration", "TIME", &duration_,
                       "of each step (default 10s, unlimited with --requests)");
    flags.Count("requests", "N", &requests_, "calls of each step, at most");
    flags.Time("warmup", "TIME", &warmup_, "before each step, not measured");
    flags.Count("connections", "N", &connections_, "calls go over in turn");
    flags.Count("max-in-flight", "N", &max_in_flight_,
                "calls of an open loop under way, at most");
    flags.Time("deadline", "TIME", &deadline_,
               "gRPC deadline of each call (default none)");
    flags.Time("queue-timeout", "TIME", &call_.queue_timeout,
               "longest wait in the server's queue (default none)");
    flags.SentText("model-version", "N", &call_.version,
                   "instead of the latest");
    flags.Switch("quiet", &quiet_, "no progress on stderr");
    flags.Group("Inputs");
    AddInputFlags(flags, inputs_);
  }

  template <typename Number>
  static FlagTable::Setter RangeSetter(
      std::vector<Number>* target,
      absl::StatusOr<std::vector<Number>> (*parse)(const std::string&)) {
    return [target, parse](const std::string& text) -> absl::Status {
      CLIENT_ASSIGN_OR_RETURN(*target, parse(text));
      return absl::OkStatus();
    };
  }

  Load BaseLoad(const ClientOptions& options) const {
    Load load;
    load.headers = options.headers;
    load.distribution = distribution_;
    load.seed = static_cast<uint64_t>(inputs_.seed);
    load.max_in_flight = static_cast<int>(max_in_flight_);
    load.deadline = absl::ToChronoNanoseconds(deadline_);
    if (requests_ > 0) load.max_calls = requests_;
    if (duration_ > absl::ZeroDuration()) {
      load.duration =
          std::min(kUnlimited, absl::ToChronoNanoseconds(duration_));
    } else if (requests_ > 0) {
      load.duration = kUnlimited;
    }
    return load;
  }

  std::vector<Load> Steps(const Load& base) const {
    std::vector<Load> steps;
    for (const double rate : rates_) {
      steps.push_back(base);
      steps.back().rate = rate;
    }
    for (const int64_t concurrency : concurrencies_) {
      steps.push_back(base);
      steps.back().concurrency = static_cast<int>(concurrency);
    }
    return steps;
  }

  std::string LoadText(const Load& load) const {
    if (load.rate.has_value()) {
      return absl::StrCat(
          *load.rate, "/s ",
          distribution_ == Distribution::kPoisson ? "poisson" : "constant");
    }
    return absl::StrCat(load.concurrency,
                        load.concurrency == 1 ? " caller" : " callers");
  }

  BenchStep RunStep(const Load& load, const Channels& channels, Client& client,
                    Terminal& terminal) const {
    DriveHooks hooks;
    hooks.stop = terminal.interrupted;
    if (warmup_ > absl::ZeroDuration()) {
      Load warmup = load;
      warmup.duration = absl::ToChronoNanoseconds(warmup_);
      warmup.max_calls = INT64_MAX;
      Drive(channels, warmup, hooks);
    }
    if (!quiet_) {
      hooks.progress = [&terminal](const LoadProgress& progress) {
        terminal.err << (terminal.err_is_tty ? "\r\x1b[K" : "")
                     << ProgressText(progress)
                     << (terminal.err_is_tty ? "" : "\n");
        terminal.err.flush();
      };
    }
    BenchStep step;
    step.model = call_.model;
    step.server = connection_.server();
    step.date = DateText();
    step.load = LoadText(load);
    step.concurrency = load.rate.has_value() ? 0 : load.concurrency;
    step.rate = load.rate;
    step.connections = static_cast<int>(channels.size());
    step.batch = rows_;
    const auto before = client.ModelStatistics(call_.model, call_.version);
    step.result = Drive(channels, load, hooks);
    step.split = SplitSince(before, step.result.ok(), client);
    if (!quiet_ && terminal.err_is_tty) terminal.err << "\r\x1b[K";
    return step;
  }

  absl::StatusOr<ServerSplit> SplitSince(
      const absl::StatusOr<inference::ModelStatisticsResponse>& before,
      int64_t answered, Client& client) const {
    CLIENT_RETURN_IF_ERROR(before.status());
    CLIENT_ASSIGN_OR_RETURN(inference::ModelStatisticsResponse after,
                            client.ModelStatistics(call_.model, call_.version));
    ServerSplit split = SplitOf(*before, after, answered);
    if (!split.restarted) return split;
    // A server may count a request just after it has answered it: look again.
    CLIENT_ASSIGN_OR_RETURN(after,
                            client.ModelStatistics(call_.model, call_.version));
    return SplitOf(*before, after, answered);
  }

  absl::StatusOr<ExitCode> Conclude(const std::vector<BenchStep>& steps,
                                    Terminal& terminal) const {
    if (connection_.json()) {
      Json json = Json::array();
      for (const BenchStep& step : steps) json.push_back(StepJson(step));
      terminal.out << JsonText(steps.size() == 1 ? json[0] : json);
    } else if (steps.size() > 1) {
      terminal.out << "\n" << StepsTable(steps);
    }
    for (const BenchStep& step : steps) {
      if (step.result.ok() > 0 || step.result.calls == 0) return ExitCode::kOk;
    }
    if (steps.empty()) return ExitCode::kOk;
    const auto& errors = steps.back().result.errors;
    const int code = steps.back().result.by_code.begin()->first;
    return FromGrpc(
        {static_cast<grpc::StatusCode>(code),
         absl::StrCat("no call was answered OK; ", errors.begin()->first)});
  }

  InferCall call_;
  InputOptions inputs_;
  int64_t rows_ = 1;  // of the request
  std::vector<int64_t> concurrencies_;
  std::vector<double> rates_;
  Distribution distribution_ = Distribution::kPoisson;
  absl::Duration duration_;
  absl::Duration warmup_ = absl::Seconds(1);
  absl::Duration deadline_;
  int64_t requests_ = 0;
  int64_t connections_ = 1;
  int64_t max_in_flight_ = 10'000;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeBenchCommand() {
  return std::make_unique<BenchCommand>();
}

}  // namespace reprise::client
