#include "tests/bench/serving/infer_request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::bench {
namespace {

// Field numbers of ModelInferRequest and its InferInputTensor.
constexpr int kModelName = 1;
constexpr int kParameters = 4;
constexpr int kInputs = 5;
constexpr int kRawInputContents = 7;
constexpr int kName = 1;
constexpr int kDatatype = 2;
constexpr int kShape = 3;
// Of an entry of the map of parameters, and of InferParameter.
constexpr int kKey = 1;
constexpr int kValue = 2;
constexpr int kInt64Param = 2;

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

std::string TimeoutParameter(int64_t timeout_us) {
  std::string value;
  PutVarint(kInt64Param << 3, value);
  PutVarint(static_cast<uint64_t>(timeout_us), value);
  std::string entry;
  PutBytes(kKey, "timeout", entry);
  PutBytes(kValue, value, entry);
  return entry;
}

}  // namespace

std::string EncodeInferRequest(const std::string& model, int64_t elements,
                               int64_t timeout_us) {
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
  if (timeout_us > 0) {
    PutBytes(kParameters, TimeoutParameter(timeout_us), request);
  }
  PutBytes(kInputs, input, request);
  PutBytes(kRawInputContents, raw, request);
  return request;
}

}  // namespace reprise::bench
