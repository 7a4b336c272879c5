// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/block_copy.hpp"

#include "kernels/block.hpp"
#include "kernels/maximum.hpp"

#include <cstring>

namespace tenon {

namespace {

struct CopyTo {
  template <class T>
  T operator()(T, T x) const {
    return x;
  }
};
struct AddTo {
  template <class T>
  T operator()(T y, T x) const {
    return y + x;
  }
};
struct MaxTo {
  template <class T>
  T operator()(T y, T x) const {
    return beats(x, y) ? x : y;
  }
};

template <class T, class Op>
void combineRow(Op op, Index n, const T* __restrict x, Index xs, T* __restrict y, Index ys) {
  if (xs == 1 && ys == 1) {
    if constexpr (std::is_same_v<Op, CopyTo>)
      std::memcpy(y, x, size_t(n) * sizeof(T));
    else
      for (Index i = 0; i < n; ++i)
        y[i] = op(y[i], x[i]);
  } else {
    for (Index i = 0; i < n; ++i)
      y[i * ys] = op(y[i * ys], x[i * xs]);
  }
}

template <class T, class Op>
void combineBlock(KernelContext& context, Op op, const Block& block, const T* x, T* y) {
  forEachRowInParts(context, block, [=](Index n, Index atX, Index stepX, Index atY, Index stepY) {
    combineRow(op, n, x + atX, stepX, y + atY, stepY);
  });
}

} // namespace

template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys) {
  const Block block = normaliseBlock(rank, extent, xs, ys);
  switch (op) {
  case Combine::Copy:
    return combineBlock(context, CopyTo{}, block, x, y);
  case Combine::Add:
    return combineBlock(context, AddTo{}, block, x, y);
  case Combine::Max:
    return combineBlock(context, MaxTo{}, block, x, y);
  }
}

template void blockCombine<float>(KernelContext&, Combine, int, const Index*, const float*,
                                  const Index*, float*, const Index*);
template void blockCombine<double>(KernelContext&, Combine, int, const Index*, const double*,
                                   const Index*, double*, const Index*);
template void blockCombine<std::int64_t>(KernelContext&, Combine, int, const Index*,
                                         const std::int64_t*, const Index*, std::int64_t*,
                                         const Index*);

} // namespace tenon
