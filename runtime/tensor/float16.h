// The two 16-bit floats as values that convert.
#pragma once

#include <bit>
#include <cstdint>

namespace reprise {

// IEEE 754 binary16; conversions round to nearest even.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  // Implicit on purpose, as between the built-in floats: kernels are written
  // once for every type of element.
  Half(float value) : bits(FromFloat(value)) {}     // NOLINT
  operator float() const { return ToFloat(bits); }  // NOLINT

  static uint16_t FromFloat(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (x >> 16) & 0x8000u;
    const uint32_t magnitude = x & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      return static_cast<uint16_t>(sign | 0x7e00u | ((x >> 13) & 0x3ffu));
    }
    if (magnitude >= 0x477ff000u) {  // rounds to infinity
      return static_cast<uint16_t>(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) {  // a subnormal or zero: let the FPU round
      const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<uint16_t>(
          sign | (std::bit_cast<uint32_t>(scaled) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<uint16_t>(
        sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }

  // Without a branch, for the sake of vector code: a multiplication moves the
  // exponent, and makes subnormals normal on the way.
  static float ToFloat(uint16_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16;
    const auto small =
        std::bit_cast<float>(static_cast<uint32_t>(bits & 0x7fffu) << 13);
    const uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(small * 0x1p112f) |
                                special | sign);
  }
};

// The upper half of a binary32; conversion rounds to nearest even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) : bits(FromFloat(value)) {}  // NOLINT
  operator float() const { return ToFloat(bits); }   // NOLINT

  static uint16_t FromFloat(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    if ((x & 0x7fffffffu) > 0x7f800000u) {  // NaN stays one
      return static_cast<uint16_t>((x >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
  }

  static float ToFloat(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace reprise
