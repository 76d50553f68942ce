#include "server/gpu_metrics.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "runtime/base/log.h"

namespace reprise {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Labels;

constexpr absl::Duration kPeriod = absl::Seconds(1);

// A series that is there while there is something to show.
class MaybeGauge {
 public:
  MaybeGauge(Family<Gauge>& family, Labels labels)
      : family_(family), labels_(std::move(labels)) {}

  void Show(std::optional<double> value) {
    if (value.has_value()) {
      if (gauge_ == nullptr) gauge_ = &family_.Add(labels_);
      gauge_->Set(*value);
    } else if (gauge_ != nullptr) {
      family_.Remove(std::exchange(gauge_, nullptr));
    }
  }

 private:
  Family<Gauge>& family_;
  const Labels labels_;
  Gauge* gauge_ = nullptr;  // the family's
};

// Counts what a figure has grown by since `seen`, or since it was first seen;
// one that falls has begun anew.
class MaybeCounter {
 public:
  MaybeCounter(Family<Counter>& family, Labels labels,
               std::optional<double> seen = std::nullopt)
      : family_(family), labels_(std::move(labels)), seen_(seen) {}

  void Show(std::optional<double> value) {
    if (!value.has_value()) return;
    if (counter_ == nullptr) counter_ = &family_.Add(labels_);
    if (seen_.has_value() && *value > *seen_) {
      counter_->Increment(*value - *seen_);
    }
    seen_ = value;
  }

 private:
  Family<Counter>& family_;
  const Labels labels_;
  Counter* counter_ = nullptr;  // the family's
  std::optional<double> seen_;
};

Labels Plus(Labels labels, const char* name, absl::string_view value) {
  labels[name] = std::string(value);
  return labels;
}

}  // namespace

class GpuMetrics::Families {
 public:
  explicit Families(prometheus::Registry& metrics)
      : energy(prometheus::BuildCounter()
                   .Name("reprise_energy_joules_total")
                   .Help("Energy that the GPU has used since the first reading")
                   .Register(metrics)),
        errors(prometheus::BuildCounter()
                   .Name("reprise_gpu_errors_total")
                   .Help("Errors of a GPU: cuda ends the process")
                   .Register(metrics)),
        memory(prometheus::BuildGauge()
                   .Name("reprise_gpu_memory_bytes")
                   .Help("Memory of the GPU, of all processes")
                   .Register(metrics)),
        clock(prometheus::BuildGauge()
                  .Name("reprise_gpu_sm_clock_hertz")
                  .Help("Clock of the GPU's multiprocessors")
                  .Register(metrics)),
        limited(prometheus::BuildGauge()
                    .Name("reprise_gpu_clock_limited")
                    .Help("Whether something keeps the GPU's clock low")
                    .Register(metrics)) {}

  Family<Counter>& energy;
  Family<Counter>& errors;
  Family<Gauge>& memory;
  Family<Gauge>& clock;
  Family<Gauge>& limited;
};

class GpuMetrics::Series {
 public:
  Series(Families& families, int gpu, std::unique_ptr<Sensors> sensors)
      : Series(families, Labels{{"device", absl::StrCat(gpu)}},
               std::move(sensors)) {}

  void Update() {
    const SensorReading reading = sensors_->Read();
    energy_.Show(reading.energy_joules);
    ecc_.Show(reading.ecc_errors);
    xid_.Show(reading.xids);
    clock_.Show(reading.sm_clock_hertz);
    const auto& memory = reading.memory;
    used_.Show(memory ? std::optional<double>(memory->used) : std::nullopt);
    free_.Show(memory ? std::optional<double>(memory->free) : std::nullopt);
    total_.Show(memory ? std::optional<double>(memory->total) : std::nullopt);
    for (size_t i = 0; i < limited_.size(); ++i) {
      std::optional<double> value;
      if (reading.clock_limits.has_value()) {
        value = (*reading.clock_limits)[i] ? 1 : 0;
      }
      limited_[i].Show(value);
    }
  }

 private:
  Series(Families& families, const Labels& labels,
         std::unique_ptr<Sensors> sensors)
      : sensors_(std::move(sensors)),
        energy_(families.energy, labels),
        ecc_(families.errors, Plus(labels, "kind", "ecc")),
        xid_(families.errors, Plus(labels, "kind", "xid"), 0),
        used_(families.memory, Plus(labels, "state", "used")),
        free_(families.memory, Plus(labels, "state", "free")),
        total_(families.memory, Plus(labels, "state", "total")),
        clock_(families.clock, labels) {
    for (int i = 0; i < kClockLimits; ++i) {
      limited_.emplace_back(
          families.limited,
          Plus(labels, "reason", ClockLimitName(static_cast<ClockLimit>(i))));
    }
  }

  const std::unique_ptr<Sensors> sensors_;
  MaybeCounter energy_;
  MaybeCounter ecc_;
  MaybeCounter xid_;
  MaybeGauge used_;
  MaybeGauge free_;
  MaybeGauge total_;
  MaybeGauge clock_;
  std::vector<MaybeGauge> limited_;  // by ClockLimit
};

GpuMetrics::GpuMetrics(std::vector<Gpu> gpus, Clock& clock,
                       prometheus::Registry& metrics)
    : gpus_(std::move(gpus)),
      clock_(clock),
      families_(gpus_.empty() ? nullptr : std::make_unique<Families>(metrics)) {
  if (!gpus_.empty()) thread_ = Thread("gpu-sensors", [this] { Run(); });
}

GpuMetrics::~GpuMetrics() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
}

void GpuMetrics::Open(std::vector<std::unique_ptr<Series>>& series) {
  std::set<std::string> said;
  for (const Gpu& gpu : gpus_) {
    auto sensors = gpu.open();
    if (sensors.ok()) {
      series.push_back(
          std::make_unique<Series>(*families_, gpu.index, *std::move(sensors)));
      continue;
    }
    const std::string why(sensors.status().message());
    if (!said.insert(why).second) continue;
    LogInfo(absl::StrCat("no metrics of energy, memory and clocks device=",
                         gpu.index, " reason=", LogValue(why)));
  }
}

void GpuMetrics::Run() {
  std::vector<std::unique_ptr<Series>> series;
  Open(series);
  if (series.empty()) return;
  for (;;) {
    const absl::Time begun = clock_.Now();
    for (const auto& gpu : series) gpu->Update();
    absl::MutexLock lock(&mu_);
    if (clock_.Await(mu_, absl::Condition(&stopping_), begun + kPeriod)) return;
  }
}

}  // namespace reprise
