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
// kernels, which copy elements, are in layer/types/slice.cpp.
//
// Labels, which state what a grid axis does to x and y: S0, S1, ... (splits dimension 0, 1, ...), B
// (replicates them), R (holds them on its root only), P (each rank has a partial sum).
#include "declaration/types/slice.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
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
    ranges[dim] = {begin, step, stepsTo(end - begin, step)};
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
    std::vector<Range> ranges = {{0, 1, x[0]}, {0, 1, x[1]}}; // batch and channels are whole
    for (int s = 0; s < spatial; ++s) {
      const Index extent = x[s + kFirstSpatial], begin = numberOf("offset", s, spatial),
                  count = numberOf("size", s, spatial);
      if (begin > extent || count > extent - begin)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} keeps {} elements from {} on in dimension {}, but its input "
                                "has shape [{}]; use a smaller size or offset",
                                title(), count, begin, s + kFirstSpatial, fmt::join(x, ",")));
      ranges.push_back({begin, 1, count});
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
