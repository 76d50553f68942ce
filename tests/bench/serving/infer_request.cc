#include "tests/bench/serving/infer_request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::bench {
namespace {

// Field numbers of ModelInferRequest and its InferInputTensor.
constexpr int kModelName = 1;
constexpr int kInputs = 5;
constexpr int kRawInputContents = 7;
constexpr int kName = 1;
constexpr int kDatatype = 2;
constexpr int kShape = 3;

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

void PutBytes(int field, const std::string& bytes, std::string& out) {
  constexpr int kLengthDelimited = 2;
  PutVarint(static_cast<uint64_t>(field << 3 | kLengthDelimited), out);
  PutVarint(bytes.size(), out);
  out += bytes;
}

}  // namespace

std::string EncodeInferRequest(const std::string& model, int64_t elements) {
  std::string shape;
  PutVarint(1, shape);
  PutVarint(static_cast<uint64_t>(elements), shape);
  std::string input;
  PutBytes(kName, "INPUT0", input);
  PutBytes(kDatatype, "INT32", input);
  PutBytes(kShape, shape, input);  // packed

  std::vector<int32_t> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(i);
  }
  const std::string raw(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(int32_t));
  std::string request;
  PutBytes(kModelName, model, request);
  PutBytes(kInputs, input, request);
  PutBytes(kRawInputContents, raw, request);
  return request;
}

}  // namespace reprise::bench
