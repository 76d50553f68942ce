// Flags of Triton's that Reprise does not have, and what becomes of them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reprise {

// A command line that starts Triton shall start Reprise: what changes no answer
// here is accepted and ignored, and the server says so. What would change
// answers, or protects something, is refused by name.
struct TritonFlag {
  const char* name;     // without dashes
  bool is_switch;       // may stand alone, as in Flag
  const char* refusal;  // why it cannot be had; null: it changes nothing
  // With a refusal: the value that changes nothing here, and is accepted; null:
  // every value is refused.
  const char* harmless;
};

// By name.
const std::vector<TritonFlag>& TritonFlags();
const TritonFlag* FindTritonFlag(absl::string_view name);

// INVALID_ARGUMENT, without the flag's name, unless it may be ignored.
absl::Status CheckIgnorable(const TritonFlag& flag, absl::string_view value);

// Another name of one of our flags, with the same values.
struct FlagAlias {
  const char* name;
  const char* flag;
};
const std::vector<FlagAlias>& FlagAliases();
const FlagAlias* FindAlias(absl::string_view name);

// "--allow-http=false": the flags that are ignored, in the form in which they
// are, or those that are refused.
std::vector<std::string> IgnoredForms();
std::vector<std::string> RefusedForms();

}  // namespace reprise
