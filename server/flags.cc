#include "server/flags.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/config_file.h"
#include "server/flag_table.h"
#include "server/triton_flags.h"

namespace reprise {
namespace {

constexpr size_t kWidth = 78;
constexpr size_t kIndent = 6;

const Flag* FindFlag(absl::string_view name) {
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      if (flag.name == name) return &flag;
    }
  }
  return nullptr;
}

// Edit distance, for suggestions.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string UnknownFlag(absl::string_view name) {
  const std::string fault = absl::StrCat("unknown flag --", name);
  const Flag* best = nullptr;
  size_t distance = 5;
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      size_t d = Distance(name, flag.name);
      if (name.size() > 4 && absl::StartsWith(flag.name, name)) d = 1;
      if (d >= distance) continue;
      best = &flag;
      distance = d;
    }
  }
  if (best == nullptr) return absl::StrCat(fault, "; --help lists them");
  return absl::StrCat(fault, "; did you mean --", best->name, "?");
}

std::string NameOf(absl::string_view written) {
  std::string name(written);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Whether `name` is a switch; nothing if no such flag is known.
std::optional<bool> IsSwitch(absl::string_view name) {
  if (name == "config") return false;
  if (const FlagAlias* const alias = FindAlias(name)) name = alias->flag;
  if (const Flag* const flag = FindFlag(name)) return flag->is_switch();
  if (const TritonFlag* const flag = FindTritonFlag(name)) {
    return flag->is_switch;
  }
  return std::nullopt;
}

bool IsBoolWord(absl::string_view text) {
  return text == "true" || text == "false" || text == "1" || text == "0";
}

// The command line by its form, before names and values are understood.
struct ParsedArguments {
  Command command = Command::kServe;
  std::string config;
  Settings settings;
  std::vector<std::string> faults;
};

class ArgReader {
 public:
  explicit ArgReader(std::span<const char* const> args) : args_(args) {}

  ParsedArguments Read() {
    while (next_ < args_.size()) ReadArgument(args_[next_++]);
    return std::move(parsed_);
  }

 private:
  void ReadArgument(absl::string_view arg) {
    if (arg == "-h" || arg == "--help") {
      parsed_.command = Command::kHelp;
      return;
    }
    if (arg == "--version") {
      parsed_.command = Command::kVersion;
      return;
    }
    if (!absl::ConsumePrefix(&arg, "--") || arg.empty()) {
      parsed_.faults.push_back(
          absl::StrCat("unexpected argument '", arg, "'; flags begin with --"));
      return;
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(arg, absl::MaxSplits('=', 1));
    const std::string name = NameOf(parts.first);
    const bool has_value = arg.size() > parts.first.size();
    const std::optional<bool> is_switch = IsSwitch(name);
    if (!is_switch.has_value()) {
      parsed_.faults.push_back(UnknownFlag(name));
      return;
    }
    std::string value(parts.second);
    if (!has_value && !TakeValue(*is_switch, name, value)) return;
    if (name != "config") {
      parsed_.settings.emplace_back(name, value);
    } else if (value.empty()) {
      parsed_.faults.emplace_back("--config needs a file");
    } else {
      parsed_.config = value;
    }
  }

  // The value of a flag without '='.
  bool TakeValue(bool is_switch, const std::string& name, std::string& value) {
    const bool more = next_ < args_.size();
    if (is_switch) {
      value = more && IsBoolWord(args_[next_]) ? args_[next_++] : "true";
      return true;
    }
    if (!more) {
      parsed_.faults.push_back(absl::StrCat("--", name, " needs a value"));
      return false;
    }
    value = args_[next_++];
    return true;
  }

  const std::span<const char* const> args_;
  size_t next_ = 0;
  ParsedArguments parsed_;
};

// Under our own names, without those flags of Triton's that are ignored.
Settings Translated(const Settings& settings, CommandLine& line,
                    std::vector<std::string>& faults) {
  Settings ours;
  for (const auto& [name, value] : settings) {
    if (const FlagAlias* const alias = FindAlias(name)) {
      ours.emplace_back(alias->flag, value);
      continue;
    }
    const TritonFlag* const flag = FindTritonFlag(name);
    if (flag == nullptr) {
      ours.emplace_back(name, value);
    } else if (const absl::Status status = CheckIgnorable(*flag, value);
               status.ok()) {
      const std::string text = absl::StrCat("--", name);
      std::vector<std::string>& ignored = line.ignored;
      if (std::find(ignored.begin(), ignored.end(), text) == ignored.end()) {
        ignored.push_back(text);
      }
    } else {
      faults.push_back(absl::StrCat("--", name, "=", value, ": ",
                                    std::string(status.message())));
    }
  }
  return ours;
}

void Apply(const Settings& settings, ServerOptions& options,
           std::vector<std::string>& faults) {
  for (const auto& [name, value] : settings) {
    const Flag* const flag = FindFlag(name);
    if (flag == nullptr) {
      faults.push_back(UnknownFlag(name));
      continue;
    }
    if (const absl::Status status = flag->set(value, options); !status.ok()) {
      faults.push_back(absl::StrCat("--", name, "=", value, ": ",
                                    std::string(status.message())));
    }
  }
}

// The file's settings without those that the command line has, too.
Settings WithoutOverridden(const Settings& file, const Settings& command_line) {
  Settings kept;
  for (const auto& setting : file) {
    const bool again = std::any_of(
        command_line.begin(), command_line.end(),
        [&](const auto& other) { return other.first == setting.first; });
    if (!again) kept.push_back(setting);
  }
  return kept;
}

// Whether `fault` is about the flag `name`, by its first words.
bool IsAbout(absl::string_view fault, absl::string_view name) {
  return absl::ConsumePrefix(&fault, "--") &&
         absl::ConsumePrefix(&fault, name) &&
         (fault.empty() || fault.front() == ' ' || fault.front() == '=' ||
          fault.front() == ':');
}

// `fault` as it is said: with the file that the value came from, if that is
// where it was.
std::string WithOrigin(const std::string& fault, const Settings& from_file,
                       const std::string& path) {
  const bool is_files = std::any_of(
      from_file.begin(), from_file.end(),
      [&](const auto& setting) { return IsAbout(fault, setting.first); });
  return is_files ? absl::StrCat(path, ": ", fault) : fault;
}

// The settings of the file `path` that count, which are applied; its faults
// name it.
Settings ApplyFile(const std::string& path, const Settings& command_line,
                   CommandLine& line, std::vector<std::string>& faults) {
  const absl::StatusOr<Settings> file = ReadConfigFile(path);
  if (!file.ok()) {
    faults.push_back(
        absl::StrCat("--config: ", std::string(file.status().message())));
    return {};
  }
  std::vector<std::string> found;
  Settings kept =
      WithoutOverridden(Translated(*file, line, found), command_line);
  Apply(kept, line.options, found);
  for (const std::string& fault : found) {
    faults.push_back(absl::StrCat(path, ": ", fault));
  }
  return kept;
}

void AppendWrapped(absl::string_view text, std::string& out) {
  const std::string indent(kIndent, ' ');
  std::string line = indent;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() > kIndent && line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(&out, line, "\n");
      line = indent;
    }
    absl::StrAppend(&line, line.size() > kIndent ? " " : "", word);
  }
  absl::StrAppend(&out, line, "\n");
}

void AppendTritonFlags(std::string& out) {
  absl::StrAppend(&out, "\nTriton's (its command lines start this server)\n");
  for (const FlagAlias& alias : FlagAliases()) {
    absl::StrAppend(&out, "  --", alias.name, "\n");
    AppendWrapped(absl::StrCat("The same as --", alias.flag, "."), out);
  }
  absl::StrAppend(&out, "  Accepted and ignored, with one warning:\n");
  AppendWrapped(absl::StrJoin(IgnoredForms(), " "), out);
  absl::StrAppend(&out,
                  "  Refused, since they would change answers or "
                  "protect something:\n");
  AppendWrapped(absl::StrJoin(RefusedForms(), " "), out);
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(
    std::span<const char* const> args) {
  ParsedArguments parsed = ArgReader(args).Read();
  CommandLine line;
  line.command = parsed.command;
  if (line.command != Command::kServe) return line;
  const Settings settings = Translated(parsed.settings, line, parsed.faults);
  Settings from_file;
  if (!parsed.config.empty()) {
    from_file = ApplyFile(parsed.config, settings, line, parsed.faults);
  }
  Apply(settings, line.options, parsed.faults);
  for (const std::string& fault : parsed.faults.empty()
                                      ? Validate(line.options)
                                      : ValidateValues(line.options)) {
    parsed.faults.push_back(WithOrigin(fault, from_file, parsed.config));
  }
  if (parsed.faults.empty()) return line;
  return absl::InvalidArgumentError(absl::StrJoin(parsed.faults, "\n"));
}

bool TakesNext(absl::string_view arg, absl::string_view next) {
  if (!absl::ConsumePrefix(&arg, "--") || absl::StrContains(arg, '=')) {
    return false;
  }
  const std::optional<bool> is_switch = IsSwitch(NameOf(arg));
  return is_switch.has_value() && (!*is_switch || IsBoolWord(next));
}

std::string HelpText() {
  std::string out =
      "reprised: serves ONNX models over gRPC (Open Inference Protocol v2)\n"
      "\n"
      "  reprised --model-repository=DIR [flags]   serve\n"
      "  reprised check DIR... [flags]             validate; exit 1 on "
      "faults\n"
      "  reprised health [ADDRESS] [SERVICE]       exit 0 if that server is "
      "serving\n"
      "\n"
      "Flags are --name=value or --name value; a switch may stand alone. "
      "Defaults are\nin brackets.\n";
  const ServerOptions defaults;
  for (const FlagGroup& group : FlagTable()) {
    absl::StrAppend(&out, "\n", group.title, "\n");
    for (const Flag& flag : group.flags) {
      const std::string value = flag.show(defaults);
      absl::StrAppend(&out, "  --", flag.name,
                      flag.is_switch() ? "" : absl::StrCat("=", flag.value),
                      value.empty() ? "" : absl::StrCat("  [", value, "]"),
                      "\n");
      AppendWrapped(flag.help, out);
    }
  }
  AppendTritonFlags(out);
  absl::StrAppend(&out, "\nOther\n  --config=FILE\n");
  AppendWrapped(
      "Flags from a file, as lines 'name: value' or a JSON object; the command "
      "line overrides them.",
      out);
  absl::StrAppend(
      &out,
      "  --version\n  --help\n\nExit codes: 0 everything answered; 1 cannot "
      "start; 2 bad flags; 3 exit timeout\nhit; 4 a GPU is lost, and the "
      "process must be "
      "started anew; 143 second signal.\n");
  return out;
}

std::vector<std::pair<std::string, std::string>> Effective(
    const ServerOptions& options) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      out.emplace_back(absl::StrCat("--", flag.name), flag.show(options));
    }
  }
  return out;
}

}  // namespace reprise
