// SPDX-License-Identifier: BSD-2-Clause
// Declares two types that give the elements of a tensor, in row-major order, another shape:
// flatten, [batch, channel, spatial...] to [batch, features], and reshape (below) with any shape.
// A rank's block of x and its block of y have the same elements in the same order, so the kernel is
// a copy, and nothing is communicated. declareFlatten() and declareReshape() are declared in
// core/types.hpp.
//
// Flatten of [4, 6, 5, 5] makes [4, 150], 25 features from each channel. Channels split at 0, 2, 6
// become features split at 0, 50, 150. The input must not be split in space, because the features
// of a block would not be contiguous; a conversion removes such a split before the kernel.
//
// Labels, which state what a grid axis does to x and y: n (splits the batch), c (splits the
// channels), B (replicates them), R (holds them on its root only), P (each rank has a partial sum).
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tenon {

namespace {

// Copies between contiguous arrays of equal numbers of elements.
template <class T>
class LocalCopy final : public LinearKernel {
public:
  void map(const LocalArray& x, LocalArray& y) override {
    arrayCombine(y.context(), Combine::Copy, x.elements(), x.data<T>(), y.mutableData<T>());
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override { map(dy, dx); }
  std::string describe() const override { return "local copy"; }
};

class Flatten final : public Declaration {
public:
  Flatten() : Declaration("flatten", {}) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (x.size() < 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs [batch,channel,...]",
                              title(), fmt::join(x, ",")));
    return {x[0], x[1] * featuresPerChannel(x)};
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = elementwiseTable(/*rank=*/2, /*linear=*/true);
    table[0].label = "n"; // instead of S0
    table[1].label = "c"; // instead of S1
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout& input = inputs.front();
    const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
    LayoutSpec spec{.shape = outputShape({input.shape()}), .grid = grid, .properties = {}};
    const Signature signature = Signature::choose(rows({}), input, grid, choice.labels, title());
    const Layout use = makeLayoutLike(input, grid, signature.input());
    spec.properties = signature.output().properties;
    spec.splitAxes = {use.splitAxes(0), use.splitAxes(1)};
    spec.cuts = {use.cuts(0), use.cuts(1)};
    for (Index& cut : spec.cuts[1])
      // A channel is a contiguous range of features, so its split points can be scaled.
      cut *= featuresPerChannel(input.shape());
    return {
        .signature = signature, .inputs = inputs, .uses = {use}, .output = Layout(std::move(spec))};
  }

  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalCopy>(at.type);
  }
  Example example(ExampleDraw& draw) const override { return {{}, {draw.shape(2, 4)}}; }

private:
  static Index featuresPerChannel(const Shape& x) {
    Index features = 1;
    for (std::size_t d = 2; d < x.size(); ++d)
      features *= x[d];
    return features;
  }
};

} // namespace

std::unique_ptr<Declaration> declareFlatten() {
  return std::make_unique<Flatten>();
}

// Reshape: the same elements in row-major order with another shape. The dimensions are divided into
// groups, the shortest ranges of dimensions with the same number of elements in both shapes: from
// [n,c,y,x] to [n,c,y x] they are {n}, {c} and {y,x -> y x}. If only the first dimension of a group
// is split, a block of the input is contiguous in each group of the output, so no data are moved; a
// conversion of the input removes all other splits. A split point of the input that would be inside
// an index of the output's first dimension moves to the nearest boundary: from [12] to [3,4], 5
// moves to 4.
//
// Labels per grid axis: S0, S1, ... for the first dimension of each group in the input, B, R, P.

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kReshapeSettings[] = {{"shape", OptionSpec::Ints, nullptr,
                                            "extents of the output; 0: that of the input's "
                                            "dimension at this place; -1, once: what is left",
                                            nullptr, atLeast(-1)}};

// A group of dimensions: its leading dimension in input and output, which is the first with an
// extent other than 1, and the number of elements per index of that dimension.
struct Group {
  int input = 0, output = 0;
  Index perInputIndex = 1, perOutputIndex = 1;

  // Split points of the input must be multiples of this: the elements before one, cut *
  // perInputIndex, are then whole indices of the output.
  Index step() const { return perOutputIndex / std::gcd(perInputIndex, perOutputIndex); }
};

Index product(const Shape& shape, int begin, int end) {
  Index count = 1;
  for (int d = begin; d < end; ++d)
    count = checkedProduct(count, shape[d], "the number of elements");
  return count;
}

// The first dimension in [begin, end) with an extent other than 1, or `begin`.
int leading(const Shape& shape, int begin, int end) {
  for (int d = begin; d < end; ++d)
    if (shape[d] != 1)
      return d;
  return begin;
}

// The groups of a reshape from x to y. In each turn the side with fewer elements takes over its
// next dimension, until both sides of the group have as many.
std::vector<Group> groupsOf(const Shape& x, const Shape& y) {
  const int inputs = static_cast<int>(x.size()), outputs = static_cast<int>(y.size());
  std::vector<Group> groups;
  int i = 0, o = 0;
  while (i < inputs && o < outputs) {
    int endI = i + 1, endO = o + 1; // the group is [i, endI) in x and [o, endO) in y
    Index inputElements = x[i], outputElements = y[o];
    // If there are no elements, the remaining extents can differ.
    while (inputElements != outputElements && (endI < inputs || endO < outputs)) {
      const bool growsInput = (inputElements < outputElements && endI < inputs) || endO == outputs;
      Index& smaller = growsInput ? inputElements : outputElements;
      smaller =
          checkedProduct(smaller, growsInput ? x[endI++] : y[endO++], "the number of elements");
    }
    // Trailing extents of 1 belong to the last group.
    if (endI == inputs || endO == outputs) {
      endI = inputs;
      endO = outputs;
    }
    const int a = leading(x, i, endI), b = leading(y, o, endO);
    groups.push_back({.input = a,
                      .output = b,
                      .perInputIndex = product(x, a + 1, endI),
                      .perOutputIndex = product(y, b + 1, endO)});
    i = endI;
    o = endO;
  }
  return groups;
}

class Reshape final : public Declaration {
public:
  Reshape() : Declaration("reshape", kReshapeSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (const std::optional<Shape> shape = shapeFor(x))
      return *shape;
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} cannot give the {} elements of an input of shape [{}] the shape "
                            "[{}]; set shape to extents with as many elements",
                            title(), elements(x), fmt::join(x, ","),
                            fmt::join(value<std::vector<Index>>("shape"), ",")));
  }

  // Longer groups come first, to be preferred by an axis whose split must be removed.
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    std::vector<Group> groups;
    if (const std::optional<Shape> shape = shapeFor(x))
      groups = groupsOf(x, *shape);
    std::ranges::stable_sort(groups, std::greater<>(), [&](const Group& g) { return x[g.input]; });
    SignatureTable table;
    for (const Group& g : groups)
      table.push_back(
          {fmt::format("S{}", g.input), Property::shard(g.input), {}, Property::shard(g.output)});
    const Property B = Property::broadcast(), R = Property::root(), P = Property::partial();
    for (const auto& [label, property] : {std::pair("B", B), {"R", R}, {"P", P}})
      table.push_back({label, property, {}, property});
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    LayoutSpec use = form.uses.front().spec();
    LayoutSpec output{
        .shape = shape, .grid = use.grid, .properties = form.signature.output().properties};
    output.splitAxes.resize(shape.size());
    output.cuts.resize(shape.size());
    const bool isEmpty = elements(shape) == 0;
    for (const Group& g : groupsOf(use.shape, shape)) {
      output.splitAxes[g.output] = use.splitAxes[g.input];
      if (isEmpty)
        continue; // without elements, split points need not match
      for (Index& cut : use.cuts[g.input]) {
        cut = (cut + g.step() / 2) / g.step() * g.step(); // the nearest multiple
        output.cuts[g.output].push_back(cut * g.perInputIndex / g.perOutputIndex);
      }
    }
    form.uses.front() = Layout(std::move(use));
    form.output = Layout(std::move(output));
    return form;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalCopy>(at.type);
  }
  std::string summary() const override {
    return fmt::format("to [{}]", fmt::join(value<std::vector<Index>>("shape"), ","));
  }

  // Each dimension of the input is divided, merged with the next, or unchanged.
  Example example(ExampleDraw& draw) const override {
    const Shape x = draw.shape(1, 4);
    Shape shape;
    for (Index extent : x) {
      const Index part = draw.between(1, 3);
      if (!shape.empty() && draw.chance(30))
        shape.back() *= extent;
      else if (extent % part == 0 && draw.chance(50))
        shape.insert(shape.end(), {part, extent / part});
      else
        shape.push_back(extent);
    }
    if (draw.chance(30))
      shape[draw.between(0, static_cast<Index>(shape.size()) - 1)] = -1;
    return {{{"shape", shape}}, {x}};
  }

private:
  // The output shape, or none if it has a different number of elements than the input.
  std::optional<Shape> shapeFor(const Shape& x) const {
    Shape shape = value<std::vector<Index>>("shape");
    Index fixedElements = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0 && d >= x.size())
        return std::nullopt;
      if (shape[d] == 0)
        shape[d] = x[d];
      if (shape[d] >= 0)
        fixedElements =
            checkedProduct(fixedElements, shape[d], "the number of elements of a shape");
    }
    if (const auto inferred = std::ranges::find(shape, -1); inferred != shape.end()) {
      if (fixedElements == 0)
        return std::nullopt; // undefined, since any extent is possible
      *inferred = elements(x) / fixedElements;
    }
    return elements(shape) == elements(x) ? std::optional(shape) : std::nullopt;
  }
  void check() const override {
    if (!isSet("shape"))
      return;
    const Shape shape = value<std::vector<Index>>("shape");
    if (static_cast<int>(shape.size()) > kMaxDims || std::ranges::count(shape, -1) > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the shape of {} is [{}]; pass at most {} extents, of which one at "
                              "most is -1",
                              title(), fmt::join(shape, ","), kMaxDims));
  }
};

} // namespace

std::unique_ptr<Declaration> declareReshape() {
  return std::make_unique<Reshape>();
}

} // namespace tenon
