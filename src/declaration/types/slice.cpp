// SPDX-License-Identifier: BSD-2-Clause
// Declares the types that select a range of each dimension: y[i] = x[begin + i step], i < count
//
//   slice  along one dimension, from `begin` to `end` by `step`
//   crop   in space, a box of `size` that begins at `offset`
//
// Each rank selects from its own block of x, so nothing is communicated, and blocks can become
// empty. For example, x has 10 elements on 3 ranks, and slice has begin 1 and step 3:
//
//   x   0 1 2 3 | 4 5 6 | 7 8 9    split points 0, 4, 7, 10
//   y     1     | 4     | 7        split points 0, 1, 2, 3
//
// The form, that is, the layouts of x and y on all ranks, follows from these split points. The
// kernel, a copy of a box of elements, also serves pad, whose ranges begin before the input:
//
//   slice   x of 6 elements, begin 1, step 2, count 3    y = x[1], x[3], x[5]
//   pad     x of 6 elements, begin -2, step 1, count 8   y = 0, 0, x[0], ..., x[5]
//
// Labels, which state what a grid axis does to x and y: S0, S1, ... (splits dimension 0, 1, ...), B
// (replicates them), R (holds them on its root only), P (each rank has a partial sum).
#include "declaration/types/slice.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The number of steps to reach or pass a distance, or 0 if the distance is not positive.
Index stepsTo(Index distance, Index step) {
  return distance > 0 ? (distance - 1) / step + 1 : 0;
}

} // namespace

// Whether the type can be used on a field of patches that links join (a multi-block grid; patches
// are the batch): only if channels alone are removed. Patches must remain, and remain whole.
bool RangeSelection::joinsPatches(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  const std::vector<Range> ranges = rangesOf(x);
  for (std::size_t d = 0; d < ranges.size(); ++d)
    if (static_cast<int>(d) != kChannelDim && ranges[d].count != x[d])
      return false;
  return true;
}

SignatureTable RangeSelection::rows(const std::vector<Shape>& inputs) const {
  return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
}

Shape RangeSelection::outputShape(const std::vector<Shape>& inputs) const {
  Shape shape;
  for (const Range& range : rangesOf(inputs.front()))
    shape.push_back(range.count);
  return shape;
}

Form RangeSelection::form(const Layouts& inputs, const Choice& choice) const {
  Form form = formLikeInput(inputs, choice);
  const std::vector<Range> ranges = rangesOf(inputs.front().shape());
  LayoutSpec spec = form.uses.front().spec();
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    spec.shape[d] = ranges[d].count;
    for (Index& cut : spec.cuts[d])
      // An output is on the rank of its input. The split point becomes the number of selected
      // elements before it.
      cut = std::min(stepsTo(cut - ranges[d].begin, ranges[d].step), ranges[d].count);
    spec.cuts[d].back() = ranges[d].count;
  }
  form.output = Layout(std::move(spec));
  return form;
}

namespace {

// Indices of ranges are global. The outputs that can be computed from this rank's block of x are
// determined at set-up: for begin 1 and step 2, with x[0..3) on this rank and x[3..6) on another
// one, only y[0] is here.
template <class T>
class LocalExcerpt final : public LinearKernel {
public:
  LocalExcerpt(const std::vector<RangeSelection::Range>& ranges, const Box& x, const Box& y) {
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

  void map(const LocalArray& x, LocalArray& y) override {
    // Only with padding are there outputs without an input; otherwise all are overwritten.
    if (!coversY_)
      setZero(y);
    const Strides strides = inSteps(x);
    copy(x, firstX_, strides.data(), y, firstY_, y.strides());
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    setZero(dx);
    const Strides strides = inSteps(dx);
    copy(dy, firstY_, dy.strides(), dx, firstX_, strides.data());
  }
  std::string describe() const override { return "local copy"; }

private:
  // The offset in an array of the element with these local indices.
  static Index offset(const Shape& first, const LocalArray& array) {
    Index sum = 0;
    for (std::size_t d = 0; d < first.size(); ++d)
      sum += first[d] * array.strides()[d];
    return sum;
  }
  // From one copied element of x to the next.
  Strides inSteps(const LocalArray& x) const {
    Strides strides{};
    for (std::size_t d = 0; d < step_.size(); ++d)
      strides[d] = step_[d] * x.strides()[d];
    return strides;
  }
  void copy(const LocalArray& from, const Shape& firstFrom, const Index* read, LocalArray& to,
            const Shape& firstTo, const Index* write) const {
    if (!isEmpty_)
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent_.size()), extent_.data(),
                   from.data<T>() + offset(firstFrom, from), read,
                   to.mutableData<T>() + offset(firstTo, to), write);
  }

  Shape extent_, step_;   // of the copy, by dimension: number of elements, and step in x
  Shape firstX_, firstY_; // local indices of its first element in x and in y
  bool isEmpty_ = false, coversY_ = false;
};

} // namespace

std::unique_ptr<ArrayKernel> RangeSelection::makeExcerpt(const KernelPlace& at,
                                                         const std::vector<Range>& ranges) {
  return makeTyped<LocalExcerpt>(at.type, ranges, at.input(), at.outputs());
}

std::unique_ptr<ArrayKernel> RangeSelection::makeKernel(const KernelPlace& at) const {
  return makeExcerpt(at, rangesOf(at.form.inputs.front().shape()));
}

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSlice[] = {
    {"dim", OptionSpec::Int, nullptr, "dimension that is sliced, counted from 0", nullptr,
     atLeast(0)},
    {"begin", OptionSpec::Int, "0",
     "first element of the dimension; negative: counted from the end"},
    {"end", OptionSpec::Int, nullptr,
     "element before which it ends; negative: counted from the end; the end where it is not set"},
    {"step", OptionSpec::Int, "1", "every which element is kept", nullptr, atLeast(1)},
};

class Slice final : public RangeSelection {
public:
  Slice() : RangeSelection("slice", kSlice) {}

  std::vector<Range> rangesOf(const Shape& x) const override {
    const Index dim = integer("dim");
    if (dim >= static_cast<Index>(x.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} slices dimension {}, but its input has shape [{}]; set dim to one "
                      "of its dimensions, counted from 0",
                      title(), dim, fmt::join(x, ",")));
    std::vector<Range> ranges;
    for (Index extent : x)
      ranges.push_back({.begin = 0, .step = 1, .count = extent});
    // A step beyond the dimension selects its first element, as does one of its whole extent, which
    // cannot overflow where it is multiplied.
    const Index extent = x[dim], step = std::min(integer("step"), std::max<Index>(extent, 1));
    // As in Python: a negative number counts from the end, and ranges are clipped to the dimension.
    const auto fromStart = [&](Index index) {
      return std::clamp<Index>(index < 0 ? index + extent : index, 0, extent);
    };
    const Index begin = fromStart(integer("begin"));
    const Index end = isSet("end") ? fromStart(integer("end")) : extent;
    ranges[dim] = {.begin = begin, .step = step, .count = stepsTo(end - begin, step)};
    return ranges;
  }

  std::string summary() const override {
    const Index step = integer("step");
    return fmt::format("dim {}, from {}{}{}", integer("dim"), integer("begin"),
                       isSet("end") ? fmt::format(" to {}", integer("end")) : "",
                       step > 1 ? fmt::format(" by {}", step) : "");
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    const Index dim = draw.between(0, static_cast<Index>(shape.size()) - 1);
    Example example{{{"dim", dim},
                     {"begin", draw.between(0, shape[dim] / 2)},
                     {"step", draw.of<Index>({1, 1, 2, 3})}},
                    {shape}};
    if (draw.chance(50))
      example.settings.emplace_back("end", draw.of<Index>({-1, shape[dim]}));
    return example;
  }
};

constexpr OptionSpec kCrop[] = {
    {"offset", OptionSpec::Ints, "0",
     "elements left out before the box, one number for all spatial dimensions or one each", nullptr,
     atLeast(0)},
    {"size", OptionSpec::Ints, nullptr,
     "elements of the box, one number for all spatial dimensions or one each", nullptr, atLeast(0)},
};

class Crop final : public RangeSelection {
public:
  Crop() : RangeSelection("crop", kCrop) {}

  std::vector<Range> rangesOf(const Shape& x) const override {
    const int spatial = spatialRankOf(x, title());
    std::vector<Range> ranges;
    for (const Index extent : {x[0], x[1]}) // batch and channels are whole
      ranges.push_back({.begin = 0, .step = 1, .count = extent});
    for (int s = 0; s < spatial; ++s) {
      const Index extent = x[s + kFirstSpatial], begin = numberOf("offset", s, spatial),
                  count = numberOf("size", s, spatial);
      if (begin > extent || count > extent - begin)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} keeps {} elements from {} on in dimension {}, but its input "
                                "has shape [{}]; use a smaller size or offset",
                                title(), count, begin, s + kFirstSpatial, fmt::join(x, ",")));
      ranges.push_back({.begin = begin, .step = 1, .count = count});
    }
    return ranges;
  }

  std::string summary() const override {
    return fmt::format("{} from {}", fmt::join(value<std::vector<Index>>("size"), "x"),
                       fmt::join(value<std::vector<Index>>("offset"), ","));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    std::vector<Index> offset, size;
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d) {
      offset.push_back(draw.between(0, shape[d] - 1));
      size.push_back(draw.between(1, shape[d] - offset.back()));
    }
    return {{{"offset", offset}, {"size", size}}, {shape}};
  }

private:
  // The entry of a setting for spatial dimension s of `spatial` ones.
  Index numberOf(std::string_view name, int s, int spatial) const {
    return numberPerDimension(value<std::vector<Index>>(name), s, spatial, name, title());
  }
};

} // namespace

std::unique_ptr<Declaration> declareSlice() {
  return std::make_unique<Slice>();
}

std::unique_ptr<Declaration> declareCrop() {
  return std::make_unique<Crop>();
}

} // namespace tenon
