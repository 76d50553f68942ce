#include "client/cli/bench_report.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/table.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

constexpr double kPercentiles[] = {10, 25, 50, 75, 90, 95, 99, 99.9};
constexpr int kHistogramMarks = 10;

std::string CodeName(int code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

// "ResourceExhausted", as Go's gRPC and with it ghz write a code.
std::string GoCodeName(int code) {
  if (code == 0) return "OK";
  if (code == 1) return "Canceled";
  const std::vector<std::string> words = absl::StrSplit(CodeName(code), '_');
  return absl::StrJoin(words, "", [](std::string* out, const std::string& w) {
    absl::StrAppend(out, w.substr(0, 1), absl::AsciiStrToLower(w.substr(1)));
  });
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string Latency(const Histogram& latency, double percent) {
  return FormatNanos(static_cast<double>(latency.Percentile(percent)));
}

std::string RateText(double rate) {
  return rate < 100 ? absl::StrCat(FormatDecimal(rate), "/s")
                    : absl::StrCat(FormatCount(std::llround(rate)), "/s");
}

double OkRate(const LoadResult& result) {
  const double seconds = Seconds(result.elapsed);
  return seconds > 0 ? static_cast<double>(result.ok()) / seconds : 0;
}

double RowRate(const BenchStep& step) {
  return OkRate(step.result) * static_cast<double>(step.batch);
}

std::string ErrorsText(const LoadResult& result) {
  std::vector<std::string> parts;
  for (const auto& [code, count] : result.by_code) {
    if (code == 0) continue;
    parts.push_back(absl::StrCat(FormatCount(count), " ", CodeName(code)));
  }
  return parts.empty() ? "none" : absl::StrJoin(parts, ", ");
}

std::string ErrorText(const absl::Status& status) {
  return OneLine(absl::StrCat(absl::StatusCodeToString(status.code()), ": ",
                              status.message()));
}

std::string BatchesText(const ServerSplit& split) {
  std::vector<std::string> sizes;
  for (const auto& [size, count] : split.batches_by_size) {
    sizes.push_back(absl::StrCat(FormatCount(count), " of ", size));
  }
  return absl::StrCat(FormatCount(split.batches), " with ",
                      FormatDecimal(split.rows_per_batch()), " rows on average",
                      sizes.empty() ? "" : ": ", absl::StrJoin(sizes, ", "));
}

// The client's mean minus what the server accounts for: the network, both gRPC
// stacks, and in an open loop the wait for a place.
double OverheadNs(const BenchStep& step) {
  return std::max(0.0, step.result.latency.mean() - step.split->total_ns());
}

// What the server itself says of the step: one line, or two.
std::string ServerText(const BenchStep& step) {
  if (absl::IsUnimplemented(step.split.status())) {
    return "  server   it has no statistics\n";
  }
  if (!step.split.ok()) {
    return absl::StrCat("  server   its statistics are missing: ",
                        ErrorText(step.split.status()), "\n");
  }
  const ServerSplit& split = *step.split;
  std::string text;
  if (split.restarted) {
    absl::StrAppend(&text, "  server   its statistics began anew meanwhile (a ",
                    "reload?) and leave out what was before\n");
  }
  if (split.requests > 0) {
    absl::StrAppend(&text, "  server   queue ", FormatNanos(split.queue_ns),
                    "  input ", FormatNanos(split.input_ns), "  infer ",
                    FormatNanos(split.infer_ns), "  output ",
                    FormatNanos(split.output_ns), "  overhead ",
                    FormatNanos(OverheadNs(step)), "\n");
  } else if (!split.restarted) {
    absl::StrAppend(&text, "  server   it answered no request OK\n");
  }
  if (split.batches > 0) {
    absl::StrAppend(&text, "  batches  ", BatchesText(split), "\n");
  }
  return text;
}

Json HistogramJson(const Histogram& latency) {
  Json marks = Json::array();
  if (latency.count() == 0) return marks;
  const double low = static_cast<double>(latency.min());
  const double width =
      (static_cast<double>(latency.max()) - low) / kHistogramMarks;
  int64_t below = -1;
  for (int i = 0; i <= kHistogramMarks; ++i) {
    const int64_t mark = i == kHistogramMarks
                             ? INT64_MAX
                             : static_cast<int64_t>(low + width * i);
    const int64_t count = latency.CountBetween(below, mark);
    marks.push_back({{"mark", (low + width * i) / 1e9},
                     {"count", count},
                     {"frequency", static_cast<double>(count) /
                                       static_cast<double>(latency.count())}});
    below = mark;
  }
  return marks;
}

Json SplitJson(const BenchStep& step) {
  const ServerSplit& split = *step.split;
  Json sizes = Json::object();
  for (const auto& [size, count] : split.batches_by_size) {
    sizes[absl::StrCat(size)] = count;
  }
  return {{"requests", split.requests},
          {"failed", split.failed},
          {"restarted", split.restarted},
          {"rows", split.rows},
          {"batches", split.batches},
          {"rowsPerBatch", split.rows_per_batch()},
          {"batchesBySize", std::move(sizes)},
          {"queue", split.queue_ns},
          {"computeInput", split.input_ns},
          {"computeInfer", split.infer_ns},
          {"computeOutput", split.output_ns},
          {"overhead", OverheadNs(step)}};
}

Json OwnJson(const BenchStep& step) {
  const LoadResult& result = step.result;
  Json own = {{"model", step.model},
              {"load", step.load},
              {"batch", step.batch},
              {"okPerSecond", OkRate(result)},
              {"rowsPerSecond", RowRate(step)},
              {"late", result.late},
              {"unsent", result.unsent}};
  if (step.split.ok()) {
    own["server"] = SplitJson(step);
  } else {
    own["serverError"] = ErrorText(step.split.status());
  }
  return own;
}

}  // namespace

std::string StepText(const BenchStep& step) {
  const LoadResult& result = step.result;
  const Histogram& latency = result.latency;
  std::string text = absl::StrFormat(
      "%s: %s, %d connection%s, batch %d%s\n"
      "  calls    %s in %.2f s: %s",
      step.model, step.load, step.connections, step.connections == 1 ? "" : "s",
      step.batch, result.interrupted ? " (interrupted)" : "",
      FormatCount(result.calls), Seconds(result.elapsed),
      RateText(result.rate()));
  absl::StrAppend(&text, ", OK ", RateText(OkRate(result)));
  if (step.batch > 1)
    absl::StrAppend(&text, ", rows ", RateText(RowRate(step)));
  absl::StrAppend(&text, "\n  errors   ", ErrorsText(result), "\n");
  absl::StrAppend(&text, "  latency  p50 ", Latency(latency, 50), "  p90 ",
                  Latency(latency, 90), "  p99 ", Latency(latency, 99),
                  "  p99.9 ", Latency(latency, 99.9), "  max ",
                  FormatNanos(static_cast<double>(latency.max())), "  mean ",
                  FormatNanos(latency.mean()), "\n");
  absl::StrAppend(&text, ServerText(step));
  for (const auto& [message, count] : result.errors) {
    absl::StrAppend(&text, "  ", FormatCount(count), " x ", OneLine(message),
                    "\n");
  }
  if (result.late > 0) {
    absl::StrAppend(&text, "  ", FormatCount(result.late),
                    " calls left more than 1 ms after they were due\n");
  }
  if (result.unsent > 0) {
    absl::StrAppend(&text, "  ", FormatCount(result.unsent),
                    " calls were due and never left: too many under way\n");
  }
  return text;
}

std::string StepsTable(const std::vector<BenchStep>& steps) {
  Table table({">LOAD", ">RATE", ">OK", ">P50", ">P90", ">P99", ">P99.9",
               ">ERRORS", ">MEAN BATCH"});
  for (const BenchStep& step : steps) {
    const LoadResult& result = step.result;
    table.AddRow({step.load, RateText(result.rate()), RateText(OkRate(result)),
                  Latency(result.latency, 50), Latency(result.latency, 90),
                  Latency(result.latency, 99), Latency(result.latency, 99.9),
                  FormatCount(result.calls - result.ok()),
                  step.split.ok() && step.split->batches > 0
                      ? FormatDecimal(step.split->rows_per_batch())
                      : "-"});
  }
  return table.Text();
}

Json StepJson(const BenchStep& step) {
  const LoadResult& result = step.result;
  const Histogram& latency = result.latency;
  Json codes = Json::object();
  for (const auto& [code, count] : result.by_code) {
    codes[GoCodeName(code)] = count;
  }
  Json errors = Json::object();
  for (const auto& [message, count] : result.errors) errors[message] = count;
  Json percentiles = Json::array();
  for (const double percent : kPercentiles) {
    if (latency.count() == 0) break;
    percentiles.push_back(
        {{"percentage", percent}, {"latency", latency.Percentile(percent)}});
  }
  Json options = {{"call", "inference.GRPCInferenceService.ModelInfer"},
                  {"host", step.server},
                  {"connections", step.connections}};
  if (step.rate.has_value()) {
    options["rps"] = *step.rate;
    options["async"] = true;
  } else {
    options["concurrency"] = step.concurrency;
  }
  return {{"date", step.date},
          {"endReason", result.interrupted ? "cancel" : "normal"},
          {"options", std::move(options)},
          {"count", result.calls},
          {"total", result.elapsed.count()},
          {"average", static_cast<int64_t>(latency.mean())},
          {"fastest", latency.min()},
          {"slowest", latency.max()},
          {"rps", result.rate()},
          {"errorDistribution", std::move(errors)},
          {"statusCodeDistribution", std::move(codes)},
          {"latencyDistribution", std::move(percentiles)},
          {"histogram", HistogramJson(latency)},
          {"details", nullptr},
          {"reprise", OwnJson(step)}};
}

std::string ProgressText(const LoadProgress& progress) {
  return absl::StrFormat("%4.0f s  %s  p50 %s  p99 %s  %s under way  %s failed",
                         Seconds(progress.elapsed), RateText(progress.rate),
                         FormatNanos(static_cast<double>(progress.p50)),
                         FormatNanos(static_cast<double>(progress.p99)),
                         FormatCount(progress.in_flight),
                         FormatCount(progress.failed));
}

}  // namespace reprise::client
