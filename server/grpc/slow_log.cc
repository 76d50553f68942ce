#include "server/grpc/slow_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/log.h"
#include "server/grpc/shown.h"
#include "server/grpc/status.h"

namespace reprise {
namespace {

constexpr int kLinesASecond = 10;

// A stage that the request did not reach is left out.
void AppendStage(absl::string_view name, absl::Time from, absl::Time to,
                 std::string* line) {
  if (from == absl::InfinitePast() || to == absl::InfinitePast()) return;
  absl::StrAppendFormat(line, " %s_ms=%.3f", name,
                        absl::ToDoubleMilliseconds(to - from));
}

}  // namespace

std::string SlowLog::Line(const Request& request) {
  const StageTimes& times = request.times;
  const absl::Time arrival = request.task.arrival;
  std::string line = absl::StrCat("slow request model=", request.model.name(),
                                  " version=", request.model.version_text(),
                                  " code=", CodeName(request.code),
                                  " rows=", request.task.rows);
  if (!request.id.empty()) absl::StrAppend(&line, " id=", Shown(request.id));
  AppendStage("total", arrival, request.finished, &line);
  AppendStage("accept", arrival, times.enqueued, &line);
  AppendStage("queue", times.enqueued, times.picked, &line);
  AppendStage("gather", times.picked, times.gathered, &line);
  AppendStage("compute", times.gathered, times.computed, &line);
  AppendStage("reply", times.computed, request.finished, &line);
  return line;
}

void SlowLog::Write(const Request& request) {
  int skipped = 0;
  {
    absl::MutexLock lock(&mu_);
    if (request.finished - window_ >= absl::Seconds(1)) {
      window_ = request.finished;
      lines_ = 0;
    }
    if (lines_ == kLinesASecond) {
      ++skipped_;
      return;
    }
    ++lines_;
    skipped = skipped_;
    skipped_ = 0;
  }
  std::string line = Line(request);
  if (skipped > 0) absl::StrAppend(&line, " not_shown=", skipped);
  LogWarning(line);
}

}  // namespace reprise
