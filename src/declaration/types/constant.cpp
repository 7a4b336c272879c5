// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `constant`: y = value, where `value` is a parameter of the layer and does not
// depend on the input x. The input only determines the distribution of y. Examples are a table of
// positions, a land mask, or the initial state of a recurrence. A frozen parameter makes y constant
// in training, too. declareConstant() is declared in core/types.hpp.
//
// Parameter and output have the same layout, so each rank copies its own block, and nothing is
// communicated.
//
// Labels of the rows: B (y is replicated along the axis), R (on the root of the axis only), and S0,
// S1, ... (dimension 0, 1, ... of y is split). If the user chooses no labels, a dimension of y is
// split like the input's dimension of the same number and extent, and y is replicated on other
// axes.
#include "declaration/core/declaration.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "geometry/layout/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kConstantSettings[] = {
    {"shape", OptionSpec::Ints, nullptr, "extents of the value", nullptr, atLeast(0)},
    {"value", OptionSpec::Real, "0", "what all of its elements begin with"}};

class LocalConstant final : public ArrayKernel {
public:
  void forward(Arrays, KernelParameters p, LocalArray& y, Buffer*) override {
    copyArray(p[0].value, y);
  }
  void tangent(const SavedArrays&, Arrays, KernelParameters p, LocalArray& dy) override {
    if (p[0].tangent)
      copyArray(p[0].tangent, dy);
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters p,
               WrittenArrays) override {
    if (p[0].gradient)
      copyArray(dy, p[0].gradient, /*adds=*/true);
  }
  std::string describe() const override { return "local copy"; }
};

class Constant final : public Declaration {
public:
  Constant() : Declaration("constant", kConstantSettings) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }

  Shape outputShape(const std::vector<Shape>&) const override {
    return value<std::vector<Index>>("shape");
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Shape y = outputShape(inputs), &x = inputs.front();
    const Property B = Property::broadcast(), R = Property::root();
    // The columns are the label and the properties of x, of the parameter and of y.
    SignatureTable table = {{"B", B, {B}, B}, {"R", R, {R}, R}};
    for (int d = 0; d < static_cast<int>(y.size()); ++d) {
      const Property S = Property::shard(d);
      // With this property of x, the row is the one chosen for an x that is split in dimension d.
      const bool hasEqualExtent = d < static_cast<int>(x.size()) && x[d] == y[d];
      table.push_back({fmt::format("S{}", d), hasEqualExtent ? S : B, {S}, S});
    }
    return table;
  }

  // The input is not redistributed: `uses`, the layouts in which inputs are read, are their own.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout x = inputs.front().withoutHalos();
    const Shape shape = outputShape({x.shape()});
    const GridPtr grid = choice.grid ? choice.grid : x.gridPtr();
    const Signature signature =
        Signature::choose(rows({x.shape()}), x, grid, choice.labels, title());
    std::vector<CutSource> cuts(shape.size());
    for (int d = 0; d < std::min(x.ndim(), static_cast<int>(shape.size())); ++d)
      cuts[d] = {&x, d};
    const Layout output = makeLayout(shape, grid, signature.output(), cuts);
    return {.signature = signature,
            .inputs = inputs,
            .uses = inputs,
            .parameters = {{.name = "value", .use = output, .initial = real("value")}},
            .output = output};
  }
  // isSource: the kernel does not read x, which therefore has no cotangent.
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .anyStrides = true, .isSource = true, .gradients = Gradients::Within};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace&) const override {
    return std::make_unique<LocalConstant>();
  }
  std::string summary() const override {
    return fmt::format("[{}]", fmt::join(value<std::vector<Index>>("shape"), ","));
  }
  Example example(ExampleDraw& draw) const override {
    const Shape x = draw.shape(1, 3);
    Shape y = draw.chance(50) ? x : draw.shape(1, 3);
    return {{{"shape", y}, {"value", 0.5}}, {x}};
  }

private:
  void check() const override {
    if (!isSet("shape"))
      return;
    const Shape shape = value<std::vector<Index>>("shape");
    if (static_cast<int>(shape.size()) > kMaxDims)
      throw Error(TENON_ERR_ARG, fmt::format("the shape of {} is [{}]; pass at most {} extents",
                                             title(), fmt::join(shape, ","), kMaxDims));
  }
};

} // namespace

std::unique_ptr<Declaration> declareConstant() {
  return std::make_unique<Constant>();
}

} // namespace tenon
