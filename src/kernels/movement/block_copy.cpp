// SPDX-License-Identifier: BSD-2-Clause
// Copies and combines strided boxes y[i] = op(y[i], x[i]), on the host or the device. A box is
// first reduced to the fewest dimensions by merging those that are contiguous in both arrays
// (walks/block.hpp), and then a functor is applied to each element. Sums of products
// (blockMultiplyAdd) have a separate recursion, because the order of their dimensions is the order
// of addition and must not change.
#include "kernels/movement/block_copy.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/functors/block.hpp"
#include "kernels/movement/transposed.hpp"
#include "kernels/walks/block.hpp"
#include "kernels/walks/device_reduce.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tenon {

namespace {

// Copies a box on the host that is contiguous in both arrays, if it is so small that the walk over
// its rows would take longer; otherwise returns false.
template <class T>
bool copySmall(int rank, const Index* extent, const T* x, const Index* xs, T* y, const Index* ys) {
  constexpr Index kSmall = 1024; // bytes
  Index elements = 1;
  for (int d = rank - 1; d >= 0; --d) {
    if (extent[d] != 1 && (xs[d] != elements || ys[d] != elements))
      return false;
    elements *= extent[d];
  }
  const Index bytes = elements * Index(sizeof(T));
  if (bytes == 0 || bytes > kSmall)
    return false;
  std::memcpy(y, x, static_cast<std::size_t>(bytes));
  return true;
}

// Copies on the device in elements of 16 bytes, which takes a quarter of the instructions. Requires
// contiguous rows that begin and end at multiples of 16 bytes, and that no element is written
// twice; otherwise returns false.
template <class T>
bool copyWide(KernelContext& context, Block block, const T* x, T* y) {
  using Element = functors::CopyWide::Element;
  if (!functors::areWide(x, y) || !widenBlock(block, sizeof(Element) / sizeof(T)))
    return false;
  eachOfBlock(
      context, block,
      functors::CopyWide{reinterpret_cast<const Element*>(x), reinterpret_cast<Element*>(y)});
  return true;
}

// Copies a transposed box on the device by square tiles, which makes both reads and writes
// contiguous; returns false if tiles do not fit the box.
template <class T>
bool transpose(KernelContext& context, const Block& block, const T* x, T* y) {
  using Bytes = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return transposeTiles(context, block, functors::CopiedOnTheWay<Bytes>{},
                        reinterpret_cast<const Bytes*>(x), reinterpret_cast<Bytes*>(y));
}

} // namespace

template <class T>
void blockCombine(KernelContext& context, Combine op, int rank, const Index* extent, const T* x,
                  const Index* xs, T* y, const Index* ys) {
  if (op == Combine::Copy && !isOnDevice(context) && copySmall(rank, extent, x, xs, y, ys))
    return;
  const Block block = normaliseBlock(rank, extent, xs, ys);
  switch (op) {
  case Combine::Copy:
    if (isOnDevice(context) && (copyWide(context, block, x, y) || transpose(context, block, x, y)))
      return;
    return eachOfBlock(context, block, functors::CombineElements<T, functors::CopyTo>{x, y});
  case Combine::Add:
    return eachOfBlock(context, block, functors::CombineElements<T, functors::AddTo>{x, y});
  case Combine::Max:
    return eachOfBlock(context, block, functors::CombineElements<T, functors::MaxTo>{x, y});
  }
}

template void blockCombine<float>(KernelContext&, Combine, int, const Index*, const float*,
                                  const Index*, float*, const Index*);
template void blockCombine<double>(KernelContext&, Combine, int, const Index*, const double*,
                                   const Index*, double*, const Index*);
template void blockCombine<std::int64_t>(KernelContext&, Combine, int, const Index*,
                                         const std::int64_t*, const Index*, std::int64_t*,
                                         const Index*);
template void blockCombine<std::int32_t>(KernelContext&, Combine, int, const Index*,
                                         const std::int32_t*, const Index*, std::int32_t*,
                                         const Index*);

template <class S, class T>
void blockAxpby(KernelContext& context, int rank, const Index* extent,
                std::common_type_t<S, T> alpha, const S* x, const Index* xs,
                std::common_type_t<S, T> beta, T* y, const Index* ys) {
  if constexpr (std::is_same_v<S, T>)
    // Bit by bit, without a product that could change a NaN; contiguous rows are copied by memcpy.
    if (alpha == 1 && (beta == 0 || beta == 1))
      return blockCombine(context, beta == 0 ? Combine::Copy : Combine::Add, rank, extent, x, xs, y,
                          ys);
  const Block block = normaliseBlock(rank, extent, xs, ys);
  if (beta == 0)
    eachOfBlock(context, block, functors::ScaleElements<S, T>{alpha, x, y});
  else
    eachOfBlock(context, block, functors::AxpbyElements<S, T>{alpha, x, beta, y});
}

template <class T>
void blockScale(KernelContext& context, int rank, const Index* extent, T factor, T* y,
                const Index* ys) {
  if (factor == 1)
    return;
  if (factor == 0)
    return fillBlock(context, rank, extent, T(0), y, ys);
  eachOfBlock(context, normaliseBlock(rank, extent, ys, ys),
              functors::MultiplyElements<T>{factor, y});
}

#define TENON_INSTANTIATE(S, T)                                                                    \
  template void blockAxpby<S, T>(KernelContext&, int, const Index*, std::common_type_t<S, T>,      \
                                 const S*, const Index*, std::common_type_t<S, T>, T*,             \
                                 const Index*);
TENON_INSTANTIATE(float, float)
TENON_INSTANTIATE(double, double)
TENON_INSTANTIATE(float, double)
TENON_INSTANTIATE(double, float)
TENON_INSTANTIATE(std::int64_t, std::int64_t)
TENON_INSTANTIATE(std::int32_t, std::int32_t)
TENON_INSTANTIATE(std::int32_t, std::int64_t)
TENON_INSTANTIATE(std::int64_t, std::int32_t)
TENON_INSTANTIATE(std::int32_t, float)
TENON_INSTANTIATE(std::int32_t, double)
TENON_INSTANTIATE(std::int64_t, float)
TENON_INSTANTIATE(std::int64_t, double)
#undef TENON_INSTANTIATE
template void blockScale<float>(KernelContext&, int, const Index*, float, float*, const Index*);
template void blockScale<double>(KernelContext&, int, const Index*, double, double*, const Index*);
template void blockScale<std::int64_t>(KernelContext&, int, const Index*, std::int64_t,
                                       std::int64_t*, const Index*);
template void blockScale<std::int32_t>(KernelContext&, int, const Index*, std::int32_t,
                                       std::int32_t*, const Index*);

namespace {

// blockMultiplyAdd() is a recursion over the dimensions in the caller's order, which is the order
// of the sums: dimensions must not be sorted as for other kernels.

// Strides of a, x and y.
using Steps = std::array<Index, 3>;

// The dimensions of the sums, in the caller's order.
struct Walk {
  int rank = 0; // without dimensions of extent 1, but at least 1
  std::array<Index, kMaxBlockRank> extent = {1};
  std::array<Steps, kMaxBlockRank> steps = {};
};

// The sum of a x over a row: pairwise in double, or in integers.
template <class T>
T sumOfRow(KernelContext& context, Index n, const T* a, const T* x, const Steps& step) {
  if constexpr (std::is_integral_v<T>) {
    T sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += a[i * step[0]] * x[i * step[1]];
    return sum;
  } else {
    return static_cast<T>(dotBlock(context, 1, &n, a, &step[0], x, &step[1]));
  }
}

// y += alpha a x for the last dimension.
template <class T>
void addRow(KernelContext& context, Index n, T alpha, const T* a, const T* x, T* y,
            const Steps& step) {
  // Three cases: y has stride 0 (a sum), a has stride 0 (scaling by channel), or anything else.
  if (step[2] == 0 && n > 1) {
    *y += alpha * sumOfRow(context, n, a, x, step);
  } else if (step == Steps{0, 1, 1}) {
    const T factor = alpha * *a;
    for (Index i = 0; i < n; ++i)
      y[i] += factor * x[i];
  } else {
    for (Index i = 0; i < n; ++i)
      y[i * step[2]] += alpha * a[i * step[0]] * x[i * step[1]];
  }
}

// The recursion: y += alpha a x for dimension d and those after it.
template <class T>
void addRows(KernelContext& context, const Walk& walk, int d, T alpha, const T* a, const T* x,
             T* y) {
  const Steps& step = walk.steps[d];
  if (d == walk.rank - 1)
    return addRow(context, walk.extent[d], alpha, a, x, y, step);
  for (Index i = 0; i < walk.extent[d]; ++i)
    addRows(context, walk, d + 1, alpha, a + i * step[0], x + i * step[1], y + i * step[2]);
}

// Some dimensions of a walk: those in which y has a stride, which enumerate the sums, or those in
// which its stride is 0, which enumerate the terms of one sum.
struct SubWalk {
  int rank = 0;
  Index extent[kMaxBlockRank], steps[3][kMaxBlockRank];

  SubWalk(const Walk& walk, bool writesDifferent) {
    for (int d = 0; d < walk.rank; ++d) {
      if ((walk.steps[d][2] != 0) != writesDifferent)
        continue;
      extent[rank] = walk.extent[d];
      for (int k = 0; k < 3; ++k)
        steps[k][rank] = walk.steps[d][k];
      ++rank;
    }
  }

  // Calls visit(part, offsets in the arrays) for parts that one kernel can index.
  template <class Visit>
  void forEachPart(const Visit& visit) const {
    forEachBoxSlice<3>(rank, extent, {steps[0], steps[1], steps[2]}, [&](const BoxSlice<3>& slice) {
      SubWalk part = *this;
      std::copy_n(slice.extent, rank, part.extent);
      visit(part, slice.offset);
    });
  }

  // Minimum distance between neighbouring elements in these dimensions, in the array with the
  // larger stride.
  Index closest() const {
    Index distance = std::numeric_limits<Index>::max();
    for (int d = 0; d < rank; ++d)
      distance = std::min(distance, std::max(std::abs(steps[0][d]), std::abs(steps[1][d])));
    return distance;
  }
};

// y += alpha times the sums of products of K arrays: x, and a if K is 2.
template <int K, class T>
void addProductsOnDevice(KernelContext& context, const SubWalk& sums, const SubWalk& terms, T alpha,
                         const T* a, const T* x, T* y) {
  const auto offsetsOf = [](const SubWalk& dims) -> ElementOffsets<K> {
    if constexpr (K == 1)
      return {dims.rank, dims.extent, {dims.steps[1]}};
    else
      return {dims.rank, dims.extent, {dims.steps[1], dims.steps[0]}};
  };
  // Neighbouring threads should read adjacent elements: of one sum, or of different sums if those
  // are closer.
  functors::ProductTerm<T, K> term{
      offsetsOf(sums), offsetsOf(terms), sums.closest() < terms.closest() ? 1 : 0, {x}};
  if constexpr (K == 2)
    term.arrays[1] = a;
  const functors::AddToElement<T, typename decltype(term)::Wide> use{
      {sums.rank, sums.extent, {sums.steps[2]}}, alpha, y};
  device::reduceEach<functors::AddTo>(context, term.written.count(), term.summed.count(), term, 0,
                                      use);
}

template <class T>
void multiplyOnDevice(KernelContext& context, const SubWalk& sums, const SubWalk& terms, T alpha,
                      const T* a, const T* x, T* y) {
  const ElementOffsets<3> written{
      sums.rank, sums.extent, {sums.steps[0], sums.steps[1], sums.steps[2]}};
  if (ElementOffsets<1>{terms.rank, terms.extent, {terms.steps[1]}}.count() == 1)
    device::eachElement(context.stream(), written.count(),
                        functors::MultiplyAddElements<T>{written, alpha, a, x, y});
  else if (a)
    addProductsOnDevice<2>(context, sums, terms, alpha, a, x, y);
  else
    addProductsOnDevice<1>(context, sums, terms, alpha, a, x, y);
}

// In slices: the terms of a sum that has several are added one slice after the other.
template <class T>
void multiplyOnDevice(KernelContext& context, const Walk& walk, T alpha, const T* a, const T* x,
                      T* y) {
  const SubWalk sums(walk, /*writesDifferent=*/true), terms(walk, /*writesDifferent=*/false);
  sums.forEachPart([&](const SubWalk& someSums, const auto& at) {
    terms.forEachPart([&](const SubWalk& someTerms, const auto& within) {
      multiplyOnDevice(context, someSums, someTerms, alpha, a ? a + at[0] + within[0] : nullptr,
                       x + at[1] + within[1], y + at[2]);
    });
  });
}

// The longest dimension in which y has a stride, or -1. Threads divide this dimension, so no sum is
// split.
int dividedDim(const Walk& walk) {
  int longest = -1;
  for (int d = 0; d < walk.rank; ++d)
    if (walk.steps[d][2] != 0 && (longest < 0 || walk.extent[d] > walk.extent[longest]))
      longest = d;
  return longest;
}

} // namespace

template <class T>
void blockMultiplyAdd(KernelContext& context, int rank, const Index* extent, T alpha, const T* a,
                      const Index* as, const T* x, const Index* xs, T* y, const Index* ys) {
  const T unit = 1;
  Walk walk;
  Index elements = 1;
  for (int d = 0; d < rank; ++d) {
    elements *= extent[d];
    if (extent[d] == 1)
      continue;
    walk.extent[walk.rank] = extent[d];
    walk.steps[walk.rank++] = {a ? as[d] : 0, xs[d], ys[d]};
  }
  if (elements == 0)
    return;
  if constexpr (kHasDevice)
    if (isOnDevice(context))
      return multiplyOnDevice(context, walk, alpha, a, x, y);
  walk.rank = std::max(walk.rank, 1);
  a = a ? a : &unit;
  const int d = dividedDim(walk);
  if (d < 0)
    return addRows(context, walk, 0, alpha, a, x, y);
  parallelRanges(context.threads(), walk.extent[d], elements / walk.extent[d],
                 [=, &context](Index begin, Index end) {
                   Walk part = walk;
                   part.extent[d] = end - begin;
                   const Steps& step = walk.steps[d];
                   addRows(context, part, 0, alpha, a + begin * step[0], x + begin * step[1],
                           y + begin * step[2]);
                 });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void blockMultiplyAdd<T>(KernelContext&, int, const Index*, T, const T*, const Index*,  \
                                    const T*, const Index*, T*, const Index*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
TENON_INSTANTIATE(std::int64_t)
TENON_INSTANTIATE(std::int32_t)
#undef TENON_INSTANTIATE

} // namespace tenon
