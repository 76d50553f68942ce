#include "runtime/onnx/convert.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"
#include "runtime/ops/onnx_dtype.h"

namespace reprise::onnx_import {
namespace {

using onnx::AttributeProto;

std::string Named(const AttributeProto& attribute) {
  return absl::StrCat("attribute '", attribute.name(), "'");
}

// Files of IR 1 and 2 may lack the type; so do some writers of later ones.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.ints_size() > 0) return AttributeProto::INTS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

template <typename Field>
auto ToVector(const Field& field) {
  return std::vector<typename Field::value_type>(field.begin(), field.end());
}

absl::StatusOr<graph::AttributeValue> ConvertAttribute(
    const AttributeProto& attribute, WeightReader& weights) {
  switch (TypeOf(attribute)) {
    case AttributeProto::FLOAT:
      return attribute.f();
    case AttributeProto::INT:
      return int64_t{attribute.i()};
    case AttributeProto::STRING:
      return attribute.s();
    case AttributeProto::FLOATS:
      return ToVector(attribute.floats());
    case AttributeProto::INTS:
      return std::vector<int64_t>(attribute.ints().begin(),
                                  attribute.ints().end());
    case AttributeProto::STRINGS:
      return ToVector(attribute.strings());
    case AttributeProto::TENSOR: {
      REPRISE_ASSIGN_OR_RETURN(HostTensor tensor, weights.Read(attribute.t()));
      return std::make_shared<const HostTensor>(std::move(tensor));
    }
    case AttributeProto::UNDEFINED:
      return absl::InvalidArgumentError("has no value");
    default:
      return absl::UnimplementedError(absl::StrCat(
          "is of kind ", AttributeProto::AttributeType_Name(TypeOf(attribute)),
          ", which is not supported"));
  }
}

// A list, or (`rank` 0) the scalar that is its only element.
template <typename T, typename Values>
absl::StatusOr<HostTensor> FromValues(DType dtype, int rank,
                                      const Values& values) {
  Dims dims;
  if (rank == 1) dims.push_back(static_cast<int64_t>(values.size()));
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Create(dtype, dims));
  std::copy(values.begin(), values.end(), tensor.values<T>().begin());
  return tensor;
}

}  // namespace

absl::StatusOr<graph::Attributes> ConvertAttributes(const onnx::NodeProto& node,
                                                    WeightReader& weights) {
  graph::Attributes attributes;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attributes.Has(attribute.name())) {
      return absl::InvalidArgumentError(
          absl::StrCat(Named(attribute), " is given twice"));
    }
    if (!attribute.ref_attr_name().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          Named(attribute), " refers to a function's, outside of a function"));
    }
    absl::StatusOr<graph::AttributeValue> value =
        ConvertAttribute(attribute, weights);
    if (!value.ok()) return Annotate(value.status(), Named(attribute));
    attributes.Set(attribute.name(), *std::move(value));
  }
  return attributes;
}

absl::Status ConvertType(const onnx::ValueInfoProto& info, int max_rank,
                         graph::Value& value) {
  const onnx::TypeProto& type = info.type();
  if (!info.has_type() || type.value_case() == onnx::TypeProto::VALUE_NOT_SET) {
    return absl::InvalidArgumentError("has no type");
  }
  if (!type.has_tensor_type()) {
    return absl::UnimplementedError("is not a tensor");
  }
  const onnx::TypeProto_Tensor& tensor = type.tensor_type();
  if (tensor.elem_type() == onnx::TensorProto::UNDEFINED) {
    return absl::InvalidArgumentError("has no datatype");
  }
  REPRISE_ASSIGN_OR_RETURN(value.dtype, ops::DTypeFromOnnx(tensor.elem_type()));
  value.has_shape = tensor.has_shape();
  value.dims.clear();
  value.symbols.clear();
  if (tensor.shape().dim_size() > max_rank) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "has ", tensor.shape().dim_size(), " axes, more than ", max_rank));
  }
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("has the negative dim ", dim.dim_value()));
    }
    if (!IsUtf8(dim.dim_param())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has the dim '", ToUtf8(dim.dim_param()), "', which is not UTF-8"));
    }
    value.dims.push_back(dim.has_dim_value() ? dim.dim_value() : kFreeDim);
    value.symbols.push_back(dim.dim_param());
  }
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> ConvertConstant(const onnx::NodeProto& node,
                                           WeightReader& weights) {
  if (node.attribute_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", node.attribute_size(), " attributes; one holds the value"));
  }
  const AttributeProto& attribute = node.attribute(0);
  const std::string& name = attribute.name();
  if (name == "value" && attribute.has_t()) return weights.Read(attribute.t());
  if (name == "value_float") {
    return FromValues<float>(DType::kFp32, 0, std::vector{attribute.f()});
  }
  if (name == "value_int") {
    return FromValues<int64_t>(DType::kInt64, 0, std::vector{attribute.i()});
  }
  if (name == "value_string") {
    return HostTensor::FromStrings({}, {attribute.s()});
  }
  if (name == "value_floats") {
    return FromValues<float>(DType::kFp32, 1, attribute.floats());
  }
  if (name == "value_ints") {
    return FromValues<int64_t>(DType::kInt64, 1, attribute.ints());
  }
  if (name == "value_strings") {
    return HostTensor::FromStrings({attribute.strings_size()},
                                   ToVector(attribute.strings()));
  }
  if (name == "sparse_value") {
    return absl::UnimplementedError("sparse constants are not supported");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(Named(attribute), " holds no value"));
}

}  // namespace reprise::onnx_import
