#include "client/cli/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/format.h"

namespace reprise::client {
namespace {

// Columns that UTF-8 text takes, for text without wide characters.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Table::Table(const std::vector<std::string>& headers) {
  std::vector<std::string> names;
  for (const std::string& header : headers) {
    const bool right = absl::StartsWith(header, ">");
    right_.push_back(right);
    names.push_back(right ? header.substr(1) : header);
  }
  rows_.push_back(std::move(names));
}

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(right_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<size_t> widths(right_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(row[i]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - Width(row[i]), ' ');
      absl::StrAppend(&line, i == 0 ? "" : "  ", right_[i] ? space : "", row[i],
                      right_[i] ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, line, "\n");
  }
  return out;
}

}  // namespace reprise::client
