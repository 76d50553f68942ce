#include "runtime/cuda/kernels.h"

#include <cstdint>

// The assembler takes a fatbin in whole, and counts its bytes.
asm(R"(
  .macro reprise_kernels name, file
  .pushsection .rodata, "a"
  .balign 64
  .global reprise_kernels_\name
  .hidden reprise_kernels_\name
reprise_kernels_\name:
  .incbin "\file"
9:
  .balign 8
  .global reprise_kernels_size_\name
  .hidden reprise_kernels_size_\name
reprise_kernels_size_\name:
  .quad 9b - reprise_kernels_\name
  .popsection
  .endm
)");

// The build writes kernel_images.inc: a line for each file of kernels.
#define REPRISE_KERNEL_IMAGE(name, file)               \
  asm("reprise_kernels " #name ", \"" file "\"");      \
  extern "C" const std::byte reprise_kernels_##name[]; \
  extern "C" const uint64_t reprise_kernels_size_##name;
#include "kernel_images.inc"
#undef REPRISE_KERNEL_IMAGE

namespace reprise::cuda {

std::span<const KernelImage> KernelImages() {
#define REPRISE_KERNEL_IMAGE(name, file) \
  {#name, {reprise_kernels_##name, reprise_kernels_size_##name}},
  static const KernelImage kImages[] = {
#include "kernel_images.inc"
  };
#undef REPRISE_KERNEL_IMAGE
  return kImages;
}

}  // namespace reprise::cuda
