// Text in aligned columns.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace reprise::client {

// Columns whose header begins with '>' are aligned to the right (the sign is
// not printed). Rows may be shorter than the header.
class Table {
 public:
  explicit Table(const std::vector<std::string>& headers);

  // A cell is one line: OneLine of what is given.
  void AddRow(std::vector<std::string> cells);

  // Two spaces between columns, none at the ends of lines.
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
  std::vector<bool> right_;
};

}  // namespace reprise::client
