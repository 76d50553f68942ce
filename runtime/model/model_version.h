// One version of a model that is being served, and the handle that pins it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/model/model_config.h"
#include "runtime/model/model_statistics.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// Constant but for its statistics. Two loads of the same version number are two
// ModelVersions with different uids.
//
// Lifecycle: published by the registry; destroyed when the last handle goes,
// which also tells the workers to unload it.
// Threads: any.
class ModelVersion {
 public:
  ModelVersion(uint64_t uid, std::string name, int64_t version,
               ModelConfig config, Signature signature)
      : uid_(uid),
        name_(std::move(name)),
        version_(version),
        version_text_(std::to_string(version)),
        config_(std::move(config)),
        signature_(std::move(signature)) {}

  uint64_t uid() const { return uid_; }  // unique in this process
  const std::string& name() const { return name_; }
  int64_t version() const { return version_; }
  const std::string& version_text() const { return version_text_; }
  const ModelConfig& config() const { return config_; }
  const Signature& signature() const { return signature_; }
  ModelStatistics& statistics() const { return statistics_; }

 private:
  const uint64_t uid_;
  const std::string name_;
  const int64_t version_;
  const std::string version_text_;
  const ModelConfig config_;
  const Signature signature_;
  mutable ModelStatistics statistics_;
};

// Pins a version for one request: whoever holds it finishes on what it started
// with, and the old version is unloaded when the last handle goes.
using ModelHandle = std::shared_ptr<const ModelVersion>;

}  // namespace reprise
