#include "server/status_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/model/lifecycle.h"

namespace reprise {
namespace {

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

constexpr char kHead[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<title>Reprise</title><style>"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem;color:#222}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.3rem .8rem .3rem 0;"
    "border-bottom:1px solid #ddd}.ok{color:#176b2c}.no{color:#a32020}"
    "</style></head><body>";

}  // namespace

std::string Render(const StatusPage& page) {
  std::string out = kHead;
  absl::StrAppend(
      &out, "<h1>Reprise ", Escaped(page.version), "</h1><p><b class=\"",
      page.ready ? "ok\">ready" : "no\">not ready", "</b>, up ",
      absl::FormatDuration(absl::Trunc(page.uptime, absl::Seconds(1))),
      ", gRPC on ", Escaped(page.grpc_target),
      " &middot; <a href=\"/metrics\">metrics</a></p>");
  if (page.models.empty()) {
    absl::StrAppend(&out, "<p>No models.</p>");
  } else {
    absl::StrAppend(&out,
                    "<table><tr><th>model</th><th>version</th><th>state</th>"
                    "<th>reason</th></tr>");
    for (const IndexEntry& model : page.models) {
      const bool ready = model.state == VersionState::kReady;
      absl::StrAppend(&out, "<tr><td>", Escaped(model.name), "</td><td>",
                      Escaped(model.version), "</td><td class=\"",
                      ready ? "ok" : "no", "\">", StateName(model.state),
                      "</td><td>", Escaped(model.reason), "</td></tr>");
    }
    absl::StrAppend(&out, "</table>");
  }
  absl::StrAppend(&out, "</body></html>\n");
  return out;
}

}  // namespace reprise
