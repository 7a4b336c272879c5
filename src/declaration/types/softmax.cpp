// SPDX-License-Identifier: BSD-2-Clause
// Softmax along a dimension, which can be split: y = exp(x - m) / s, with the maximum m and the sum
// s of exp(x - m) over the dimension. If a grid axis splits the dimension, one exchange combines
// the maxima and one the sums; the adjoint needs one exchange of sums. The maximum is fixed,
// because y does not depend on it. If no axis splits the dimension, there is a single kernel, whose
// derivatives only read y. Labels per grid axis: S0, S1, ... (splits of dimensions 0, 1, ...), B
// (replicated), R (on the root of the axis only).
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kSoftmaxSettings[] = {
    {"dim", OptionSpec::Int, nullptr, "dimension along which the outputs sum to 1, counted from 0",
     nullptr, atLeast(0)}};

class Softmax final : public Elementwise {
public:
  Softmax() : Elementwise("softmax", kSoftmaxSettings) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return integer("dim") == 1; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (integer("dim") >= static_cast<Index>(x.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} normalises dimension {}, but its input has shape [{}]; set dim to "
                      "one of its dimensions, counted from 0",
                      title(), integer("dim"), fmt::join(x, ",")));
    return x;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    outputShape({inputs.front().shape()});
    return Elementwise::form(inputs, choice);
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    const ValueId z =
        haveSameMemory(form.inputs.front(), use) ? list.staged(x) : list.convert("z", x, use);
    const Layout part = ofLines(use, Property::partial()),
                 whole = ofLines(use, Property::broadcast());
    if (haveSameMemory(part, whole)) {
      const ValueId y = list.stagedOutput();
      list.run({.name = "softmax", .savesOutput = true}, {z}, y);
      list.unstage(y);
      return list;
    }
    const ValueId m = list.exact(list.value("m", part));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId e = list.value("e", use);
    list.run({.name = "exponentials", .savesOutput = true},
             {z, list.convert("M", m, whole, OperatorKind::Maximum)}, e);
    const ValueId s = list.exact(list.value("s", part));
    list.run({.name = "sums"}, {e}, s);
    const ValueId y = list.stagedOutput();
    list.run({.name = "quotients", .savesInputs = true},
             {e, list.convert("S", s, whole, OperatorKind::Conversion)}, y);
    list.unstage(y);
    return list;
  }

  std::string summary() const override { return fmt::format("along dim {}", integer("dim")); }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    return {{{"dim", draw.between(0, static_cast<Index>(shape.size()) - 1)}}, {shape}};
  }

private:
  bool isLinear() const override { return false; }

  // A layout with one number per line along the dimension, and `split` on axes that split it.
  Layout ofLines(const Layout& use, Property split) const {
    const int dim = static_cast<int>(integer("dim"));
    Properties properties = use.properties();
    for (Property& p : properties)
      if (p == Property::shard(dim))
        p = split;
    Shape shape = use.shape();
    shape[dim] = 1;
    std::vector<CutSource> cuts;
    for (int d = 0; d < use.rank(); ++d)
      cuts.push_back(d == dim ? CutSource() : CutSource{&use, d});
    return makeLayout(shape, use.gridPtr(), properties, cuts);
  }
};

} // namespace

std::unique_ptr<Declaration> declareSoftmax() {
  return std::make_unique<Softmax>();
}

} // namespace tenon
