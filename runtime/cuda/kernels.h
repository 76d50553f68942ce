// The compiled code of runtime/cuda/kernels, which is part of the library.
#pragma once

#include <cstddef>
#include <span>

#include "absl/strings/string_view.h"

namespace reprise::cuda {

// One file of kernels, as cuModuleLoadData takes it: code for each architecture
// of the build, and PTX of the newest.
struct KernelImage {
  absl::string_view name;  // of the file, without its ending
  std::span<const std::byte> fatbin;
};

// All of them, in the order of the build's list. They live as long as the
// process.
std::span<const KernelImage> KernelImages();

}  // namespace reprise::cuda
