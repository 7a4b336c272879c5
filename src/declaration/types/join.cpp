// SPDX-License-Identifier: BSD-2-Clause
// Types that join several inputs into one output without parameters:
//
//   add          y = sum over i of x_i
//   concatenate  y = the x_i one after the other along a dimension
//
// Both are y = sum over i of E_i x_i, where E_i puts x_i at its place in y (for add: everywhere).
// Let y have the layout L. Then x_i is used in L restricted to its place: the same grid, properties
// and order of axes, each part cut off at the ends of x_i. In these layouts every rank joins what
// it holds, whatever the properties are, P and a split of the dimension itself included;
// conversions from the inputs' own layouts do the rest. The adjoint hands out y's cotangent
// likewise.
//
// Labels on a grid axis: S0, S1, ..., B, R, P. Without a choice y lies as the first input does.
#include "declaration/core/result_layout.hpp"
#include "declaration/core/types.hpp"
#include "geometry/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kDimension[] = {{"dim",
                                      OptionSpec::Int,
                                      nullptr,
                                      "dimension of concatenation, counted from 0",
                                      nullptr,
                                      {0, kMaxRank - 1}}};

class Join : public Declaration {
public:
  using Declaration::Declaration;
  int inputCount() const override { return -1; }
  bool takesOutputLayout() const override { return true; }

  void setOutputLayout(const Layout& pattern) override {
    if (pattern.hasHalos())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the output layout of {} must not have halos, but is {}; add a "
                              "repartition after it to add them",
                              title(), pattern.describe()));
    outputLayout_ = pattern;
  }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    checkShapes(inputs);
    Shape shape = inputs.front();
    for (std::size_t i = 1; dimension() >= 0 && i < inputs.size(); ++i)
      shape[dimension()] =
          checkedSum(shape[dimension()], inputs[i][dimension()], "the extent of a concatenation");
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), true);
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    std::vector<Shape> shapes;
    for (const Layout& input : inputs)
      shapes.push_back(input.shape());
    const Shape shape = outputShape(shapes);
    Form form = outputForm(inputs, shapes, shape, choice);
    Index begin = 0;
    for (const Layout& input : inputs) {
      const Index extent = dimension() < 0 ? 0 : input.shape()[dimension()];
      form.uses.push_back(restricted(form.output, begin, extent));
      begin += extent;
    }
    return form;
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(fmt::format("x{}", i), form.inputs[i]);
    const ValueId y = list.output("y", form.output);
    for (std::size_t i = 0; i < form.inputs.size(); ++i) {
      const ValueId x = list.inputs()[i];
      // Sums need no kernel: conversions add to one value, and the first of them overwrites it.
      if (dimension() < 0) {
        list.apply(OperatorKind::Conversion, x, y);
        continue;
      }
      const ValueId part = sameHolding(form.inputs[i], form.uses[i])
                               ? x
                               : list.convert(fmt::format("x{}'", i), x, form.uses[i]);
      list.runPart({.name = "place"}, {part}, y);
    }
    return list;
  }

  std::string summary() const override {
    std::string text = dimension() < 0 ? "" : fmt::format("along dim {}", dimension());
    if (outputLayout())
      text += fmt::format("{}output like {}", text.empty() ? "" : ", ", outputLayout()->describe());
    return text;
  }

  // -1 where every input covers the output.
  virtual int dimension() const { return -1; }

private:
  void checkShapes(const std::vector<Shape>& inputs) const {
    Shape first = inputs.front();
    const int d = dimension();
    if (d >= static_cast<int>(first.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} concatenates along dimension {}, but its input has shape [{}]; set "
                      "dim to one of its dimensions, counted from 0",
                      title(), d, fmt::join(first, ",")));
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const Shape& shape = inputs[i];
      if (d >= 0 && shape.size() == first.size())
        first[d] = shape[d];
      if (shape != first)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} ({}) needs inputs of equal shape{}, but input {} has [{}] and "
                                "input 0 has [{}]",
                                title(), type(),
                                d < 0 ? "" : fmt::format(" except in dimension {}", d), i,
                                fmt::join(shape, ","), fmt::join(inputs.front(), ",")));
    }
  }

  // The form but for the use layouts of the inputs, which follow from the output's.
  Form outputForm(const Layouts& inputs, const std::vector<Shape>& shapes, const Shape& shape,
                  const Choice& choice) const {
    const Layout first = inputs.front().withoutHalos();
    if (outputLayout()) {
      if (!choice.letters.empty())
        throw Error(TENON_ERR_OPTION, fmt::format("{} has both an output layout and the signature "
                                                  "\"{}\"; set only one of them",
                                                  title(), choice.letters));
      const Layout output = layoutLike(*outputLayout(), shape, title());
      return {.signature = Signature::following(rows(shapes), output),
              .inputs = inputs,
              .uses = {},
              .output = output};
    }
    const GridPtr grid = choice.grid ? choice.grid : first.gridPtr();
    const Signature chosen = Signature::choose(rows(shapes), first, grid, choice.letters, title());
    std::vector<CutSource> same;
    for (int d = 0; d < first.rank(); ++d)
      same.push_back({&first, d});
    return {.signature = chosen,
            .inputs = inputs,
            .uses = {},
            .output = makeLayout(shape, grid, chosen.output(), same)};
  }

  // The output's layout restricted to begin .. begin + extent of the dimension.
  Layout restricted(const Layout& output, Index begin, Index extent) const {
    if (dimension() < 0)
      return output;
    LayoutSpec spec = output.spec();
    spec.shape[dimension()] = extent;
    for (Index& cut : spec.cuts[dimension()])
      cut = std::clamp(cut - begin, Index(0), extent);
    return Layout(std::move(spec));
  }
};

class Add final : public Join {
public:
  Add() : Join("add", {}) {}

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    return {{}, std::vector<Shape>(draw.between(1, 3), shape)};
  }
};

class Concatenate final : public Join {
public:
  Concatenate() : Join("concatenate", kDimension) {}

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    const Index dim = draw.between(0, static_cast<Index>(shape.size()) - 1);
    std::vector<Shape> inputs(draw.between(1, 3), shape);
    for (Shape& input : inputs)
      input[dim] = draw.between(1, 4);
    return {{{"dim", dim}}, inputs};
  }

private:
  int dimension() const override { return static_cast<int>(integer("dim")); }
};

} // namespace

std::unique_ptr<Declaration> declareAdd() {
  return std::make_unique<Add>();
}

std::unique_ptr<Declaration> declareConcatenate() {
  return std::make_unique<Concatenate>();
}

} // namespace tenon
