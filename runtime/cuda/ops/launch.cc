#include "runtime/cuda/ops/launch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::cuda {
namespace {

// As kernels/launch.h has it.
constexpr unsigned kThreads = 256;
// Elements that a thread of a cast takes.
constexpr int64_t kCastPack = 4;

}  // namespace

absl::string_view TypeSuffix(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kUint8:
      return "u8";
    case DType::kUint16:
      return "u16";
    case DType::kUint32:
      return "u32";
    case DType::kUint64:
      return "u64";
    case DType::kInt8:
      return "i8";
    case DType::kInt16:
      return "i16";
    case DType::kInt32:
      return "i32";
    case DType::kInt64:
      return "i64";
    case DType::kFp16:
      return "f16";
    case DType::kFp32:
      return "f32";
    case DType::kFp64:
      return "f64";
    case DType::kBf16:
      return "bf16";
    case DType::kString:
      return "string";
  }
  return "";
}

std::string BytesSuffix(int64_t element_bytes) {
  return absl::StrCat("b", element_bytes);
}

int64_t CeilDiv(int64_t count, int64_t by) { return (count + by - 1) / by; }

KernelLaunch FlatLaunch(std::string entry, int64_t threads,
                        std::vector<Argument> arguments) {
  return {.entry = std::move(entry),
          .grid = {static_cast<unsigned>(CeilDiv(threads, kThreads))},
          .block = {kThreads},
          .arguments = std::move(arguments)};
}

KernelLaunch CastLaunch(Place from, DType from_type, Place to, DType to_type,
                        int64_t elements) {
  const kernels::CastParams params{.elements = elements};
  return FlatLaunch(absl::StrCat("reprise_cast_", TypeSuffix(from_type), "_",
                                 TypeSuffix(to_type)),
                    CeilDiv(elements, kCastPack), {from, to, ByValue(params)});
}

}  // namespace reprise::cuda
