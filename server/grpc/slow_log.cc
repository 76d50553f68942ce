#include "server/grpc/slow_log.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/log.h"
#include "runtime/base/utf8.h"
#include "server/grpc/status.h"

namespace reprise {
namespace {

constexpr int kLinesASecond = 10;
constexpr size_t kMaxId = 64;

// A caller's choice: it may be as long as a message.
absl::string_view Cut(absl::string_view id) {
  return id.size() <= kMaxId ? id : id.substr(0, CharacterStart(id, kMaxId));
}

void AppendTime(absl::string_view name, absl::Duration time,
                std::string* line) {
  absl::StrAppendFormat(line, " %s_ms=%.3f", name,
                        absl::ToDoubleMilliseconds(time));
}

// The stage in which the request ended lasts until then; the others after it
// are left out.
void AppendStages(const SlowLog::Request& request, std::string* line) {
  const StageTimes& times = request.times;
  absl::Time begin = request.task.arrival;
  for (const auto& [name, end] :
       std::initializer_list<std::pair<absl::string_view, absl::Time>>{
           {"accept", times.enqueued},
           {"queue", times.picked},
           {"gather", times.gathered},
           {"compute", times.computed},
           {"reply", request.finished}}) {
    const bool passed = end != absl::InfinitePast();
    AppendTime(name, (passed ? end : request.finished) - begin, line);
    if (!passed) return;
    begin = end;
  }
}

}  // namespace

std::string SlowLog::Line(const Request& request) {
  std::string line = absl::StrCat(
      "slow request model=", LogName(request.model.name()),
      " version=", request.model.version_text(),
      " code=", CodeName(request.code), " rows=", request.task.rows);
  if (!request.id.empty())
    absl::StrAppend(&line, " id=", LogValue(Cut(request.id)));
  AppendTime("total", request.finished - request.task.arrival, &line);
  AppendStages(request, &line);
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
