// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of slice, crop and pad, which copy a box of elements: in each dimension, output i is
// input begin + i step, or 0 if x has no such element (pad has begin < 0). Indices are global, and
// the kernel runs on each rank for the blocks of x and y that this rank has. Two examples in one
// dimension of extent 6:
//
//   slice   begin 1, step 2, count 3    y = x[1], x[3], x[5]
//   pad     begin -2, step 1, count 8   y = 0, 0, x[0], ..., x[5]
//
// The outputs that can be computed from this rank's block of x are determined once, at set-up. For
// the slice above, with x[0..3) on this rank and x[3..6) on another one, only y[0] is here.
#include "declaration/types/slice.hpp"
#include "declaration/core/windowed.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

namespace {

// y[i] = x[begin + i step] if x has that element, else 0
class LocalExcerpt final : public LinearKernel {
public:
  using Range = RangeSelection::Range;

  LocalExcerpt(const std::vector<Range>& ranges, const Box& x, const Box& y) {
    Index written = 1, total = 1;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      const auto [begin, step, count] = ranges[d];
      // The outputs i whose input is in this rank's block of x, that is, x.begin <= begin + i step
      // < x.end. Both bounds for i are quotients, rounded up, and at least 0.
      const Index low = x[d].begin - begin, high = x[d].end - begin;
      const Interval available = intersect(y[d], {std::max<Index>(0, (low + step - 1) / step),
                                                  std::max<Index>(0, (high + step - 1) / step)});
      extent_.push_back(available.size());
      step_.push_back(step);
      firstX_.push_back(begin + available.begin * step - x[d].begin);
      firstY_.push_back(available.begin - y[d].begin);
      written *= available.size();
      total *= y[d].size();
    }
    isEmpty_ = written == 0;
    coversY_ = written == total;
  }

  void map(const DTensor& x, DTensor& y) override {
    // Only with padding are there outputs without an input; otherwise all are overwritten.
    if (!coversY_)
      scaleArray(0, y);
    copy(x, y, /*forward=*/true);
  }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    scaleArray(0, dx);
    copy(dy, dx, /*forward=*/false);
  }
  std::string describe() const override { return "local copy"; }
  bool runsOnDevice() const override { return true; }

private:
  // The offset in a tensor's array of the element with these local indices.
  static Index offset(const Shape& first, const DTensor& tensor) {
    Index sum = 0;
    for (std::size_t d = 0; d < first.size(); ++d)
      sum += first[d] * tensor.strides()[d];
    return sum;
  }
  // Copies from an array like x to one like y, or back if not `forward`.
  void copy(const DTensor& from, DTensor& to, bool forward) const {
    if (isEmpty_)
      return;
    Strides strides{};
    const DTensor& x = forward ? from : to;
    for (std::size_t d = 0; d < step_.size(); ++d)
      strides[d] = step_[d] * x.strides()[d];
    const Index* read = forward ? strides.data() : from.strides().data();
    const Index* write = forward ? to.strides().data() : strides.data();
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent_.size()), extent_.data(),
                   from.data<T>() + offset(forward ? firstX_ : firstY_, from), read,
                   to.mutableData<T>() + offset(forward ? firstY_ : firstX_, to), write);
    });
  }

  Shape extent_, step_;   // of the copy, by dimension: number of elements, and step in x
  Shape firstX_, firstY_; // local indices of its first element in x and in y
  bool isEmpty_ = false, coversY_ = false;
};

// The kernel of slice and crop, whose declaration computes the ranges.
std::unique_ptr<LocalKernel> makeExcerpt(const KernelSite& at) {
  const auto& excerpt = static_cast<const RangeSelection&>(at.layer.declaration());
  return std::make_unique<LocalExcerpt>(excerpt.rangesOf(at.form.inputs.front().shape()),
                                        at.input(), at.outputs());
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeSliceKernel(const KernelSite& at) {
  return makeExcerpt(at);
}

std::unique_ptr<LocalKernel> makeCropKernel(const KernelSite& at) {
  return makeExcerpt(at);
}

std::unique_ptr<LocalKernel> makePadKernel(const KernelSite& at) {
  const Shape& shape = at.form.output.shape();
  std::vector<RangeSelection::Range> ranges = {{0, 1, shape[0]}, {0, 1, shape[1]}};
  for (const Window& window : static_cast<const Windowed&>(at.layer.declaration()).windows())
    // Padding is a range that begins before the input.
    ranges.push_back({-window.padLow, 1, shape[ranges.size()]});
  return std::make_unique<LocalExcerpt>(ranges, at.input(), at.outputs());
}

} // namespace tenon
