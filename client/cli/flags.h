// One table of flags drives both the parsing and the help.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reprise::client {

// Each method adds a flag that writes to its target; the target's value before
// Parse is the default that Help shows. `value` names the value in the help.
//
//   FlagTable flags;
//   flags.Text("labels", "FILE", &labels, "one label a line");
//   absl::StatusOr<std::vector<std::string>> rest = flags.Parse(arguments);
//
// Targets must outlive Parse.
class FlagTable {
 public:
  using Setter = std::function<absl::Status(const std::string&)>;

  // The flags that follow stand under this title.
  void Group(std::string title);

  void Switch(std::string name, bool* target, std::string help);
  void Text(std::string name, std::string value, std::string* target,
            std::string help);
  void List(std::string name, std::string value,
            std::vector<std::string>* target, std::string help);
  // As Text and List, of a text that goes to the server: it must be UTF-8.
  void SentText(std::string name, std::string value, std::string* target,
                std::string help);
  void SentList(std::string name, std::string value,
                std::vector<std::string>* target, std::string help);
  void Count(std::string name, std::string value, int64_t* target,
             std::string help, int64_t min = 1);
  void Real(std::string name, std::string value, double* target,
            std::string help);
  // "500us", "10s", "1m30s", "inf"; a PositiveTime is not zero.
  void Time(std::string name, std::string value, absl::Duration* target,
            std::string help);
  void PositiveTime(std::string name, std::string value, absl::Duration* target,
                    std::string help);
  void Custom(std::string name, std::string value, std::string help,
              Setter set);

  // Sets what "--name=value", "--name value" and "--switch" say, and returns
  // the other arguments; all after "--" are such. A lone "-" is one too.
  // INVALID_ARGUMENT names the flag and, for an unknown one, the nearest known.
  absl::StatusOr<std::vector<std::string>> Parse(
      const std::vector<std::string>& arguments);

  std::string Help() const;

 private:
  struct Flag {
    std::string name;
    std::string value;  // empty: a switch
    std::string help;
    Setter set;
    std::string group;
  };

  void Add(std::string name, std::string value, std::string help, Setter set);
  // The flag that was added last takes UTF-8 only.
  void RequireUtf8();
  void AddTime(std::string name, std::string value, absl::Duration* target,
               std::string help, bool zero_allowed);
  Flag* Find(const std::string& name);
  absl::Status Unknown(const std::string& name) const;

  std::vector<Flag> flags_;
  std::string group_ = "Flags";
};

}  // namespace reprise::client
