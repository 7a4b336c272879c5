// SPDX-License-Identifier: BSD-2-Clause
// Flatten: [batch, channel, spatial...] becomes [batch, features], row-major. Labels on a grid
// axis: n batch, c channel (a part of the channels is a run of features), B, R, P. Splits of space
// must be given up first, since their features are no run.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tenon {

namespace {

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
    SignatureTable table = elementwiseTable(2, true);
    table[0].label = "n";
    table[1].label = "c";
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout& input = inputs.front();
    const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
    LayoutSpec spec{.shape = outputShape({input.shape()}), .grid = grid, .properties = {}};
    const Signature chosen = Signature::choose(rows({}), input, grid, choice.labels, title());
    const Layout use = makeLayoutLike(input, grid, chosen.input());
    spec.properties = chosen.output().properties;
    spec.splitAxes = {use.splitAxes(0), use.splitAxes(1)};
    spec.cuts = {use.cuts(0), use.cuts(1)};
    for (Index& cut : spec.cuts[1])
      // A channel is a run of features, so a cut between channels is one between features.
      cut *= featuresPerChannel(input.shape());
    return {
        .signature = chosen, .inputs = inputs, .uses = {use}, .output = Layout(std::move(spec))};
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

// Another shape for the same elements in row-major order: dimensions are merged or divided. Both
// shapes fall into groups, the shortest runs of dimensions with as many elements on both sides:
// [n,c,y,x] to [n,c,y x] has {n}, {c} and {y,x -> y x}. Where at most the first dimension of each
// group is split, a part of the input is a run of each group of the output, and the memory of x is
// that of y; any other split is given up first. Where a cut of a dimension that is divided would
// fall within an element of the output's first dimension, it moves to the nearest end of one.
//
// Labels on a grid axis: S0, S1, ... for the first dimension of each group in the input, B, R, P.

namespace {

constexpr OptionSpec kReshapeSettings[] = {{"shape", OptionSpec::Ints, nullptr,
                                            "extents of the output; 0: that of the input's "
                                            "dimension at this place; -1, once: what is left",
                                            nullptr, atLeast(-1)}};

// The first dimensions of a group that are more than 1, or the first, and how many elements lie
// behind one index of them.
struct Group {
  int input = 0, output = 0;
  Index behindInput = 1, behindOutput = 1;

  // Cuts of the input must be multiples of this.
  Index step() const { return behindOutput / std::gcd(behindInput, behindOutput); }
};

Index product(const Shape& shape, int begin, int end) {
  Index all = 1;
  for (int d = begin; d < end; ++d)
    all = checkedProduct(all, shape[d], "the number of elements");
  return all;
}

// The leading dimension of begin .. end.
int leading(const Shape& shape, int begin, int end) {
  for (int d = begin; d < end; ++d)
    if (shape[d] != 1)
      return d;
  return begin;
}

std::vector<Group> groupsOf(const Shape& x, const Shape& y) {
  const int inputs = static_cast<int>(x.size()), outputs = static_cast<int>(y.size());
  std::vector<Group> groups;
  int i = 0, o = 0;
  while (i < inputs && o < outputs) {
    int endI = i + 1, endO = o + 1;
    Index left = x[i], right = y[o];
    // Without elements the extents behind may differ.
    while (left != right && (endI < inputs || endO < outputs)) {
      const bool growsInput = (left < right && endI < inputs) || endO == outputs;
      Index& grown = growsInput ? left : right;
      grown = checkedProduct(grown, growsInput ? x[endI++] : y[endO++], "the number of elements");
    }
    // Extents of 1 that are left over belong to the last group.
    if (endI == inputs || endO == outputs) {
      endI = inputs;
      endO = outputs;
    }
    const int a = leading(x, i, endI), b = leading(y, o, endO);
    groups.push_back({a, b, product(x, a + 1, endI), product(y, b + 1, endO)});
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

  // The longest groups come first, which an axis splits whose split is given up.
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
        continue; // no elements that would have to lie alike
      for (Index& cut : use.cuts[g.input]) {
        cut = (cut + g.step() / 2) / g.step() * g.step();
        output.cuts[g.output].push_back(cut * g.behindInput / g.behindOutput);
      }
    }
    form.uses.front() = Layout(std::move(use));
    form.output = Layout(std::move(output));
    return form;
  }
  std::string summary() const override {
    return fmt::format("to [{}]", fmt::join(value<std::vector<Index>>("shape"), ","));
  }

  // Dimensions of the input that are divided, merged with the next, or kept.
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
  // None where the elements of the input do not fill the shape.
  std::optional<Shape> shapeFor(const Shape& x) const {
    Shape shape = value<std::vector<Index>>("shape");
    Index known = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0 && d >= x.size())
        return std::nullopt;
      if (shape[d] == 0)
        shape[d] = x[d];
      if (shape[d] >= 0)
        known = checkedProduct(known, shape[d], "the number of elements of a shape");
    }
    if (const auto open = std::ranges::find(shape, -1); open != shape.end()) {
      if (known == 0)
        return std::nullopt; // any extent would be left
      *open = elements(x) / known;
    }
    return elements(shape) == elements(x) ? std::optional(shape) : std::nullopt;
  }
  void check() const override {
    if (!isSet("shape"))
      return;
    const Shape shape = value<std::vector<Index>>("shape");
    if (static_cast<int>(shape.size()) > kMaxRank || std::ranges::count(shape, -1) > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the shape of {} is [{}]; pass at most {} extents, of which one at "
                              "most is -1",
                              title(), fmt::join(shape, ","), kMaxRank));
  }
};

} // namespace

std::unique_ptr<Declaration> declareReshape() {
  return std::make_unique<Reshape>();
}

} // namespace tenon
