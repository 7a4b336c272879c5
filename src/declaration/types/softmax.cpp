// SPDX-License-Identifier: BSD-2-Clause
// Declares the softmax along a dimension `dim`: y = exp(x - m) / s, with the maximum m of x and the
// sum s of exp(x - m) over this dimension. m and s are one number for each line of elements along
// `dim`.
//
// If a grid axis splits `dim`, the ranks along the axis have pieces of a line, and maps() lists
// these steps:
//
//   z   x in the layout in which the kernels use it
//   m   maxima of this rank's pieces          M   maxima over all ranks (one exchange)
//   e   exp(z - M)
//   s   sums of e over this rank's pieces     S   sums over all ranks (one exchange)
//   y   e / S
//
// Otherwise there is a single kernel, whose derivatives read only y. The steps up to M are fixed,
// that is, not differentiated, because y does not depend on the m that is subtracted. The adjoint
// then needs one exchange, of the sums. The arithmetic of the kernels is in
// layer/types/softmax.cpp.
//
// Labels, which state what a grid axis does to x and y: S0, S1, ... (splits dimension 0, 1, ...), B
// (replicates them), R (holds them on its root only).
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSoftmaxSettings[] = {
    {"dim", OptionSpec::Int, nullptr, "dimension along which the outputs sum to 1, counted from 0",
     nullptr, atLeast(0)}};

class Softmax final : public Elementwise {
public:
  Softmax() : Elementwise("softmax", kSoftmaxSettings) {}
  // On a field of patches that links join (a multi-block grid), lines along the channels are whole,
  // but lines in space would end at the patch.
  bool joinsPatches(const std::vector<Shape>&) const override {
    return integer("dim") == kChannelDim;
  }

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
    // Partial and whole lines differ only if an axis splits them.
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
