// Kernels of the instrumented daemon, as PTX that the driver compiles.
#pragma once

#include "absl/strings/string_view.h"

namespace reprise::gpu_test {

// In place of the library's kernel for Sinh: doubles its elements, but one of
// 666 makes it write to an address that is nobody's, and one of 777 keeps it
// running for ever. Parameters as kernels/unary.cu has them.
inline constexpr char kFaultyKernel[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry reprise_sinh_f32(
    .param .u64 x, .param .u64 y, .param .align 8 .b8 params[24])
{
  .reg .pred %p<6>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.s64 %rd3, [params];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd4, %r4, 4;
  mov.u32 %r5, 0;
next:
  setp.ge.s64 %p1, %rd4, %rd3;
  @%p1 bra done;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd1, %rd5;
  add.s64 %rd7, %rd2, %rd5;
  ld.global.f32 %f1, [%rd6];
  setp.eq.f32 %p2, %f1, 0f44268000;
  @%p2 bra fault;
hang:
  ld.volatile.global.f32 %f2, [%rd6];
  setp.eq.f32 %p3, %f2, 0f44424000;
  @%p3 bra hang;
  add.f32 %f3, %f1, %f1;
  st.global.f32 [%rd7], %f3;
  add.s64 %rd4, %rd4, 1;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 4;
  @%p4 bra next;
  bra done;
fault:
  mov.u64 %rd8, 16;
  st.global.f32 [%rd8], %f1;
done:
  ret;
}
)ptx";

// An independent timer over three 64-bit words: when the first kernel ran, the
// nanoseconds from there to the last one in total, and how often.
inline constexpr char kStampKernels[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry stamp_begin(.param .u64 words)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [words];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd2, %globaltimer;
  st.global.u64 [%rd1], %rd2;
  ret;
}
.visible .entry stamp_end(.param .u64 words)
{
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [words];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd2, %globaltimer;
  ld.global.u64 %rd3, [%rd1];
  sub.u64 %rd2, %rd2, %rd3;
  ld.global.u64 %rd4, [%rd1+8];
  add.u64 %rd4, %rd4, %rd2;
  st.global.u64 [%rd1+8], %rd4;
  ld.global.u64 %rd5, [%rd1+16];
  add.u64 %rd5, %rd5, 1;
  st.global.u64 [%rd1+16], %rd5;
  ret;
}
)ptx";

}  // namespace reprise::gpu_test
