// What the operator suite tries: for each operator that the CUDA device has, in
// each type that it takes, a node for each kind of shape. Plain data.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/graph/attributes.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise::conformance {

// Sets of types, a bit for each DType.
using Types = uint32_t;
constexpr Types TypeBit(DType dtype) {
  return Types{1} << static_cast<unsigned>(dtype);
}
constexpr bool Has(Types types, DType dtype) {
  return (types & TypeBit(dtype)) != 0;
}
inline constexpr Types kFloats = TypeBit(DType::kFp32) | TypeBit(DType::kFp16) |
                                 TypeBit(DType::kBf16) | TypeBit(DType::kFp64);
inline constexpr Types kIntegers =
    TypeBit(DType::kInt8) | TypeBit(DType::kInt16) | TypeBit(DType::kInt32) |
    TypeBit(DType::kInt64) | TypeBit(DType::kUint8) | TypeBit(DType::kUint16) |
    TypeBit(DType::kUint32) | TypeBit(DType::kUint64);
inline constexpr Types kNumbers = kFloats | kIntegers;
inline constexpr Types kBools = TypeBit(DType::kBool);
inline constexpr Types kAll = kNumbers | kBools;

// What is among the elements besides: nothing; both infinities and zeros, or
// the ends of the integers; and NaN as well.
enum class Special { kNone, kEnds, kNan };

// What elements are drawn from: low, low + step, ..., high. All floats can hold
// multiples of 1/32 up to 4 exactly, so that types are compared by what they
// compute and not by what they are given. Integers are the whole part, and at
// least 0 where they have no sign; BOOL its last bit.
struct Values {
  double low = -4;
  double high = 4;
  double step = 1.0 / 32;
  Special special = Special::kNone;
};

enum class From {
  kInput,
  kWeight,
  kShape,    // INT64: the Shape of an input of `dims`
  kNowhere,  // an optional input left out
};

// `dims` begin with kFreeDim where there is one for each row of the batch.
struct Operand {
  DType dtype = DType::kFp32;
  Dims dims = {};
  Values values = {};
  From from = From::kInput;
  std::vector<double> given = {};  // the elements, if there are any
};

using NamedAttribute = std::pair<std::string, graph::AttributeValue>;

struct OpCase {
  std::string name;  // the kind of its shape: "column"
  std::vector<Operand> operands;
  std::vector<NamedAttribute> attributes = {};
  int outputs = 1;
  int version = 0;         // of the operator, where it is not the row's
  bool fp32_only = false;  // not where FP32 is kept as something narrower
};

// An operator and the types that it is tried in.
struct OpRow {
  absl::string_view op;
  Types types = 0;
  // The cases for elements of `dtype`.
  std::vector<OpCase> (*cases)(const OpRow& row, DType dtype) = nullptr;
  Values values = {};
  bool exact = false;  // nothing is rounded
  int version = 22;
};

std::span<const OpRow> ElementwiseRows();
std::span<const OpRow> LogicRows();  // comparisons, logic, choices and casts
std::span<const OpRow> LayoutRows();
std::span<const OpRow> ReductionRows();  // and what works row by row
std::span<const OpRow> ProductRows();    // and Gather

// All cases of one operator and type: what one test tries.
struct OpGroup {
  const OpRow* row = nullptr;
  DType dtype = DType::kFp32;
  std::vector<OpCase> cases;
};
// A group for each row and type; rows of one operator make one group.
std::vector<OpGroup> AllOpGroups();
std::string GroupName(const OpGroup& group);  // "Add_FP32"
void PrintTo(const OpGroup& group, std::ostream* os);

// For the tables.
inline constexpr int64_t kN = kFreeDim;
Operand Input(DType dtype, Dims dims, Values values = {});
Operand Weight(DType dtype, Dims dims, Values values = {});
Operand Int64Weight(std::vector<int64_t> values);
Operand Given(DType dtype, Dims dims, std::vector<double> elements);
Operand Absent();

}  // namespace reprise::conformance
