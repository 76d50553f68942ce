#include "client/cli/infer_output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/elements.h"
#include "client/cli/npy.h"
#include "client/cli/table.h"
#include "client/files.h"
#include "client/status.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

constexpr size_t kPreview = 8;

// One of the largest values of a row.
struct Best {
  size_t index;
  const char* value;  // the element, in the tensor's bytes
  std::string label;  // empty: it has none
};

// For each row the `k` largest, in order.
std::vector<std::vector<Best>> BestOf(const Tensor& output, int64_t k,
                                      const std::vector<std::string>& labels) {
  const size_t size = ElementSize(output.datatype).value_or(0);
  const size_t elements = size == 0 ? 0 : output.bytes.size() / size;
  const size_t rows = output.shape.size() > 1
                          ? static_cast<size_t>(output.shape[0])
                          : size_t{1};
  std::vector<std::vector<Best>> all;
  if (elements == 0 || rows == 0) return all;
  const size_t width = elements / rows;
  for (size_t row = 0; row < rows; ++row) {
    const char* values = output.bytes.data() + row * width * size;
    std::vector<Best>& best = all.emplace_back();
    for (const size_t i : LargestElements(output.datatype, values, width,
                                          static_cast<size_t>(k))) {
      best.push_back(
          {i, values + i * size, i < labels.size() ? labels[i] : ""});
    }
  }
  return all;
}

void AddRows(const Tensor& output, int64_t k,
             const std::vector<std::string>& labels, Table& table) {
  size_t row = 0;
  for (const std::vector<Best>& best : BestOf(output, k, labels)) {
    size_t rank = 0;
    for (const Best& one : best) {
      table.AddRow({rank == 0 ? output.name : "",
                    rank == 0 ? absl::StrCat(row) : "", absl::StrCat(++rank),
                    absl::StrCat(one.index),
                    ElementText(output.datatype, one.value), one.label});
    }
    ++row;
  }
}

Json RowsJson(const Tensor& output, int64_t k,
              const std::vector<std::string>& labels) {
  Json rows = Json::array();
  for (const std::vector<Best>& best : BestOf(output, k, labels)) {
    Json row = Json::array();
    for (const Best& one : best) {
      row.push_back({{"index", one.index},
                     {"value", ElementJson(output.datatype, one.value)}});
      if (!one.label.empty()) row.back()["label"] = one.label;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool IsNumeric(const Tensor& output) { return output.datatype != "BYTES"; }

absl::Status CheckNumeric(const InferResult& result) {
  if (std::any_of(result.outputs.begin(), result.outputs.end(), IsNumeric)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("--top-k: no output is numeric");
}

// The reply without its outputs.
Json HeaderJson(const InferResult& result) {
  Json json = {{"model_name", result.model}, {"model_version", result.version}};
  if (!result.id.empty()) json["id"] = result.id;
  return json;
}

}  // namespace

std::string OutputTable(const InferResult& result) {
  Table table({"OUTPUT", "DATATYPE", "SHAPE", "VALUES"});
  for (const Tensor& output : result.outputs) {
    table.AddRow({output.name, output.datatype, ShapeText(output.shape),
                  Preview(output, kPreview)});
  }
  return table.Text();
}

absl::StatusOr<std::string> TopK(const InferResult& result, int64_t k,
                                 const std::vector<std::string>& labels) {
  CLIENT_RETURN_IF_ERROR(CheckNumeric(result));
  Table table({"OUTPUT", ">ROW", ">TOP", ">INDEX", ">VALUE",
               labels.empty() ? "" : "LABEL"});
  for (const Tensor& output : result.outputs) {
    if (IsNumeric(output)) AddRows(output, k, labels, table);
  }
  return table.Text();
}

Json ResultJson(const InferResult& result) {
  Json outputs = Json::array();
  for (const Tensor& output : result.outputs) {
    outputs.push_back({{"name", output.name},
                       {"datatype", output.datatype},
                       {"shape", output.shape},
                       {"data", ElementsJson(output)}});
  }
  Json json = HeaderJson(result);
  json["outputs"] = std::move(outputs);
  return json;
}

absl::StatusOr<Json> TopKJson(const InferResult& result, int64_t k,
                              const std::vector<std::string>& labels) {
  CLIENT_RETURN_IF_ERROR(CheckNumeric(result));
  Json outputs = Json::array();
  for (const Tensor& output : result.outputs) {
    if (!IsNumeric(output)) continue;
    outputs.push_back({{"name", output.name},
                       {"datatype", output.datatype},
                       {"shape", output.shape},
                       {"top", RowsJson(output, k, labels)}});
  }
  Json json = HeaderJson(result);
  json["outputs"] = std::move(outputs);
  return json;
}

absl::Status WriteOutputs(const InferResult& result,
                          const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, std::min(equals, text.size()));
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--output: \"", text, "\" is not NAME=FILE.npy"));
    }
    const auto output =
        std::find_if(result.outputs.begin(), result.outputs.end(),
                     [&name](const Tensor& t) { return t.name == name; });
    if (output == result.outputs.end()) {
      const std::string names = absl::StrJoin(
          result.outputs, ", ", [](std::string* out, const Tensor& t) {
            absl::StrAppend(out, t.name);
          });
      return absl::InvalidArgumentError(absl::StrCat(
          "--output: there is no output \"", name, "\", only ", names));
    }
    absl::StatusOr<std::string> bytes = FormatNpy(*output);
    if (!bytes.ok()) return Annotate(bytes.status(), name);
    CLIENT_RETURN_IF_ERROR(WriteFile(text.substr(equals + 1), *bytes));
  }
  return absl::OkStatus();
}

}  // namespace reprise::client
