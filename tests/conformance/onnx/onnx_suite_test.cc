// ONNX's own backend tests, run through the CPU device. Two lists beside this
// file say which must pass and why the others do not: see suite_lists.h.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/onnx/importer.h"
#include "runtime/onnx/weights.h"
#include "runtime/ops/infer_signature.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/string_ref.h"
#include "tests/conformance/onnx/suite_lists.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

template <typename Proto>
absl::StatusOr<Proto> ReadProto(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Proto proto;
  if (!file || !proto.ParseFromIstream(&file)) {
    return absl::UnimplementedError(
        absl::StrCat("cannot read ", path.string()));
  }
  return proto;
}

struct Sample {
  std::vector<onnx::TensorProto> inputs;
  std::vector<onnx::TensorProto> outputs;
};

absl::StatusOr<Sample> ReadSample(const fs::path& folder) {
  Sample sample;
  for (const auto& [prefix, into] :
       {std::pair{"input_", &sample.inputs}, {"output_", &sample.outputs}}) {
    for (int i = 0;; ++i) {
      const fs::path path = folder / absl::StrCat(prefix, i, ".pb");
      if (!fs::exists(path)) break;
      REPRISE_ASSIGN_OR_RETURN(onnx::TensorProto tensor,
                               ReadProto<onnx::TensorProto>(path));
      into->push_back(std::move(tensor));
    }
  }
  return sample;
}

absl::StatusOr<HostTensor> ToTensor(const onnx::TensorProto& proto) {
  return onnx_import::WeightReader("", 8, int64_t{1} << 30).Read(proto);
}

double Real(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kFp16:
      return static_cast<double>(
          Half::ToFloat(*reinterpret_cast<const uint16_t*>(at)));
    case DType::kBf16:
      return static_cast<double>(
          BFloat16::ToFloat(*reinterpret_cast<const uint16_t*>(at)));
    case DType::kFp64:
      return *reinterpret_cast<const double*>(at);
    default:
      return static_cast<double>(*reinterpret_cast<const float*>(at));
  }
}

// Float outputs nearly, others exactly; NaN equals NaN.
absl::Status Compare(const std::string& name, std::span<const std::byte> actual,
                     const HostTensor& expected) {
  if (actual.size() != expected.bytes().size()) {
    return absl::InternalError(absl::StrCat(
        name, ": ", actual.size(), " bytes, not ", expected.bytes().size()));
  }
  const size_t size = ElementSize(expected.dtype());
  for (size_t i = 0; i < actual.size(); i += size) {
    const std::byte* a = actual.data() + i;
    const std::byte* e = expected.bytes().data() + i;
    if (expected.dtype() == DType::kString) {
      const auto& x = *reinterpret_cast<const StringRef*>(a);
      const auto& y = *reinterpret_cast<const StringRef*>(e);
      if (std::string(x.data, x.size) != std::string(y.data, y.size)) {
        return absl::InternalError(absl::StrCat(name, "[", i / size, "]"));
      }
    } else if (!IsFloat(expected.dtype())) {
      if (std::memcmp(a, e, size) != 0) {
        return absl::InternalError(absl::StrCat(name, "[", i / size, "]"));
      }
    } else {
      const double x = Real(expected.dtype(), a);
      const double y = Real(expected.dtype(), e);
      const bool near = x == y || (std::isnan(x) && std::isnan(y)) ||
                        std::abs(x - y) <= kAbsolute + kRelative * std::abs(y);
      if (!near) {
        return absl::InternalError(
            absl::StrCat(name, "[", i / size, "] is ", x, ", not ", y));
      }
    }
  }
  return absl::OkStatus();
}

// Which inputs become constants: a shape or an axis that comes as an input
// would decide the output's dims only when the model runs.
enum class Fix { kNone, kParameters, kAllButFirst };

bool Fixes(Fix fix, size_t i, const onnx::TensorProto& tensor) {
  if (fix == Fix::kNone) return false;
  if (fix == Fix::kAllButFirst) return i > 0;
  return tensor.dims_size() == 0 ||
         (tensor.dims_size() == 1 &&
          (i > 0 || tensor.data_type() == onnx::TensorProto::INT64));
}

class Suite {
 public:
  Suite() {
    auto device = cpu::MakeCpuDevice({.threads = 1}, RealClock::Get());
    device_ = *std::move(device);
  }

  absl::Status Run(const fs::path& folder) {
    absl::Status status;
    for (const Fix fix : {Fix::kNone, Fix::kParameters, Fix::kAllButFirst}) {
      const absl::Status tried = RunFixed(folder, fix);
      if (tried.ok()) return tried;
      if (fix == Fix::kNone) status = tried;
      // A wrong answer is not helped by fixing inputs.
      if (absl::IsInternal(tried)) return tried;
    }
    return status;
  }

 private:
  absl::Status RunFixed(const fs::path& folder, Fix fix) {
    REPRISE_ASSIGN_OR_RETURN(
        onnx::ModelProto model,
        ReadProto<onnx::ModelProto>(folder / "model.onnx"));
    REPRISE_ASSIGN_OR_RETURN(Sample sample,
                             ReadSample(folder / "test_data_set_0"));
    FixInputs(fix, model, sample);
    REPRISE_ASSIGN_OR_RETURN(
        graph::Graph graph,
        onnx_import::ImportModel(model.SerializeAsString(), {}));
    REPRISE_ASSIGN_OR_RETURN(
        ops::InferredSignature inferred,
        ops::InferSignature(graph, {.fixed_dims = {}, .allow_batch = false}));
    VariantKey dims;
    REPRISE_RETURN_IF_ERROR(Variant(inferred.signature, sample, dims));
    REPRISE_ASSIGN_OR_RETURN(
        const std::unique_ptr<LoadedModel> loaded,
        device_->Load(std::make_shared<graph::Graph>(std::move(graph)),
                      inferred.signature, {.model = folder.filename()}));
    REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                             loaded->Prepare(dims, {1}, 0));
    return RunSample(*executable, sample);
  }

  static void FixInputs(Fix fix, onnx::ModelProto& model, Sample& sample) {
    onnx::GraphProto& graph = *model.mutable_graph();
    std::vector<onnx::TensorProto> inputs;
    onnx::GraphProto kept;
    for (size_t i = 0; i < sample.inputs.size() &&
                       i < static_cast<size_t>(graph.input_size());
         ++i) {
      onnx::ValueInfoProto& info = *graph.mutable_input(static_cast<int>(i));
      if (Fixes(fix, i, sample.inputs[i])) {
        onnx::TensorProto& weight = *graph.add_initializer();
        weight = sample.inputs[i];
        weight.set_name(info.name());
      } else {
        inputs.push_back(sample.inputs[i]);
        *kept.add_input() = info;
      }
    }
    *graph.mutable_input() = kept.input();
    sample.inputs = std::move(inputs);
  }

  static absl::Status Variant(const Signature& signature, const Sample& sample,
                              VariantKey& dims) {
    std::map<std::string, int64_t> values;
    for (size_t k = 0; k < signature.inputs.size(); ++k) {
      const TensorSpec& spec = signature.inputs[k];
      for (size_t i = 0; i < spec.dims.size(); ++i) {
        if (spec.dims[i] == kFreeDim && k < sample.inputs.size()) {
          values[spec.symbols[i]] = sample.inputs[k].dims(static_cast<int>(i));
        }
      }
    }
    for (const std::string& symbol : signature.free_symbols) {
      dims.push_back(values[symbol]);
    }
    return absl::OkStatus();
  }

  static absl::Status RunSample(Executable& executable, const Sample& sample) {
    SlotLease slot = executable.AcquireSlot();
    std::vector<HostTensor> inputs;  // own the text of strings
    for (size_t k = 0; k < executable.signature().inputs.size(); ++k) {
      REPRISE_ASSIGN_OR_RETURN(HostTensor tensor, ToTensor(sample.inputs[k]));
      const std::span<std::byte> to = slot->input(static_cast<int>(k));
      if (to.size() != tensor.bytes().size()) {
        return absl::UnimplementedError("an input of other dims");
      }
      std::copy_n(tensor.bytes().data(), to.size(), to.data());
      inputs.push_back(std::move(tensor));
    }
    REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, 1));
    REPRISE_RETURN_IF_ERROR(
        executable.Wait(*slot, absl::InfiniteFuture()).status());
    for (size_t k = 0; k < sample.outputs.size(); ++k) {
      REPRISE_ASSIGN_OR_RETURN(const HostTensor expected,
                               ToTensor(sample.outputs[k]));
      const TensorSpec& spec = executable.signature().outputs[k];
      if (spec.dims != expected.dims() || spec.dtype != expected.dtype()) {
        return absl::InternalError(absl::StrCat(
            spec.name, " is ", DTypeName(spec.dtype), DimsText(spec.dims),
            ", not ", DTypeName(expected.dtype()), DimsText(expected.dims())));
      }
      REPRISE_RETURN_IF_ERROR(
          Compare(spec.name, slot->output(static_cast<int>(k)), expected));
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Device> device_;
};

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OnnxSuite, EveryTestPassesOrIsSkippedForAReason) {
  const char* const from = std::getenv("REPRISE_ONNX_TESTDATA");
  const fs::path root =
      from != nullptr ? from : "/usr/share/libonnx-testdata/data";
  if (!fs::exists(root / "node")) {
    GTEST_SKIP() << "ONNX's test data (Debian: libonnx-testdata) is not in "
                 << root;
  }
  const fs::path lists_folder = REPRISE_ONNX_LISTS;
  auto lists = SuiteLists::Parse(ReadText(lists_folder / "allowed.txt"),
                                 ReadText(lists_folder / "skipped.txt"));
  ASSERT_TRUE(lists.ok()) << lists.status();
  Suite suite;
  for (const char* part :
       {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    for (const auto& entry : fs::directory_iterator(root / part)) {
      const std::string name =
          absl::StrCat(part, "/", entry.path().filename().string());
      EXPECT_EQ(lists->Judge(name, suite.Run(entry.path())), "");
    }
  }
  for (const std::string& unused : lists->Unused()) ADD_FAILURE() << unused;
  std::cout << lists->Reasons() << lists->Counts() << "\n";
}

}  // namespace
}  // namespace reprise
