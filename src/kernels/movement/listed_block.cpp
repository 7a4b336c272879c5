// SPDX-License-Identifier: BSD-2-Clause
// Copies or adds boxes whose elements are at listed positions along one dimension
// (listed_block.hpp). On the device, a functor processes each element. On the host, the list is
// processed entry by entry, a row at a time (a row is the contiguous dimensions after the listed
// one). Rows of a mesh are often short, so loops for common lengths have constant bounds, which
// compilers unroll; the call of a general copy would take longer than the row.
#include "kernels/movement/listed_block.hpp"

#include "kernels/movement/block_copy.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"

namespace tenon {

namespace {

// The offset of entry i of a list whose positions are indices of one dimension, the common case, or
// of several.
struct AlongOne {
  const Index* positions;
  Index step;
  explicit AlongOne(const ListedPlaces& places)
      : positions(places.positions), step(places.steps[0]) {}
  Index operator()(Index i) const { return (positions ? positions[i] : i) * step; }
};
struct AlongSeveral {
  const ListedPlaces& places;
  Index operator()(Index i) const { return places.offset(i); }
};

// The operation for the rows of the entries [begin, end), where x and y are the arrays at an index
// of the dimensions before the listed one. move() selects the loop by the factors, by the kind of
// list and by the length of a row (N if it is a constant of the loop, 0 otherwise).
template <class T>
struct Rows {
  functors::AxpbyListed<T> f; // its offsets are unused on the host
  Index length;

  // Calls apply(entry, value, target) for each element.
  template <int N, class Offsets, class Apply>
  void each(Index begin, Index end, const T* x, T* y, Apply apply) const {
    const Index n = N > 0 ? N : length;
    const Offsets from(f.from), to(f.to);
    for (Index i = begin; i < end; ++i) {
      const T* __restrict p = x + from(i);
      T* __restrict q = y + to(i);
      for (Index c = 0; c < n; ++c)
        apply(i, p[c], q[c]);
    }
  }
  template <int N, class Offsets>
  void move(Index begin, Index end, const T* x, T* y) const {
    if (f.weights)
      each<N, Offsets>(begin, end, x, y, [f = f](Index i, T value, T& target) {
        f.combine(f.alpha * static_cast<T>(f.weights[i]), value, target);
      });
    else if (f.alpha == T(1) && f.beta == T(0))
      each<N, Offsets>(begin, end, x, y, [](Index, T value, T& target) { target = value; });
    else if (f.alpha == T(1) && f.beta == T(1))
      each<N, Offsets>(begin, end, x, y, [](Index, T value, T& target) { target += value; });
    else
      each<N, Offsets>(begin, end, x, y,
                       [f = f](Index, T value, T& target) { f.combine(f.alpha, value, target); });
  }
  template <int N>
  void move(Index begin, Index end, const T* x, T* y) const {
    if (f.from.dims == 1 && f.to.dims == 1)
      move<N, AlongOne>(begin, end, x, y);
    else
      move<N, AlongSeveral>(begin, end, x, y);
  }
  void operator()(Index begin, Index end, const T* x, T* y) const {
    switch (length) {
    case 1:
      return move<1>(begin, end, x, y);
    case 2:
      return move<2>(begin, end, x, y);
    case 3:
      return move<3>(begin, end, x, y);
    case 4:
      return move<4>(begin, end, x, y);
    case 8:
      return move<8>(begin, end, x, y);
    case 16:
      return move<16>(begin, end, x, y);
    default:
      return move<0>(begin, end, x, y);
    }
  }
};

// Whether the dimensions from `first` on are contiguous in both arrays; `length` becomes their
// number of elements.
bool areRows(int rank, int first, const Index* extent, const Index* xs, const Index* ys,
             Index& length) {
  length = 1;
  for (int d = rank - 1; d >= first; --d) {
    if (extent[d] != 1 && (xs[d] != length || ys[d] != length))
      return false;
    length *= extent[d];
  }
  return true;
}

// Calls visit(offset in x, offset in y) for each index of the dimensions before `dim`.
template <class Visit>
void forEachOuter(int dim, const Index* extent, const Index* xs, const Index* ys, Visit visit,
                  int d = 0, Index atX = 0, Index atY = 0) {
  if (d == dim)
    return visit(atX, atY);
  for (Index i = 0; i < extent[d]; ++i)
    forEachOuter(dim, extent, xs, ys, visit, d + 1, atX + i * xs[d], atY + i * ys[d]);
}

} // namespace

template <class T>
void listedAxpby(KernelContext& context, int rank, const Index* extent, int dim, T alpha,
                 const double* weights, const T* x, const Index* xs, const ListedPlaces& from,
                 T beta, T* y, const Index* ys, const ListedPlaces& to) {
  // Strides without the listed dimension, whose offsets the lists contain; `numbers` are strides
  // that result in the index of the entry.
  Index stepsX[kMaxBlockRank], stepsY[kMaxBlockRank], numbers[kMaxBlockRank] = {}, count = 1;
  for (int d = 0; d < rank; ++d) {
    stepsX[d] = d == dim ? 0 : xs[d];
    stepsY[d] = d == dim ? 0 : ys[d];
    count *= extent[d];
  }
  numbers[dim] = 1;
  if (count == 0)
    return;
  if constexpr (kHasDevice)
    if (isOnDevice(context)) {
      const Index* const strides[] = {stepsX, stepsY, numbers};
      return forEachBoxSlice<3>(rank, extent, strides, [&](const BoxSlice<3>& slice) {
        const ElementOffsets<3> offsets{rank, slice.extent, strides};
        device::eachElement(context.stream(), offsets.count(),
                            functors::AxpbyListed<T>{offsets, slice.offset[2], from, to, weights,
                                                     alpha, x + slice.offset[0], beta,
                                                     y + slice.offset[1]});
      });
    }
  const Index none[kMaxBlockRank] = {};
  const functors::AxpbyListed<T> f{
      ElementOffsets<3>{0, extent, {none, none, none}}, 0, from, to, weights, alpha, x, beta, y};
  Index length;
  const bool areContiguous = areRows(rank, dim + 1, extent, xs, ys, length);
  forEachOuter(dim, extent, xs, ys, [&](Index atX, Index atY) {
    if (areContiguous)
      return parallelRanges(context.threads(), extent[dim], length,
                            [&, move = Rows<T>{f, length}](Index begin, Index end) {
                              move(begin, end, x + atX, y + atY);
                            });
    for (Index i = 0; i < extent[dim]; ++i)
      blockAxpby(context, rank - dim - 1, extent + dim + 1,
                 weights ? alpha * static_cast<T>(weights[i]) : alpha, x + atX + from.offset(i),
                 xs + dim + 1, beta, y + atY + to.offset(i), ys + dim + 1);
  });
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void listedAxpby<T>(KernelContext&, int, const Index*, int, T, const double*, const T*, \
                               const Index*, const ListedPlaces&, T, T*, const Index*,             \
                               const ListedPlaces&);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
TENON_INSTANTIATE(std::int64_t)
TENON_INSTANTIATE(std::int32_t)
#undef TENON_INSTANTIATE

} // namespace tenon
