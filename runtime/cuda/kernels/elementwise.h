// The body of the kernels of two broadcast operands.
#pragma once

#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/walk.h"

namespace reprise::kernels {

// C is what both operands are computed in.
template <typename Fn, typename C, typename A, typename B, typename R>
__device__ void BinaryIn(const A* a, const B* b, R* y, const Walk& walk) {
  constexpr int kPack = kPackOf<A>;
  const int64_t step = ThreadIndex();
  if (step >= walk.count) return;
  const Offsets<2> offsets = WalkTo<2>(walk, step);
  a += offsets.at[0];
  b += offsets.at[1];
  const auto apply = [](const A& x, const B& z) {
    return Convert<R>(Fn::Apply(Convert<C>(x), Convert<C>(z)));
  };
  if (walk.pack == 1) {
    y[step] = apply(*a, *b);
    return;
  }
  const int64_t first = step * kPack;
  y += first;
  if (first + kPack <= walk.elements) {
    const Pack<A, kPack> left = LoadPack<kPack>(a, walk.step[0]);
    const Pack<B, kPack> right = LoadPack<kPack>(b, walk.step[1]);
    Pack<R, kPack> pack;
    for (int i = 0; i < kPack; ++i) {
      pack.at[i] = apply(left.at[i], right.at[i]);
    }
    StorePack(pack, y);
    return;
  }
  for (int i = 0; first + i < walk.elements; ++i) {
    y[i] = apply(a[i * walk.step[0]], b[i * walk.step[1]]);
  }
}

template <typename Fn, typename T, typename R>
__device__ void Binary(const T* a, const T* b, R* y, const Walk& walk) {
  BinaryIn<Fn, Compute<T>>(a, b, y, walk);
}

}  // namespace reprise::kernels
