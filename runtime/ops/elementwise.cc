#include "runtime/ops/elementwise.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/onnx_dtype.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::Status WrongDtype(const NodeView& view, size_t i) {
  return NotRunHere(absl::StrCat("does not take ", DTypeName(view.dtype(i)),
                                 " as input ", i));
}

absl::Status CheckAll(const NodeView& view, bool (*allowed)(DType)) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (view.Has(i) && !allowed(view.dtype(i))) return WrongDtype(view, i);
  }
  return absl::OkStatus();
}

absl::Status CheckSame(const NodeView& view, size_t x, size_t y) {
  if (view.dtype(x) == view.dtype(y)) return absl::OkStatus();
  return BadNode(absl::StrCat("input ", x, " is ", DTypeName(view.dtype(x)),
                              " and input ", y, " is ",
                              DTypeName(view.dtype(y))));
}

absl::StatusOr<Types> InferUnary(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsNumber));
  REPRISE_RETURN_IF_ERROR(ReadUnary(view).status());
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferFloat(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsFloat));
  REPRISE_RETURN_IF_ERROR(ReadUnary(view).status());
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferGelu(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(ReadGeluTanh(view).status());
  return InferFloat(view);
}

absl::StatusOr<Types> InferClassify(const NodeView& view) {  // IsNaN, IsInf
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsFloat));
  return Types{{DType::kBool, view.dims(0)}};
}

bool IsBool(DType dtype) { return dtype == DType::kBool; }

absl::StatusOr<Types> InferNot(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsBool));
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferBitwiseNot(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsInteger));
  return Types{view.type(0)};
}

// Every input of one dtype, broadcast together; `allowed` for the dtype.
absl::StatusOr<Types> InferBroadcast(const NodeView& view,
                                     bool (*allowed)(DType)) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, allowed));
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (!view.Has(i)) return BadNode(absl::StrCat("input ", i, " is missing"));
    REPRISE_RETURN_IF_ERROR(CheckSame(view, 0, i));
  }
  REPRISE_ASSIGN_OR_RETURN(Dims dims, BroadcastInputs(view));
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferArithmetic(const NodeView& view) {
  return InferBroadcast(view, IsNumber);
}

absl::StatusOr<Types> InferFloats(const NodeView& view) {
  return InferBroadcast(view, IsFloat);
}

absl::StatusOr<Types> InferBitwise(const NodeView& view) {
  return InferBroadcast(view, IsInteger);
}

absl::StatusOr<Types> InferBitShift(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(ReadShiftsLeft(view).status());
  return InferBitwise(view);
}

absl::StatusOr<Types> InferLogic(const NodeView& view) {
  return InferBroadcast(view, IsBool);
}

absl::StatusOr<Types> InferMod(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const bool fmod, ReadFmod(view));
  if (!fmod && IsFloat(view.dtype(0))) {
    return BadNode("floats need the attribute fmod = 1");
  }
  return InferArithmetic(view);
}

absl::StatusOr<Types> InferPow(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsNumber));
  REPRISE_ASSIGN_OR_RETURN(Dims dims, BroadcastInputs(view));
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferCompare(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(Types types, InferBroadcast(view, IsNumber));
  types[0].dtype = DType::kBool;
  return types;
}

absl::StatusOr<Types> InferEqual(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(Types types, InferBroadcast(view, [](DType d) {
                             return d != DType::kString;
                           }));
  types[0].dtype = DType::kBool;
  return types;
}

absl::StatusOr<Types> InferPRelu(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(Types types, InferArithmetic(view));
  if (types[0].dims != view.dims(0)) {
    return BadNode(absl::StrCat("slope ", DimsText(view.dims(1)),
                                " does not broadcast to ",
                                DimsText(view.dims(0))));
  }
  return types;
}

absl::StatusOr<Types> InferWhere(const NodeView& view) {
  if (!IsBool(view.dtype(0))) return WrongDtype(view, 0);
  if (view.dtype(1) == DType::kString) return WrongDtype(view, 1);
  REPRISE_RETURN_IF_ERROR(CheckSame(view, 1, 2));
  REPRISE_ASSIGN_OR_RETURN(Dims dims, BroadcastInputs(view));
  return Types{{view.dtype(1), std::move(dims)}};
}

absl::StatusOr<Types> InferCast(const NodeView& view) {
  if (view.dtype(0) == DType::kString) return WrongDtype(view, 0);
  REPRISE_ASSIGN_OR_RETURN(const DType to, ReadCastTarget(view));
  if (to == DType::kString) return NotRunHere("does not cast to BYTES");
  return Types{{to, view.dims(0)}};
}

absl::StatusOr<Types> InferClip(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckAll(view, IsNumber));
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    REPRISE_RETURN_IF_ERROR(CheckSame(view, 0, i));
    REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(view.dims(i)));
    if (elements != 1) {
      return BadNode(absl::StrCat("bound ", DimsText(view.dims(i)),
                                  " is not one element"));
    }
  }
  REPRISE_RETURN_IF_ERROR(ReadClipBounds(view).status());
  return Types{view.type(0)};
}

int64_t IntBound(const HostTensor& tensor, double value) {
  if (tensor.dtype() == DType::kInt64) return tensor.values<int64_t>()[0];
  if (tensor.dtype() == DType::kUint64) {
    return static_cast<int64_t>(tensor.values<uint64_t>()[0]);
  }
  return IsInteger(tensor.dtype()) ? static_cast<int64_t>(value) : 0;
}

// Rows of unary operators.
constexpr Op Unary(absl::string_view name, int since, InferFn infer) {
  return {name, since, 1, 1, 1, infer, BroadcastBatch, false};
}
constexpr Op Binary(absl::string_view name, int since, InferFn infer) {
  return {name, since, 2, 2, 1, infer, BroadcastBatch, false};
}
constexpr Op Variadic(absl::string_view name, int since, InferFn infer) {
  return {name, since, 1, kVariadic, 1, infer, BroadcastBatch, false};
}

constexpr Op kOps[] = {
    Unary("Abs", 6, InferUnary),
    Unary("Neg", 6, InferUnary),
    Unary("Sign", 9, InferUnary),
    Unary("Relu", 6, InferUnary),
    Unary("Ceil", 6, InferFloat),
    Unary("Floor", 6, InferFloat),
    Unary("Round", 11, InferFloat),
    Unary("Sqrt", 6, InferFloat),
    Unary("Exp", 6, InferFloat),
    Unary("Log", 6, InferFloat),
    Unary("Reciprocal", 6, InferFloat),
    Unary("Sin", 7, InferFloat),
    Unary("Cos", 7, InferFloat),
    Unary("Tan", 7, InferFloat),
    Unary("Asin", 7, InferFloat),
    Unary("Acos", 7, InferFloat),
    Unary("Atan", 7, InferFloat),
    Unary("Sinh", 9, InferFloat),
    Unary("Cosh", 9, InferFloat),
    Unary("Asinh", 9, InferFloat),
    Unary("Acosh", 9, InferFloat),
    Unary("Atanh", 9, InferFloat),
    Unary("Erf", 9, InferFloat),
    Unary("Sigmoid", 6, InferFloat),
    Unary("Tanh", 6, InferFloat),
    Unary("Softplus", 1, InferFloat),
    Unary("Softsign", 1, InferFloat),
    Unary("LeakyRelu", 6, InferFloat),
    Unary("Elu", 6, InferFloat),
    Unary("Selu", 6, InferFloat),
    Unary("Celu", 12, InferFloat),
    Unary("ThresholdedRelu", 10, InferFloat),
    Unary("HardSigmoid", 6, InferFloat),
    Unary("HardSwish", 14, InferFloat),
    Unary("Mish", 18, InferFloat),
    Unary("Gelu", 20, InferGelu),
    Unary("IsNaN", 9, InferClassify),
    Unary("IsInf", 10, InferClassify),
    Unary("Not", 1, InferNot),
    Unary("BitwiseNot", 18, InferBitwiseNot),
    Unary("Cast", 6, InferCast),
    Binary("Add", 7, InferArithmetic),
    Binary("Sub", 7, InferArithmetic),
    Binary("Mul", 7, InferArithmetic),
    Binary("Div", 7, InferArithmetic),
    Binary("Mod", 10, InferMod),
    Binary("Pow", 7, InferPow),
    Binary("PRelu", 7, InferPRelu),
    Binary("BitShift", 11, InferBitShift),
    Binary("BitwiseAnd", 18, InferBitwise),
    Binary("BitwiseOr", 18, InferBitwise),
    Binary("BitwiseXor", 18, InferBitwise),
    Binary("And", 7, InferLogic),
    Binary("Or", 7, InferLogic),
    Binary("Xor", 7, InferLogic),
    Binary("Equal", 7, InferEqual),
    Binary("Greater", 7, InferCompare),
    Binary("Less", 7, InferCompare),
    Binary("GreaterOrEqual", 12, InferCompare),
    Binary("LessOrEqual", 12, InferCompare),
    Variadic("Min", 6, InferArithmetic),
    Variadic("Max", 6, InferArithmetic),
    Variadic("Sum", 6, InferFloats),
    Variadic("Mean", 6, InferFloats),
    {"Where", 9, 3, 3, 1, InferWhere, BroadcastBatch, false},
    {"CastLike", 15, 2, 2, 1, InferCast, ReshapeBatch, false},
    {"Clip", 6, 1, 1, 1, InferClip, BroadcastBatch, false},
    {"Clip", 11, 1, 3, 1, InferClip, BroadcastBatch, false},
};

}  // namespace

absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank, 1);
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return BadNode(absl::StrCat("dims ", DimsText(a), " and ", DimsText(b),
                                  " do not broadcast"));
    }
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

absl::StatusOr<Dims> BroadcastInputs(const NodeView& view) {
  Dims dims;
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    REPRISE_ASSIGN_OR_RETURN(dims, BroadcastDims(dims, view.dims(i)));
  }
  return dims;
}

absl::StatusOr<UnaryParams> ReadUnary(const NodeView& view) {
  struct Defaults {
    absl::string_view op;
    float alpha;
    absl::string_view beta_name;
    float beta;
  };
  static constexpr Defaults kDefaults[] = {
      {"LeakyRelu", 0.01f, "", 0},
      {"Elu", 1.0f, "", 0},
      {"Celu", 1.0f, "", 0},
      {"ThresholdedRelu", 1.0f, "", 0},
      {"Selu", 1.67326319217681884765625f, "gamma", 1.05070102214813232421875f},
      {"HardSigmoid", 0.2f, "beta", 0.5f},
  };
  for (const Defaults& row : kDefaults) {
    if (row.op != view.op()) continue;
    UnaryParams params;
    REPRISE_ASSIGN_OR_RETURN(params.alpha,
                             view.attributes().Float("alpha", row.alpha));
    if (!row.beta_name.empty()) {
      REPRISE_ASSIGN_OR_RETURN(
          params.beta, view.attributes().Float(row.beta_name, row.beta));
    }
    return params;
  }
  return UnaryParams{};
}

absl::StatusOr<ClipParams> ReadClipBounds(const NodeView& view) {
  ClipParams params;
  if (view.version() < 11) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    params.has_low = view.attributes().Has("min");
    params.has_high = view.attributes().Has("max");
    if (params.has_low) {
      REPRISE_ASSIGN_OR_RETURN(params.low,
                               view.attributes().Float("min", -kLargest));
    }
    if (params.has_high) {
      REPRISE_ASSIGN_OR_RETURN(params.high,
                               view.attributes().Float("max", kLargest));
    }
    return params;
  }
  params.has_low = view.Has(1);
  params.has_high = view.Has(2);
  params.low_computed = params.has_low && view.constant(1) == nullptr;
  params.high_computed = params.has_high && view.constant(2) == nullptr;
  if (params.has_low && !params.low_computed) {
    REPRISE_ASSIGN_OR_RETURN(params.low, ConstantNumber(view, 1, "min"));
    params.low_int = IntBound(*view.constant(1), params.low);
  }
  if (params.has_high && !params.high_computed) {
    REPRISE_ASSIGN_OR_RETURN(params.high, ConstantNumber(view, 2, "max"));
    params.high_int = IntBound(*view.constant(2), params.high);
  }
  return params;
}

absl::StatusOr<ClipParams> ReadClip(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ClipParams params, ReadClipBounds(view));
  if (params.low_computed || params.high_computed) {
    return NotRunHere(absl::StrCat("the bound '",
                                   params.low_computed ? "min" : "max",
                                   "' is not a constant"));
  }
  return params;
}

absl::StatusOr<DType> ReadCastTarget(const NodeView& view) {
  if (view.op() == "CastLike") return view.dtype(1);
  REPRISE_ASSIGN_OR_RETURN(const int64_t to, view.attributes().Int("to"));
  return DTypeFromOnnx(to);
}

absl::StatusOr<bool> ReadGeluTanh(const NodeView& view) {
  const absl::StatusOr<std::string> how =
      view.attributes().String("approximate", "none");
  if (!how.ok()) return how.status();
  if (*how == "tanh") return true;
  if (*how == "none") return false;
  return BadNode(absl::StrCat("approximate '", *how, "' is not none or tanh"));
}

absl::StatusOr<bool> ReadFmod(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t fmod,
                           view.attributes().Int("fmod", 0));
  return fmod != 0;
}

absl::StatusOr<bool> ReadShiftsLeft(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::string direction,
                           view.attributes().String("direction", ""));
  if (direction == "LEFT") return true;
  if (direction == "RIGHT") return false;
  return BadNode(
      absl::StrCat("direction '", direction, "' is not LEFT or RIGHT"));
}

std::span<const Op> ElementwiseOps() { return kOps; }

}  // namespace reprise::ops
