// SPDX-License-Identifier: BSD-2-Clause
// Broadcasting of a small array over a large one, along dimensions in which the small array has one
// element, and the sum over these dimensions, which is the adjoint of broadcasting. For example,
// spread() repeats b [1,3] as the rows of y [4,3], and sum() adds the four rows of y to b. All
// functions work on the arrays of one rank, without messages. Arrays can be strided: along a
// broadcast dimension, the stride of the small array is set to 0.
#pragma once

#include "declaration/kernel/array_kernel.hpp"
#include "geometry/layout/box.hpp"
#include "kernels/movement/block_copy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon {

// The correspondence between the dimensions of a large array, which has the extents of a box (a
// list of index intervals), and of a small one. For example, a large array [batch, channels,
// columns] and a small array [channels] have places {-1, 0, -1}.
class BroadcastMap {
public:
  // places[d] is the dimension of the small array for dimension d of the box, or -1 if the small
  // array is repeated along it.
  BroadcastMap(const Box& box, std::vector<int> places)
      : extent_(extents(box)), places_(std::move(places)) {}
  // Constructor for a small array with the same number of dimensions as the box.
  BroadcastMap(const Box& box, const Box& small) : extent_(extents(box)) {
    for (std::size_t d = 0; d < box.size(); ++d)
      places_.push_back(small[d].size() == box[d].size() ? static_cast<int>(d) : -1);
  }

  // large <- factor small, repeated
  template <class T>
  void spread(double factor, const LocalArray& small, LocalArray& large) const {
    blockAxpby<T, T>(large.context(), ndim(), extent_.data(), T(factor), small.data<T>(),
                     stridesOf(small).data(), T(0), large.mutableData<T>(), large.strides());
  }
  // small <- factor times the sums of large
  template <class T>
  void sum(double factor, const LocalArray& large, LocalArray& small) const {
    sumOfProducts<T>(factor, /*a=*/{}, large, small);
  }
  // small <- factor times the sums of a * large (element by element), or of large if a is absent
  template <class T>
  void sumOfProducts(double factor, const LocalArray& a, const LocalArray& large,
                     LocalArray& small) const {
    setZero(small);
    blockMultiplyAdd<T>(small.context(), ndim(), extent_.data(), T(factor), a.data<T>(),
                        a.strides(), large.data<T>(), large.strides(), small.mutableData<T>(),
                        stridesOf(small).data());
  }
  // large += factor small, repeated
  template <class T>
  void add(double factor, const LocalArray& small, LocalArray& large) const {
    addTo<T>(factor, nullptr, nullptr, small.data<T>(), stridesOf(small).data(), large,
             large.strides());
  }
  // With weights of rows, where a row is an index in dimension `dim`: small += factor times the
  // sums of weights[row] * large; its adjoint, large += factor weights[row] * small, repeated; and
  // to += weights[row] * from, for two large arrays.
  template <class T>
  void addSumOfRows(double factor, int dim, const T* weights, const LocalArray& large,
                    LocalArray& small) const {
    addTo<T>(factor, weights, along(dim).data(), large.data<T>(), large.strides(), small,
             stridesOf(small).data());
  }
  template <class T>
  void addToRows(double factor, int dim, const T* weights, const LocalArray& small,
                 LocalArray& large) const {
    addTo<T>(factor, weights, along(dim).data(), small.data<T>(), stridesOf(small).data(), large,
             large.strides());
  }
  template <class T>
  void addWeightedRows(int dim, const T* weights, const LocalArray& from, LocalArray& to) const {
    addTo<T>(1, weights, along(dim).data(), from.data<T>(), from.strides(), to, to.strides());
  }
  // small <- the maximum of small and of the elements of large; small can be -infinity initially.
  template <class T>
  void raiseToLargest(const LocalArray& large, LocalArray& small) const {
    raise(small.context(), 0, extent_, large.strides(), large.data<T>(), stridesOf(small),
          small.mutableData<T>());
  }

private:
  // small <- max(small, large). The device kernel computes an element of the small array from one
  // contiguous range of reduced dimensions. Therefore only the longest run of adjacent reduced
  // dimensions is left to the kernel. From dimension d on, this function finds the next reduced
  // dimension outside the run, and calls itself for each index of it, with the extent 1 there and
  // `large` moved to that index.
  template <class T>
  void raise(KernelContext& context, int d, Shape extent, const Index* read, const T* large,
             const Strides& write, T* small) const {
    // The run is found in extent_, since in `extent` dimensions have already been set to 1.
    while (d < ndim() && (places_[d] >= 0 || extent[d] <= 1 || isOfLongestRun(d, extent_)))
      ++d;
    if (d == ndim())
      return blockCombine(context, Combine::Max, ndim(), extent.data(), large, read, small,
                          write.data());
    const Index count = std::exchange(extent[d], 1);
    for (Index i = 0; i < count; ++i)
      raise(context, d + 1, extent, read, large + i * read[d], write, small);
  }
  // Whether a reduced dimension belongs to the longest range of adjacent reduced dimensions (the
  // one with most elements), which raise() leaves to the kernel. In a contiguous array such a range
  // can be indexed like a single dimension.
  bool isOfLongestRun(int d, const Shape& extent) const {
    int best = 0, bestEnd = 0;
    Index longest = 0;
    for (int begin = 0; begin < ndim(); ++begin) {
      Index length = 1;
      int end = begin;
      while (end < ndim() && places_[end] < 0)
        length *= extent[end++];
      if (end > begin && length > longest) {
        longest = length;
        best = begin;
        bestEnd = end;
      }
      begin = std::max(begin, end - 1); // behind the run, after the increment
    }
    return d >= best && d < bestEnd;
  }

  int ndim() const { return static_cast<int>(extent_.size()); }
  // Strides of an array with one element per index of a dimension, repeated along all others.
  static Strides along(int dim) {
    Strides strides{};
    strides[dim] = 1;
    return strides;
  }
  // y += factor weights x, element by element; null weights are ones. Along dimensions in which y
  // has stride 0, this sums.
  template <class T>
  void addTo(double factor, const T* weights, const Index* weightStrides, const T* x,
             const Index* xStrides, LocalArray& y, const Index* yStrides) const {
    blockMultiplyAdd<T>(y.context(), ndim(), extent_.data(), T(factor), weights, weightStrides, x,
                        xStrides, y.mutableData<T>(), yStrides);
  }
  Strides stridesOf(const LocalArray& small) const {
    Strides strides{};
    for (std::size_t d = 0; d < places_.size(); ++d)
      strides[d] = places_[d] < 0 ? 0 : small.strides()[places_[d]];
    return strides;
  }

  Shape extent_;            // of the large array
  std::vector<int> places_; // by dimension of the large array, as in the constructor
};

} // namespace tenon
