#include "server/triton_flags.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

constexpr TritonFlag Ignored(const char* name) {
  return {name, false, nullptr, nullptr};
}

constexpr TritonFlag IgnoredSwitch(const char* name) {
  return {name, true, nullptr, nullptr};
}

constexpr TritonFlag Refused(const char* name, const char* why) {
  return {name, false, why, nullptr};
}

// Served with one of its two values only.
constexpr TritonFlag Fixed(const char* name, const char* harmless,
                           const char* why) {
  return {name, true, why, harmless};
}

constexpr char kNoHttp[] = "inference is served over gRPC only";
constexpr char kNoSageMaker[] = "SageMaker's endpoint is not served";
constexpr char kNoVertex[] = "Vertex AI's endpoint is not served";
constexpr char kNoRestriction[] =
    "groups of calls cannot be restricted; it would protect nothing";

constexpr TritonFlag kFlags[] = {
    // HTTP, which is never served.
    Fixed("allow-http", "false", kNoHttp),
    Ignored("http-address"),
    Ignored("http-port"),
    Ignored("http-thread-count"),
    Ignored("http-max-input-size"),
    Ignored("http-header-forward-pattern"),
    IgnoredSwitch("reuse-http-port"),
    Refused("http-restricted-api", kNoRestriction),
    // gRPC, which is always.
    Fixed("allow-grpc", "true", "gRPC is the only way in"),
    Ignored("grpc-header-forward-pattern"),
    Ignored("grpc-infer-allocation-pool-size"),
    Ignored("grpc-infer-response-compression-level"),
    IgnoredSwitch("reuse-grpc-port"),
    Refused("grpc-restricted-protocol", kNoRestriction),
    Fixed("allow-client-shm", "false", "shared memory is not served"),
    // Clouds.
    Fixed("allow-sagemaker", "false", kNoSageMaker),
    Refused("sagemaker-port", kNoSageMaker),
    Refused("sagemaker-safe-port-range", kNoSageMaker),
    Refused("sagemaker-thread-count", kNoSageMaker),
    Fixed("allow-vertex-ai", "false", kNoVertex),
    Refused("vertex-ai-port", kNoVertex),
    Refused("vertex-ai-thread-count", kNoVertex),
    Refused("vertex-ai-default-model", kNoVertex),
    // Metrics, traces.
    IgnoredSwitch("allow-cpu-metrics"),
    IgnoredSwitch("allow-gpu-metrics"),
    Ignored("metrics-config"),
    Ignored("metrics-interval-ms"),
    Ignored("trace-config"),
    Ignored("trace-count"),
    Ignored("trace-file"),
    Ignored("trace-level"),
    Ignored("trace-log-frequency"),
    Ignored("trace-rate"),
    // Models, backends, memory.
    Fixed("model-namespacing", "false",
          "a model's name is unique over all repositories"),
    Ignored("backend-config"),
    Ignored("backend-directory"),
    Ignored("buffer-manager-thread-count"),
    Ignored("cache-config"),
    Ignored("cache-directory"),
    Ignored("cuda-memory-pool-byte-size"),
    Ignored("cuda-virtual-address-size"),
    IgnoredSwitch("enable-peer-access"),
    Ignored("host-policy"),
    Ignored("id"),
    Ignored("min-supported-compute-capability"),
    Ignored("model-load-gpu-limit"),
    Ignored("model-load-retry-count"),
    Ignored("pinned-memory-pool-byte-size"),
    Ignored("rate-limit"),
    Ignored("rate-limit-resource"),
    Ignored("repoagent-directory"),
    Ignored("response-cache-byte-size"),
};

std::vector<TritonFlag> Sorted(std::vector<TritonFlag> flags) {
  std::sort(flags.begin(), flags.end(),
            [](const TritonFlag& a, const TritonFlag& b) {
              return absl::string_view(a.name) < b.name;
            });
  return flags;
}

// "--name" or, for a switch with one value that is so anyway, with `value`.
std::string Form(const TritonFlag& flag, absl::string_view value) {
  return absl::StrCat("--", flag.name,
                      flag.harmless == nullptr ? "" : absl::StrCat("=", value));
}

}  // namespace

const std::vector<TritonFlag>& TritonFlags() {
  static const auto* const flags = new std::vector<TritonFlag>(
      Sorted({std::begin(kFlags), std::end(kFlags)}));
  return *flags;
}

const TritonFlag* FindTritonFlag(absl::string_view name) {
  for (const TritonFlag& flag : TritonFlags()) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

absl::Status CheckIgnorable(const TritonFlag& flag, absl::string_view value) {
  bool said = false;
  if (flag.is_switch && !absl::SimpleAtob(value, &said)) {
    return absl::InvalidArgumentError("expected true or false");
  }
  if (flag.refusal == nullptr) return absl::OkStatus();
  bool harmless = false;
  if (flag.harmless != nullptr && absl::SimpleAtob(flag.harmless, &harmless) &&
      said == harmless) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(flag.refusal);
}

const std::vector<FlagAlias>& FlagAliases() {
  static const auto* const aliases = new std::vector<FlagAlias>{
      {"model-store", "model-repository"},
      {"strict-model-config", "disable-auto-complete-config"}};
  return *aliases;
}

const FlagAlias* FindAlias(absl::string_view name) {
  for (const FlagAlias& alias : FlagAliases()) {
    if (name == alias.name) return &alias;
  }
  return nullptr;
}

std::vector<std::string> IgnoredForms() {
  std::vector<std::string> forms;
  for (const TritonFlag& flag : TritonFlags()) {
    if (flag.refusal != nullptr && flag.harmless == nullptr) continue;
    forms.push_back(Form(flag, flag.harmless == nullptr ? "" : flag.harmless));
  }
  return forms;
}

std::vector<std::string> RefusedForms() {
  std::vector<std::string> forms;
  for (const TritonFlag& flag : TritonFlags()) {
    if (flag.refusal == nullptr) continue;
    const bool yes =
        flag.harmless != nullptr && absl::string_view(flag.harmless) == "false";
    forms.push_back(Form(flag, yes ? "true" : "false"));
  }
  return forms;
}

}  // namespace reprise
