// What the checked-in lists say of ONNX's backend tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reprise {

// Every test of the suite is either allowed, and then it must pass, or excused
// by a row of the skip list, and then it must be refused in the words that the
// row expects. Nothing else is in order: a skipped test that passes, one that
// no row excuses, an allowed one that is not there, a row that excuses nothing.
//
// allowed.txt has a name a line, "node/test_abs". skipped.txt has rows
//   operator NAME... | reason          refused for an operator of that name
//   test PATTERN | refusal | reason    of that name, "*" standing for anything,
//                                      and refused with that text
// A wrong answer is excused by no pattern that begins with "*". Lines that
// begin with "#" are comments.
class SuiteLists {
 public:
  // INVALID_ARGUMENT for a row of another form, with its line.
  static absl::StatusOr<SuiteLists> Parse(const std::string& allowed,
                                          const std::string& skipped);

  // What is wrong with `outcome` of the test `name`; "" if nothing is.
  std::string Judge(const std::string& name, const absl::Status& outcome);

  // What the lists name and no test was.
  std::vector<std::string> Unused() const;

  // "passed 900, failed 0, skipped 172 of 1072"
  std::string Counts() const;
  // Skipped tests by reason, a line each.
  std::string Reasons() const;

 private:
  struct Row {
    std::string what;     // as the list has it
    std::string pattern;  // of names
    std::string refusal;  // in the status
    bool at_end = false;  // the status ends with it
    std::string reason;
    int used = 0;
  };

  absl::Status AddRow(const std::string& line);

  std::map<std::string, bool> allowed_;  // by name: seen
  std::vector<Row> rows_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

}  // namespace reprise
