#include "server/flag_table.h"

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace reprise {
namespace {

// Makers of flags by the type of their field. `Field` is a function from
// ServerOptions& to the field.
template <typename Field>
Flag Switch(const char* name, const char* help, Field field) {
  return {name,
          "",
          help,
          false,
          [field](absl::string_view text, ServerOptions& options) {
            bool value = false;
            if (!absl::SimpleAtob(text, &value)) {
              return absl::InvalidArgumentError("expected true or false");
            }
            field(options) = value;
            return absl::OkStatus();
          },
          [field](const ServerOptions& options) {
            return std::string(field(options) ? "true" : "false");
          }};
}

template <typename Field>
Flag Number(const char* name, const char* value, const char* help,
            Field field) {
  return {name,
          value,
          help,
          false,
          [field](absl::string_view text, ServerOptions& options) {
            std::decay_t<decltype(field(options))> number = 0;
            if (!absl::SimpleAtoi(text, &number)) {
              // It stands at a limit if there are digits, but too many.
              return absl::InvalidArgumentError(
                  number == 0 ? "expected a whole number" : "is out of range");
            }
            field(options) = number;
            return absl::OkStatus();
          },
          [field](const ServerOptions& options) {
            return absl::StrCat(field(options));
          }};
}

template <typename Field>
Flag Text(const char* name, const char* value, const char* help, Field field) {
  return {name,
          value,
          help,
          false,
          [field](absl::string_view text, ServerOptions& options) {
            field(options) = std::string(text);
            return absl::OkStatus();
          },
          [field](const ServerOptions& options) {
            return std::string(field(options));
          }};
}

template <typename Field>
Flag List(const char* name, const char* value, const char* help, Field field) {
  return {name,
          value,
          help,
          true,
          [field](absl::string_view text, ServerOptions& options) {
            field(options).emplace_back(text);
            return absl::OkStatus();
          },
          [field](const ServerOptions& options) {
            return absl::StrJoin(field(options), ",");
          }};
}

// A duration in `unit`; "0" may stand for none or never, as the help says.
template <typename Field>
Flag Time(const char* name, absl::Duration unit, const char* help,
          Field field) {
  const char* const value =
      unit == absl::Seconds(1) ? "SECONDS" : "MILLISECONDS";
  return {name,
          value,
          help,
          false,
          [field, unit](absl::string_view text, ServerOptions& options) {
            double number = 0;
            if (!absl::SimpleAtod(text, &number) || !(number >= 0) ||
                number > 1e12) {
              return absl::InvalidArgumentError("expected a number >= 0");
            }
            field(options) = number * unit;
            return absl::OkStatus();
          },
          [field, unit](const ServerOptions& options) {
            return absl::StrFormat("%.15g",
                                   absl::FDivDuration(field(options), unit));
          }};
}

// As Time, with 0 for a duration without end.
template <typename Field>
Flag TimeOrNever(const char* name, absl::Duration unit, const char* help,
                 Field field) {
  Flag flag = Time(name, unit, help, field);
  flag.set = [field, set = flag.set](absl::string_view text,
                                     ServerOptions& options) {
    absl::Status status = set(text, options);
    if (status.ok() && field(options) == absl::ZeroDuration()) {
      field(options) = absl::InfiniteDuration();
    }
    return status;
  };
  flag.show = [field, show = flag.show](const ServerOptions& options) {
    return field(options) == absl::InfiniteDuration() ? "0" : show(options);
  };
  return flag;
}

template <typename Enum, size_t kCount>
struct Words {
  std::array<std::pair<const char*, Enum>, kCount> words;
};

template <typename Enum, size_t kCount, typename Field>
Flag OneOf(const char* name, const char* value, const char* help,
           Words<Enum, kCount> words, Field field) {
  return {
      name,
      value,
      help,
      false,
      [field, words, value](absl::string_view text, ServerOptions& options) {
        for (const auto& [word, meaning] : words.words) {
          if (text != word) continue;
          field(options) = meaning;
          return absl::OkStatus();
        }
        return absl::InvalidArgumentError(absl::StrCat("expected ", value));
      },
      [field, words](const ServerOptions& options) {
        for (const auto& [word, meaning] : words.words) {
          if (field(options) == meaning) return std::string(word);
        }
        return std::string();
      }};
}

// The field of an option: works on const and other ServerOptions alike.
#define REPRISE_FIELD(path) \
  [](auto& options) -> auto& { return options.path; }

constexpr absl::Duration kSecond = absl::Seconds(1);
constexpr absl::Duration kMillisecond = absl::Milliseconds(1);

FlagGroup Models() {
  constexpr Words<ControlMode, 3> kModes{{{{"none", ControlMode::kNone},
                                           {"explicit", ControlMode::kExplicit},
                                           {"poll", ControlMode::kPoll}}}};
  return {
      "Models",
      {List("model-repository", "DIR",
            "A Triton-style repository: DIR/<model>/<version>/model.onnx, with "
            "DIR/<model>/config.pbtxt if there is one. May be repeated.",
            REPRISE_FIELD(models.repositories)),
       Text("model-name", "NAME",
            "With --model-path: serve this one model, without a repository.",
            REPRISE_FIELD(models.model_name)),
       Text("model-path", "DIR",
            "The folder of that model, in any of KServe's layouts.",
            REPRISE_FIELD(models.model_path)),
       OneOf(
           "model-control-mode", "none|explicit|poll",
           "none: all models, loaded at start. explicit: those of "
           "--load-model, and what the load and unload RPCs ask for. poll: as "
           "none, and changes of the repository are followed.",
           kModes, REPRISE_FIELD(models.mode)),
       List("load-model", "NAME",
            "A model to load at start in mode explicit; * stands for all. May "
            "be repeated.",
            REPRISE_FIELD(models.load_models)),
       Time("repository-poll-secs", kSecond,
            "How often mode poll looks at the repository.",
            REPRISE_FIELD(models.poll_interval)),
       Switch("strict-readiness",
              "Not ready until every model that is to be loaded at start is.",
              REPRISE_FIELD(models.strict_readiness)),
       Switch("exit-on-error",
              "Exit if a model that is to be loaded at start cannot be.",
              REPRISE_FIELD(exit_on_error)),
       Text("model-config-name", "NAME",
            "Use <model>/configs/NAME.pbtxt where it exists.",
            REPRISE_FIELD(models.config_name)),
       Switch("disable-auto-complete-config",
              "Refuse models whose configuration is not complete.",
              REPRISE_FIELD(models.strict_config)),
       Number("default-max-batch-size", "ROWS",
              "Of a model that can be batched and has no configuration; 1 to "
              "65536.",
              REPRISE_FIELD(models.default_max_batch_size)),
       Number("model-load-thread-count", "COUNT",
              "Models that are loaded at a time.",
              REPRISE_FIELD(models.load_threads)),
       Number("max-queue-requests", "COUNT",
              "Requests that may wait for a model; more are answered "
              "RESOURCE_EXHAUSTED.",
              REPRISE_FIELD(models.max_queue_requests)),
       Number("max-queue-bytes", "BYTES",
              "Tensor bytes that may wait for a model, likewise.",
              REPRISE_FIELD(models.max_queue_bytes))}};
}

FlagGroup Devices() {
  constexpr Words<DeviceChoice, 3> kDevices{{{{"auto", DeviceChoice::kAuto},
                                              {"cpu", DeviceChoice::kCpu},
                                              {"cuda", DeviceChoice::kCuda}}}};
  constexpr Words<VerifyChoice, 2> kVerify{
      {{{"none", VerifyChoice::kNone}, {"cpu", VerifyChoice::kCpu}}}};
  return {"Devices",
          {OneOf("device", "auto|cpu|cuda",
                 "What runs the models. auto: GPUs if there are any, else the "
                 "CPU.",
                 kDevices, REPRISE_FIELD(device)),
           Text("gpus", "LIST",
                "GPUs to serve on: all, or with commas indices or UUIDs as "
                "nvidia-smi "
                "has them (GPU-..., MIG-...) or their beginnings.",
                REPRISE_FIELD(gpus)),
           Number("cpu-threads", "COUNT",
                  "Threads that compute on the CPU, up to 1024; 0: as many as "
                  "cores.",
                  REPRISE_FIELD(cpu_threads)),
           TimeOrNever("watchdog-ms", kMillisecond,
                       "A batch that takes longer than this, and than 20 times "
                       "what its size has taken, ends readiness until it is "
                       "done, and on a GPU the process; 0: none does.",
                       REPRISE_FIELD(watchdog)),
           Switch("strict-graphs",
                  "Refuse a model on a GPU when one of its batch sizes cannot "
                  "be captured as a graph; otherwise that size is left out, "
                  "with a warning.",
                  REPRISE_FIELD(strict_graphs)),
           OneOf("verify", "none|cpu",
                 "Hold one row of every model on a GPU against the CPU while "
                 "it is loaded, and refuse it if they differ. Takes host "
                 "memory for the weights meanwhile.",
                 kVerify, REPRISE_FIELD(verify)),
           Time("load-step-ms", kMillisecond,
                "The longest that one step of loading a model should keep a "
                "GPU from the batches of others, where a step can be cut.",
                REPRISE_FIELD(load_step)),
           Number("load-share-percent", "PERCENT",
                  "How much of a GPU's time loading may take while there are "
                  "batches of others to run: 1 to 100.",
                  REPRISE_FIELD(load_share_percent))}};
}

FlagGroup Grpc() {
  return {
      "gRPC",
      {Text("grpc-address", "ADDRESS",
            "Where to listen: a host, an IPv4 or IPv6 address (0.0.0.0 for all "
            "of IPv4), or unix:/path.",
            REPRISE_FIELD(grpc.address)),
       Number("grpc-port", "PORT", "Up to 65535; 0: any that is free.",
              REPRISE_FIELD(grpc.port)),
       Number("grpc-max-message-bytes", "BYTES",
              "The largest request and the largest reply. gRPC itself refuses "
              "larger requests, uncounted. 1024 to 2147483647.",
              REPRISE_FIELD(grpc.max_message_bytes)),
       Number("grpc-memory-bytes", "BYTES",
              "Memory for messages in flight; beyond it reading slows down. At "
              "least --grpc-max-message-bytes.",
              REPRISE_FIELD(grpc.memory_bytes)),
       Number("grpc-max-concurrent-streams", "COUNT",
              "Calls in flight on one connection; more wait in the client. 0: "
              "no limit.",
              REPRISE_FIELD(grpc.max_concurrent_streams)),
       Number(
           "grpc-infer-thread-count", "COUNT",
           "Threads that poll for events, 1 to 1024. One is best unless it is "
           "the bottleneck.",
           REPRISE_FIELD(grpc.threads)),
       Number("grpc-infer-posted-calls", "COUNT",
              "Calls that stand ready for arrivals, 1 to 65536.",
              REPRISE_FIELD(grpc.posted_calls)),
       Number("grpc-load-threads", "COUNT",
              "Load and unload calls that are handled at a time, 1 to 1024.",
              REPRISE_FIELD(grpc.load_threads)),
       Switch("queue-full-unavailable",
              "Answer a full queue with UNAVAILABLE, as Triton does, not with "
              "RESOURCE_EXHAUSTED.",
              REPRISE_FIELD(grpc.unavailable_when_full))}};
}

FlagGroup Tls() {
  return {
      "TLS",
      {Switch("grpc-use-ssl", "Serve TLS.", REPRISE_FIELD(grpc.tls.enabled)),
       Switch("grpc-use-ssl-mutual",
              "Serve TLS, and refuse clients without a certificate of "
              "--grpc-root-cert.",
              REPRISE_FIELD(grpc.tls.mutual)),
       Text("grpc-server-cert", "FILE",
            "The server's certificate chain, PEM. Changed files are used for "
            "new connections once they parse and key and certificate match.",
            REPRISE_FIELD(grpc.tls.certificate)),
       Text("grpc-server-key", "FILE", "Its private key, PEM.",
            REPRISE_FIELD(grpc.tls.key)),
       Text("grpc-root-cert", "FILE",
            "What clients' certificates are checked against, PEM.",
            REPRISE_FIELD(grpc.tls.root)),
       Time("grpc-cert-refresh-secs", kSecond,
            "How long files are not looked at again; then the next new "
            "connection looks.",
            REPRISE_FIELD(grpc.tls.refresh))}};
}

FlagGroup Keepalive() {
  return {
      "Connections",
      {Time("grpc-keepalive-time", kMillisecond,
            "Ping a silent client after so long, at least 1.",
            REPRISE_FIELD(grpc.keepalive.time)),
       Time(
           "grpc-keepalive-timeout", kMillisecond,
           "Close the connection if the ping is not answered in time; at least "
           "1.",
           REPRISE_FIELD(grpc.keepalive.timeout)),
       Switch("grpc-keepalive-permit-without-calls",
              "Pings are welcome on a connection without calls.",
              REPRISE_FIELD(grpc.keepalive.permit_without_calls)),
       Number("grpc-http2-max-pings-without-data", "COUNT",
              "Pings that may be sent before data must be; 0: any number.",
              REPRISE_FIELD(grpc.keepalive.max_pings_without_data)),
       Time("grpc-http2-min-recv-ping-interval-without-data", kMillisecond,
            "A client that pings more often is sent away.",
            REPRISE_FIELD(grpc.keepalive.min_receive_ping_interval)),
       Number("grpc-http2-max-ping-strikes", "COUNT",
              "Pings too early before that happens; 0: never.",
              REPRISE_FIELD(grpc.keepalive.max_ping_strikes)),
       TimeOrNever("grpc-max-connection-age", kMillisecond,
                   "Send clients away after so long, so that they balance "
                   "anew; 0: never.",
                   REPRISE_FIELD(grpc.keepalive.max_connection_age)),
       TimeOrNever("grpc-max-connection-age-grace", kMillisecond,
                   "What their calls then still have; 0: as long as they take.",
                   REPRISE_FIELD(grpc.keepalive.max_connection_age_grace))}};
}

FlagGroup Metrics() {
  return {
      "Metrics and probes (HTTP: /metrics /livez /readyz, status page at /)",
      {Switch("allow-metrics", "Serve them.", REPRISE_FIELD(metrics.enabled)),
       Text(
           "metrics-address", "ADDRESS",
           "Where to listen: a host name or an IPv4 address (0.0.0.0 for all), "
           "neither IPv6 nor a Unix socket.",
           REPRISE_FIELD(metrics.address)),
       Number("metrics-port", "PORT", "Up to 65535; 0: any that is free.",
              REPRISE_FIELD(metrics.port))}};
}

FlagGroup Logs() {
  constexpr Words<LogFormat, 4> kFormats{{{{"text", LogFormat::kText},
                                           {"json", LogFormat::kJson},
                                           {"default", LogFormat::kText},
                                           {"ISO8601", LogFormat::kText}}}};
  return {
      "Logs (standard error)",
      {OneOf("log-format", "text|json",
             "Text, or one JSON object a line. Triton's default and ISO8601 "
             "are text.",
             kFormats, REPRISE_FIELD(log.format)),
       Text("log-file", "FILE",
            "Append standard error to this file from the first line of the "
            "log on.",
            REPRISE_FIELD(log_file)),
       Number("log-verbose", "LEVEL", "Detail, at least 0, which is none.",
              REPRISE_FIELD(log.verbose_level)),
       Switch("log-info", "Lines about what happens.", REPRISE_FIELD(log.info)),
       Switch("log-warning", "Warnings.", REPRISE_FIELD(log.warning)),
       Switch("log-error", "Errors.", REPRISE_FIELD(log.error)),
       Time("slow-request-ms", kMillisecond,
            "A line with code and stage times for each request that takes "
            "longer, at most ten a second; 0: none.",
            REPRISE_FIELD(grpc.slow_request))}};
}

FlagGroup Stopping() {
  return {
      "Stopping (SIGTERM; a second one, 100 ms or more later, exits at once)",
      {Time("lame-duck-secs", kSecond,
            "Not ready, but still serving, before accepting ends.",
            REPRISE_FIELD(lame_duck)),
       Time("exit-timeout-secs", kSecond, "Then, to answer what was accepted.",
            REPRISE_FIELD(exit_timeout))}};
}

#undef REPRISE_FIELD

}  // namespace

const std::vector<FlagGroup>& FlagTable() {
  static const auto* const table =
      new std::vector<FlagGroup>{Models(),    Devices(), Grpc(), Tls(),
                                 Keepalive(), Metrics(), Logs(), Stopping()};
  return *table;
}

}  // namespace reprise
