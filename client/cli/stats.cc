#include <cstdint>
#include <string>

#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/cli/server_split.h"
#include "client/cli/table.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

using inference::ModelStatistics;
using inference::StatisticDuration;

std::string Count(uint64_t count) {
  return FormatCount(static_cast<int64_t>(count));
}

// The mean, or "-" if nothing was counted.
std::string Mean(const StatisticDuration& total) {
  if (total.count() == 0) return "-";
  return FormatNanos(static_cast<double>(total.ns()) /
                     static_cast<double>(total.count()));
}

std::string MeanBatchText(const ModelStatistics& model) {
  if (model.execution_count() == 0) return "-";
  return FormatDecimal(MeanBatch(
      BatchesBySize(model), static_cast<int64_t>(model.inference_count()),
      static_cast<int64_t>(model.execution_count())));
}

std::string BatchTable(const ModelStatistics& model) {
  Table table({">BATCH SIZE", ">BATCHES", ">INPUT", ">INFER", ">OUTPUT"});
  for (const auto& batch : model.batch_stats()) {
    table.AddRow({Count(batch.batch_size()),
                  Count(batch.compute_infer().count()),
                  Mean(batch.compute_input()), Mean(batch.compute_infer()),
                  Mean(batch.compute_output())});
  }
  return table.Text();
}

Json ToJson(const StatisticDuration& duration) {
  return {{"count", duration.count()}, {"ns", duration.ns()}};
}

Json ToJson(const ModelStatistics& model) {
  const auto& stats = model.inference_stats();
  Json batches = Json::array();
  for (const auto& batch : model.batch_stats()) {
    batches.push_back({{"batch_size", batch.batch_size()},
                       {"compute_input", ToJson(batch.compute_input())},
                       {"compute_infer", ToJson(batch.compute_infer())},
                       {"compute_output", ToJson(batch.compute_output())}});
  }
  return {{"name", model.name()},
          {"version", model.version()},
          {"last_inference", model.last_inference()},
          {"inference_count", model.inference_count()},
          {"execution_count", model.execution_count()},
          {"inference_stats",
           {{"success", ToJson(stats.success())},
            {"fail", ToJson(stats.fail())},
            {"queue", ToJson(stats.queue())},
            {"compute_input", ToJson(stats.compute_input())},
            {"compute_infer", ToJson(stats.compute_infer())},
            {"compute_output", ToJson(stats.compute_output())}}},
          {"batch_stats", std::move(batches)}};
}

class StatsCommand final : public Command {
 public:
  StatsCommand()
      : Command({"stats", "[MODEL]",
                 "requests, batches and times of the models",
                 "One line for each model version: requests answered OK, "
                 "requests failed, rows of\nthose answered, batches and their "
                 "mean size, then the mean time of a request in\nthe queue, "
                 "its inputs' copy, the run, its outputs' copy, and in all. "
                 "Counted\nsince the load.\n"
                 "With MODEL, also a line for each batch size; its times are "
                 "those of a batch.\n",
                 "  reprise stats\n"
                 "  reprise stats digits\n"
                 "  watch -n1 reprise stats\n"}) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments,
                               Terminal& terminal) override {
    CLIENT_RETURN_IF_ERROR(CheckArguments(arguments, 0, 1));
    const std::string name = arguments.empty() ? "" : arguments[0];
    if (name.empty() && !version_.empty()) {
      return absl::InvalidArgumentError("--model-version needs a MODEL");
    }
    CLIENT_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                            connection_.Connect());
    CLIENT_ASSIGN_OR_RETURN(const inference::ModelStatisticsResponse response,
                            client->ModelStatistics(name, version_));
    if (connection_.json()) {
      Json list = Json::array();
      for (const ModelStatistics& model : response.model_stats()) {
        list.push_back(ToJson(model));
      }
      terminal.out << JsonText(list);
      return ExitCode::kOk;
    }
    if (response.model_stats().empty()) {
      terminal.out << "no model has statistics\n";
      return ExitCode::kOk;
    }
    Print(response, !name.empty(), terminal);
    return ExitCode::kOk;
  }

 private:
  void AddOwnFlags(FlagTable& flags) override {
    flags.SentText("model-version", "N", &version_,
                   "only this version of MODEL");
  }

  static void Print(const inference::ModelStatisticsResponse& response,
                    bool batches, Terminal& terminal) {
    Table table({"MODEL", "VERSION", ">REQUESTS", ">FAILED", ">ROWS",
                 ">BATCHES", ">MEAN BATCH", ">QUEUE", ">INPUT", ">INFER",
                 ">OUTPUT", ">TOTAL"});
    for (const ModelStatistics& model : response.model_stats()) {
      const auto& stats = model.inference_stats();
      table.AddRow({model.name(), model.version(),
                    Count(stats.success().count()), Count(stats.fail().count()),
                    Count(model.inference_count()),
                    Count(model.execution_count()), MeanBatchText(model),
                    Mean(stats.queue()), Mean(stats.compute_input()),
                    Mean(stats.compute_infer()), Mean(stats.compute_output()),
                    Mean(stats.success())});
    }
    terminal.out << table.Text();
    if (!batches) return;
    for (const ModelStatistics& model : response.model_stats()) {
      if (model.batch_stats().empty()) continue;
      terminal.out << "\nversion " << model.version() << ", by batch size\n"
                   << BatchTable(model);
    }
  }

  std::string version_;
};

}  // namespace

std::unique_ptr<Command> MakeStatsCommand() {
  return std::make_unique<StatsCommand>();
}

}  // namespace reprise::client
