#include "runtime/cuda/program.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace reprise::cuda {
namespace {

std::string PlaceText(const plan::Plan& plan, const Place& place) {
  if (place.buffer == plan::kNoBuffer) return "-";
  std::string text = place.buffer == kScratch
                         ? "scratch"
                         : plan.buffers[static_cast<size_t>(place.buffer)].name;
  if (place.offset != 0) absl::StrAppend(&text, "+", place.offset);
  return text;
}

// Tells structs that differ apart, whatever is in them.
uint64_t Fingerprint(const std::vector<std::byte>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

std::string ArgumentText(const plan::Plan& plan, const Argument& argument) {
  if (const auto* place = std::get_if<Place>(&argument)) {
    return PlaceText(plan, *place);
  }
  const auto& bytes = std::get<std::vector<std::byte>>(argument);
  return absl::StrCat("{", bytes.size(), ":",
                      absl::Hex(Fingerprint(bytes), absl::kZeroPad16), "}");
}

std::string Dim3Text(const Dim3& dim) {
  if (dim.y == 1 && dim.z == 1) return absl::StrCat(dim.x);
  return absl::StrCat(dim.x, "x", dim.y, "x", dim.z);
}

absl::string_view EpilogueName(MatrixProduct::Epilogue epilogue) {
  switch (epilogue) {
    case MatrixProduct::Epilogue::kNone:
      return "";
    case MatrixProduct::Epilogue::kRelu:
      return " relu";
    case MatrixProduct::Epilogue::kGeluTanh:
      return " gelu_tanh";
    case MatrixProduct::Epilogue::kGeluErf:
      return " gelu_erf";
  }
  return "";
}

std::string ActionText(const plan::Plan& plan, const KernelLaunch& launch) {
  std::string text = absl::StrCat(launch.entry, "<<<", Dim3Text(launch.grid),
                                  ", ", Dim3Text(launch.block));
  if (launch.shared_bytes > 0)
    absl::StrAppend(&text, ", ", launch.shared_bytes);
  absl::StrAppend(&text, ">>>(");
  absl::string_view separator;
  for (const Argument& argument : launch.arguments) {
    absl::StrAppend(&text, separator, ArgumentText(plan, argument));
    separator = ", ";
  }
  return absl::StrCat(text, ")");
}

std::string ActionText(const plan::Plan& plan, const MatrixProduct& product) {
  std::string text = absl::StrCat("product ", DTypeName(product.type),
                                  product.tf32 ? " tf32 " : " ", product.m, "x",
                                  product.n, "x", product.k);
  if (product.batch != 1) absl::StrAppend(&text, " batch ", product.batch);
  absl::StrAppend(&text, " ", PlaceText(plan, product.a),
                  product.transpose_a ? "^T" : "", " * ",
                  PlaceText(plan, product.b), product.transpose_b ? "^T" : "");
  if (product.batch != 1) {
    absl::StrAppend(&text, " strides ", product.stride_a, ",", product.stride_b,
                    ",", product.stride_c, ",", product.stride_d);
  }
  if (product.alpha < 1 || product.alpha > 1) {
    absl::StrAppend(&text, " alpha ", product.alpha);
  }
  if (product.c.buffer != plan::kNoBuffer) {
    absl::StrAppend(&text, " + ", product.beta, " ",
                    PlaceText(plan, product.c));
  }
  if (product.bias.buffer != plan::kNoBuffer) {
    absl::StrAppend(&text, " + bias ", PlaceText(plan, product.bias));
  }
  return absl::StrCat(text, EpilogueName(product.epilogue), " -> ",
                      PlaceText(plan, product.d));
}

std::string ActionText(const plan::Plan& plan, const Copy& copy) {
  return absl::StrCat("copy ", copy.bytes, " bytes ",
                      PlaceText(plan, copy.from), " -> ",
                      PlaceText(plan, copy.to));
}

}  // namespace

std::string ProgramText(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    absl::StrAppend(&text, "step ", i, " ", program.plan.steps[i].name);
    if (program.plan.steps[i].scratch_bytes > 0) {
      absl::StrAppend(&text, " scratch ", program.plan.steps[i].scratch_bytes);
    }
    absl::StrAppend(&text, "\n");
    for (const Action& action : program.steps[i]) {
      absl::StrAppend(
          &text, "  ",
          std::visit(
              [&](const auto& any) { return ActionText(program.plan, any); },
              action),
          "\n");
    }
  }
  for (const GeneratedModule& module : program.modules) {
    absl::StrAppend(&text, "module ", module.name, "\n");
  }
  return text;
}

}  // namespace reprise::cuda
