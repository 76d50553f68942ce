// ModelInferRequests for tests, and the pieces in which they might arrive.
#pragma once

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/grpc_service.pb.h"
#include "server/grpc/wire_reader.h"

namespace reprise::testing {

using inference::ModelInferRequest;

template <typename T>
std::string Raw(const std::vector<T>& values) {
  std::string raw(values.size() * sizeof(T), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return raw;
}

// BYTES in raw form.
inline std::string RawStrings(const std::vector<std::string>& elements) {
  std::string raw;
  for (const std::string& element : elements) {
    raw += Raw<uint32_t>({static_cast<uint32_t>(element.size())}) + element;
  }
  return raw;
}

inline ModelInferRequest::InferInputTensor& AddInput(
    ModelInferRequest& request, const std::string& name,
    const std::string& datatype, const std::vector<int64_t>& shape) {
  ModelInferRequest::InferInputTensor& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  for (const int64_t dim : shape) input.add_shape(dim);
  return input;
}

// A good request for SimpleSignature: INPUT0 counts from 0, INPUT1 is all ones.
inline ModelInferRequest SimpleRequest(int rows = 1) {
  ModelInferRequest request;
  request.set_model_name("simple");
  std::vector<int32_t> counting(static_cast<size_t>(rows) * 16);
  for (size_t i = 0; i < counting.size(); ++i) {
    counting[i] = static_cast<int32_t>(i);
  }
  AddInput(request, "INPUT0", "INT32", {rows, 16});
  AddInput(request, "INPUT1", "INT32", {rows, 16});
  request.add_raw_input_contents(Raw(counting));
  request.add_raw_input_contents(Raw(std::vector<int32_t>(counting.size(), 1)));
  return request;
}

// `bytes` cut at random, with empty pieces among them. Each piece has memory of
// its own, so that reading past one shows under a sanitizer.
class Pieces {
 public:
  Pieces(const std::string& bytes, std::mt19937& random) {
    std::uniform_int_distribution<size_t> length(0, bytes.size() / 3 + 1);
    for (size_t at = 0; at < bytes.size();) {
      Add(bytes.substr(at, length(random)));
      at += parts_.back().size();
    }
    Point();
  }
  explicit Pieces(const std::string& bytes) {
    Add(bytes);
    Point();
  }

  std::span<const WireReader::Piece> spans() const { return spans_; }

 private:
  void Add(const std::string& part) {
    const auto bytes = std::as_bytes(std::span(part.data(), part.size()));
    parts_.emplace_back(bytes.begin(), bytes.end());
  }
  void Point() { spans_.assign(parts_.begin(), parts_.end()); }

  std::vector<std::vector<std::byte>> parts_;
  std::vector<WireReader::Piece> spans_;
};

}  // namespace reprise::testing
