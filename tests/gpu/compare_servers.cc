// Asks two servers the same and compares what they answer, for every number of
// rows that a model takes.
//
//   compare_servers ACTUAL EXPECTED MODEL...    (targets as localhost:8001)
//
// Before each call ACTUAL computes a batch of the most rows in which every
// float is NaN, so that whatever it leaves in its buffers would show. Status 1:
// an answer differs, or a call fails; 2: the arguments are wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/client.h"

namespace reprise {
namespace {

using client::Client;
using client::InferCall;
using client::InferResult;
using client::Tensor;

constexpr double kRelative = 2e-3;
constexpr double kAbsolute = 2e-4;

template <typename T, typename Make>
std::string Elements(int64_t count, Make make) {
  std::string bytes(static_cast<size_t>(count) * sizeof(T), '\0');
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const T value = static_cast<T>(make());
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

// Floats between -2 and 2, or NaN; integers that any table has a place for, and
// that serve as masks.
absl::StatusOr<Tensor> MakeInput(
    const inference::ModelMetadataResponse::TensorMetadata& input, int rows,
    bool nan, std::mt19937& random) {
  Tensor tensor{input.name(),
                input.datatype(),
                {input.shape().begin(), input.shape().end()},
                ""};
  tensor.shape[0] = rows;
  const absl::StatusOr<int64_t> count = client::ElementCount(tensor.shape);
  if (!count.ok()) return count.status();
  const auto number = [&] {
    return nan ? std::numeric_limits<float>::quiet_NaN()
               : std::uniform_real_distribution<float>(-2, 2)(random);
  };
  const auto bit = [&] { return std::uniform_int_distribution(0, 1)(random); };
  if (tensor.datatype == "FP32") {
    tensor.bytes = Elements<float>(*count, number);
  } else if (tensor.datatype == "INT32") {
    tensor.bytes = Elements<int32_t>(*count, bit);
  } else if (tensor.datatype == "INT64") {
    tensor.bytes = Elements<int64_t>(*count, bit);
  } else {
    return absl::UnimplementedError(
        absl::StrCat("no inputs of ", tensor.datatype));
  }
  return tensor;
}

absl::StatusOr<InferCall> MakeCall(
    const inference::ModelMetadataResponse& model, int rows, bool nan) {
  InferCall call;
  call.model = model.name();
  std::mt19937 random(static_cast<unsigned>(rows));
  for (const auto& input : model.inputs()) {
    auto tensor = MakeInput(input, rows, nan, random);
    if (!tensor.ok()) return tensor.status();
    call.inputs.push_back(*std::move(tensor));
  }
  return call;
}

struct Comparison {
  double largest = 0;  // of all differences
  std::string failure;
};

void CompareFloats(const Tensor& actual, const Tensor& expected,
                   Comparison& comparison) {
  const size_t count = expected.bytes.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    float a = 0;
    float e = 0;
    std::memcpy(&a, actual.bytes.data() + i * sizeof(float), sizeof(a));
    std::memcpy(&e, expected.bytes.data() + i * sizeof(float), sizeof(e));
    const double difference =
        std::abs(static_cast<double>(a) - static_cast<double>(e));
    if (difference <= kAbsolute + kRelative * std::abs(e)) {
      comparison.largest = std::max(comparison.largest, difference);
    } else if (comparison.failure.empty()) {
      comparison.failure = absl::StrCat("output ", expected.name, ", element ",
                                        i, ": ", a, " instead of ", e);
    }
  }
}

void Compare(const InferResult& actual, const InferResult& expected,
             Comparison& comparison) {
  if (actual.outputs.size() != expected.outputs.size()) {
    comparison.failure = "other outputs";
    return;
  }
  for (size_t k = 0; k < expected.outputs.size(); ++k) {
    const Tensor& a = actual.outputs[k];
    const Tensor& e = expected.outputs[k];
    if (a.name != e.name || a.shape != e.shape || a.datatype != e.datatype) {
      comparison.failure = absl::StrCat("output ", k, " is another tensor");
    } else if (e.datatype == "FP32") {
      CompareFloats(a, e, comparison);
    } else if (a.bytes != e.bytes) {
      comparison.failure = absl::StrCat("output ", e.name, " differs");
    }
  }
}

// Every number of rows of `name`.
absl::Status CompareModel(const std::string& name, Client& actual,
                          Client& expected) {
  const auto metadata = actual.ModelMetadata(name);
  if (!metadata.ok()) return metadata.status();
  const auto config = actual.ModelConfig(name);
  if (!config.ok()) return config.status();
  const int most = config->max_batch_size();
  if (most < 1) return absl::InvalidArgumentError("it has no batch");
  Comparison comparison;
  for (int rows = 1; rows <= most; ++rows) {
    const auto poison = MakeCall(*metadata, most, /*nan=*/true);
    if (!poison.ok()) return poison.status();
    const auto call = MakeCall(*metadata, rows, /*nan=*/false);
    if (!call.ok()) return call.status();
    if (auto done = actual.Infer(*poison); !done.ok()) return done.status();
    const auto got = actual.Infer(*call);
    if (!got.ok()) return got.status();
    const auto wanted = expected.Infer(*call);
    if (!wanted.ok()) return wanted.status();
    Compare(*got, *wanted, comparison);
    if (!comparison.failure.empty()) {
      return absl::DataLossError(
          absl::StrCat(rows, " rows: ", comparison.failure));
    }
  }
  std::cout << name << ": 1 to " << most << " rows, largest difference "
            << comparison.largest << "\n";
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& target) {
  client::ClientOptions options;
  options.channel.target = target;
  return Client::Create(options);
}

int Main(const std::vector<std::string>& args) {
  if (args.size() < 3) {
    std::cerr << "usage: compare_servers ACTUAL EXPECTED MODEL...\n";
    return 2;
  }
  const auto actual = Connect(args[0]);
  const auto expected = Connect(args[1]);
  for (const auto* client : {&actual, &expected}) {
    if (client->ok()) continue;
    std::cerr << client->status().message() << "\n";
    return 2;
  }
  int failed = 0;
  for (size_t i = 2; i < args.size(); ++i) {
    const absl::Status status = CompareModel(args[i], **actual, **expected);
    if (status.ok()) continue;
    std::cout << args[i] << ": FAILED: " << status.ToString() << "\n";
    failed = 1;
  }
  return failed;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  return reprise::Main({argv + 1, argv + argc});
}
