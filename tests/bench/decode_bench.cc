// What the wire costs a call: parse, decode and encode.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"
#include "runtime/batch/batch_output.h"
#include "runtime/model/model_config.h"
#include "runtime/model/model_version.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/signature.h"
#include "server/grpc/decode.h"
#include "server/grpc/encode.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/wire_reader.h"
#include "tests/bench/bench_task.h"
#include "tests/bench/serving/infer_request.h"

namespace reprise::bench {
namespace {

constexpr int kMaxBatch = 32;

// A model of one INT32 input and output of `elements`.
std::unique_ptr<ModelVersion> MakeModel(int64_t elements) {
  Signature signature;
  signature.batched = true;
  signature.max_batch = kMaxBatch;
  signature.inputs = {{"INPUT0", DType::kInt32, {elements}, {""}}};
  signature.outputs = {{"OUTPUT0", DType::kInt32, {elements}, {""}}};
  ModelConfig config;
  config.batch.dynamic_batching = true;
  config.ladder = {1, kMaxBatch};
  return std::make_unique<ModelVersion>(1, "identity", 1, config, signature);
}

// A request of `elements`, in pieces as gRPC delivers them.
class Message {
 public:
  explicit Message(int64_t elements)
      : text_(EncodeInferRequest("identity", elements)) {
    constexpr size_t kPiece = size_t{16} << 10;
    const std::span<const char> all(text_);
    for (size_t at = 0; at < all.size(); at += kPiece) {
      const auto part =
          std::as_bytes(all.subspan(at, std::min(kPiece, all.size() - at)));
      pieces_.emplace_back(part.begin(), part.end());
    }
  }
  std::span<const WireReader::Piece> pieces() const { return pieces_; }

 private:
  const std::string text_;
  std::vector<WireReader::Piece> pieces_;
};

void Parse(benchmark::State& state) {
  const Message message(state.range(0));
  for (auto _ : state) {
    InferRequest request;
    const absl::Status status = ParseInferRequest(message.pieces(), request);
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
    benchmark::DoNotOptimize(request.raw.data());
  }
}
BENCHMARK(Parse)->Arg(1)->Arg(1024)->Arg(150000);

void ParseAndDecode(benchmark::State& state) {
  const Message message(state.range(0));
  const auto model = MakeModel(state.range(0));
  for (auto _ : state) {
    InferRequest request;
    DecodedRequest decoded;
    BenchTask task;
    absl::Status status = ParseInferRequest(message.pieces(), request);
    if (status.ok()) {
      status = DecodeRequest(request, *model, decoded, task);
    }
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
    benchmark::DoNotOptimize(task.inputs.data());
  }
}
BENCHMARK(ParseAndDecode)->Arg(1)->Arg(1024)->Arg(150000);

// Outputs that nobody computed. Shares are counted, since slices hold them.
class Outputs final : public BatchResult {
 public:
  Outputs(const Signature& signature, bool may_hold_slot)
      : signature_(signature),
        may_hold_slot_(may_hold_slot),
        bytes_(4 * kMaxBatch *
               static_cast<size_t>(signature.outputs[0].dims[0])) {}
  ~Outputs() override = default;

  const Signature& signature() const override { return signature_; }
  std::span<const std::byte> output(int /*k*/) const override { return bytes_; }
  bool may_hold_slot() const override { return may_hold_slot_; }

 protected:
  void Ref() override { ++shares_; }
  void Unref() override { --shares_; }

 private:
  const Signature signature_;
  const bool may_hold_slot_;
  const std::vector<std::byte> bytes_;
  int shares_ = 0;
};

// By reference to the slot if `may_hold_slot`, else by one copy.
void Encode(benchmark::State& state, bool may_hold_slot) {
  const auto model = MakeModel(state.range(0));
  Outputs outputs(model->signature(), may_hold_slot);
  const BatchOutput rows(&outputs, 3, 1);
  const DecodedRequest::Output wanted;
  const ReplyHeader header{*model, "", {&wanted, 1}, size_t{1} << 30};
  for (auto _ : state) {
    grpc::ByteBuffer reply;
    const absl::Status status = EncodeReply(header, rows, reply);
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
    benchmark::DoNotOptimize(reply);
  }
}

void EncodeByReference(benchmark::State& state) { Encode(state, true); }
BENCHMARK(EncodeByReference)->Arg(1)->Arg(1024)->Arg(150000);

void EncodeByCopy(benchmark::State& state) { Encode(state, false); }
BENCHMARK(EncodeByCopy)->Arg(1)->Arg(1024)->Arg(150000);

}  // namespace
}  // namespace reprise::bench
