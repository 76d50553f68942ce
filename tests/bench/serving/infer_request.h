// The bytes of a ModelInferRequest, written without the generated code: a load
// client measures the server alone.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::bench {

// `model` with one INT32 input INPUT0 of shape [1, elements], as raw bytes
// 0, 1, 2, ... `timeout_us` is the parameter of that name; 0 leaves it out.
std::string EncodeInferRequest(const std::string& model, int64_t elements,
                               int64_t timeout_us = 0);

}  // namespace reprise::bench
