#include "tests/conformance/networks/networks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/status_macros.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"

namespace reprise::conformance {
namespace {

namespace fs = std::filesystem;

// Of the words that the small networks know.
constexpr unsigned kWords = 50;
constexpr float kHidden = -10000;

class Sequence {
 public:
  explicit Sequence(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  unsigned Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  float NextFloat() { return static_cast<float>(Next()) * 0x1p-22F - 2.0F; }

 private:
  unsigned state_;
};

void Fill(const TensorSpec& spec, Sequence& sequence, HostTensor& tensor) {
  const bool mask = absl::StrContains(spec.name, "mask");
  const auto is_hidden = [&](size_t i) { return i % 5 == 3; };
  switch (spec.dtype) {
    case DType::kFp32: {
      const auto values = tensor.values<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = sequence.NextFloat();
        if (mask) values[i] = is_hidden(i) ? kHidden : 0;
      }
      return;
    }
    case DType::kInt64: {
      const auto values = tensor.values<int64_t>();
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = sequence.Next() % kWords;
        if (mask) values[i] = is_hidden(i) ? 0 : 1;
      }
      return;
    }
    default:
      for (int32_t& value : tensor.values<int32_t>()) {
        value = static_cast<int32_t>(sequence.Next() % 2001) - 1000;
      }
  }
}

}  // namespace

std::span<const Network> Networks() {
  static const auto& networks = *new std::vector<Network>{
      {"simple", 8, true},           {"mlp", 64},
      {"one_kernel", 8, true},       {"encoder", 32},
      {"encoder_parts", 32},         {"encoder_ids", 32},
      {"small_encoder", 4, true},    {"small_encoder_parts", 4, true},
      {"small_encoder_ids", 4, true}};
  return networks;
}

void PrintTo(const Network& network, std::ostream* os) { *os << network.name; }

absl::StatusOr<ReadNetwork> Read(const Network& network) {
  const char* const set = std::getenv("REPRISE_TEST_NETWORKS");
  const fs::path path = fs::path(set != nullptr ? set : REPRISE_NETWORKS) /
                        network.name / "1" / "model.onnx";
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::UnavailableError(
        absl::StrCat(path.string(),
                     " is not there: tests/gpu/make_models.py writes it, "
                     "with the Python of deploy/setup --tests"));
  }
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  REPRISE_ASSIGN_OR_RETURN(graph::Graph graph,
                           onnx_import::ImportModel(std::move(bytes), {}));
  REPRISE_ASSIGN_OR_RETURN(ops::InferredSignature inferred,
                           ops::InferSignature(graph, {}));
  if (!inferred.signature.batched) {
    return absl::InternalError(
        absl::StrCat(network.name, ": ", inferred.not_batched));
  }
  inferred.signature.max_batch = network.max_rows;
  return ReadNetwork{std::make_shared<const graph::Graph>(std::move(graph)),
                     std::move(inferred.signature)};
}

std::vector<HostTensor> MakeInputs(const Signature& signature, int rows) {
  std::vector<HostTensor> inputs;
  Sequence sequence(7);
  for (const TensorSpec& spec : signature.inputs) {
    Dims dims = spec.dims;
    dims.insert(dims.begin(), rows);
    inputs.push_back(HostTensor::Create(spec.dtype, dims).value());
    Fill(spec, sequence, inputs.back());
  }
  return inputs;
}

absl::StatusOr<std::vector<HostTensor>> RunRows(
    Executable& executable, const std::vector<HostTensor>& inputs, int rows) {
  constexpr unsigned char kStale = 0xff;  // NaN, or -1
  SlotLease slot = executable.AcquireSlot();
  if (!slot) return absl::InternalError("no slot");
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::span<std::byte> to = slot->input(static_cast<int>(k));
    std::memset(to.data(), kStale, to.size());
    const std::span<const std::byte> from = inputs[k].bytes();
    const size_t row_bytes =
        from.size() / static_cast<size_t>(inputs[k].dims()[0]);
    std::ranges::copy(from.first(row_bytes * static_cast<size_t>(rows)),
                      to.begin());
  }
  REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, rows));
  REPRISE_RETURN_IF_ERROR(
      executable.Wait(*slot, absl::InfiniteFuture()).status());
  std::vector<HostTensor> outputs;
  const Signature& signature = executable.signature();
  for (size_t k = 0; k < signature.outputs.size(); ++k) {
    Dims dims = signature.outputs[k].dims;
    dims.insert(dims.begin(), rows);
    REPRISE_ASSIGN_OR_RETURN(
        HostTensor tensor,
        HostTensor::Create(signature.outputs[k].dtype, dims));
    std::ranges::copy(
        slot->output(static_cast<int>(k)).first(tensor.bytes().size()),
        tensor.bytes().begin());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

std::vector<int> LadderTo(int max_rows) {
  std::vector<int> ladder;
  for (int rows = 1; rows < max_rows; rows *= 2) ladder.push_back(rows);
  ladder.push_back(max_rows);
  return ladder;
}

}  // namespace reprise::conformance
