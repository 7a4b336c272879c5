// SPDX-License-Identifier: BSD-2-Clause
// Declares `sphericalconv`, the spherical convolution of spherical Fourier neural operators (Bonev
// et al. 2023): analysis, a product over channels for each degree, and synthesis, on fields [batch,
// channel, rows, columns],
//
//   c = A x,   d[n,o,m,l] = sum over i of c[n,i,m,l] W[i,o,l],   y = S d + bias[o]
//
// with complex numbers; output and input can be on different grids. `weights` selects what W
// depends on: degree (W[i,o,l], a convolution), mode (W[i,o,m,l]) or shared (W[i,o]). The bias is
// constant on the sphere, so it is added to the coefficient of degree 0 and order 0.
//
// Labels, which state what an axis of the process grid splits or holds in x and y:
//
//   n      batch: no message
//   c      channels, except in the product, which is split by degrees (mode, shared: by orders)
//   h      rows, then orders, degrees in the product, orders, rows: four exchanges (mode, shared:
//          two, as the product is split by orders)
//   w      columns: as h, and the fields are exchanged for channels, or for rows if there are fewer
//          channels than processes
//   o, i   x replicated and y split by channels; x split and y a partial sum, without groups: no
//          message
//   l      x replicated, the product split by degrees, y a partial sum: no message
//   B R P  all replicated; on the root; partial sums
//
// declareSphericalConvolution() is declared in core/types.hpp.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/sphere/output_field.hpp"
#include "declaration/sphere/spherical_product.hpp"
#include "declaration/sphere/transform.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tenon {

namespace {

class SphericalConvolution final : public SphereDeclaration {
public:
  SphericalConvolution() : SphereDeclaration("sphericalconv", kSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkField(x, text("grid"), /*isAnalysed=*/true);
    checkInputChannels(*this, x);
    const Shape y = outputFieldOf(*this, x);
    checkField(y, gridOfOutput(), /*isAnalysed=*/false);
    return y;
  }

  // The properties of x, of weight and bias, and of y.
  SignatureTable rows(const std::vector<Shape>&) const override {
    const Property byDegree = isShared() ? kCopies : shardOf(isByMode() ? 3 : 2),
                   inProduct = isShared() ? kCopies : shardOf(2);
    SignatureTable table = {{"n", shardOf(0), {kCopies, kCopies}, shardOf(0)},
                            {"c", shardOf(1), {inProduct, kCopies}, shardOf(1)},
                            {"h", shardOf(kRowDim), {inProduct, kCopies}, shardOf(kRowDim)},
                            {"w", shardOf(kColumnDim), {inProduct, kCopies}, shardOf(kColumnDim)}};
    if (groups() == 1) {
      table.push_back({"o", kCopies, {shardOf(1), shardOf(0)}, shardOf(1)});
      table.push_back({"i", shardOf(1), {shardOf(0), kOnRoot}, kSums});
    }
    table.push_back({"l", kCopies, {byDegree, kCopies}, kSums});
    table.push_back({"B", kCopies, {kCopies, kCopies}, kCopies});
    table.push_back({"R", kOnRoot, {kOnRoot, kOnRoot}, kOnRoot});
    table.push_back({"P", kSums, {kCopies, kOnRoot}, kSums});
    if (!flag("bias"))
      for (SignatureRow& row : table)
        row.parameters.pop_back();
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    Shape weight = {shapeOfGroups().inputs, integer("out_channels")};
    if (isByMode())
      weight.push_back(orders());
    if (!isShared())
      weight.push_back(degrees());
    weight.push_back(2);
    std::vector<CutSource> cuts(weight.size());
    cuts[0] = {&use, 1};
    form.parameters.push_back(
        {.name = "weight",
         .use = makeLayout(weight, use.gridPtr(), form.signature.parameter(0), cuts),
         .fanIn = weight[0],
         .fanOut = shapeOfGroups().outputs});
    form.output = makeLayout(shape, use.gridPtr(), form.signature.output(),
                             {{&use, 0}, channelCuts(form), {&use, 2}, {&use, 3}});
    if (flag("bias"))
      form.parameters.push_back(
          {.name = "bias",
           .use = makeLayout({shape[1]}, use.gridPtr(), form.signature.parameter(1),
                             {{&form.output, 1}})});
    return form;
  }

  MapList maps(const Form& form, const Layouts& storage) const override {
    const Stages at = stagesOf(form);
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    KernelEntry product{.name = "product", .savesInputs = true, .gradients = Gradients::Separate};
    addParameterSources(list, form, storage, product);
    const bool isExchanged = !haveSameMemory(form.uses.front(), at.field);
    const ValueId u = addUse(list, x, "u", form.uses.front(), /*anyStrides=*/isExchanged);
    const ValueId X = list.value("X", at.circles), c = list.value("c", at.coefficients),
                  d = list.value("d", at.products), Y = list.value("Y", at.outMeridians);
    list.run({.name = "fourier"}, {convertedTo(list, "f", u, at.field)}, X);
    list.run({.name = "legendre"}, {convertedTo(list, "X'", X, at.meridians)}, c);
    list.run(std::move(product), {convertedTo(list, "c'", c, at.multiplied)}, d);
    list.run({.name = "synthesis"}, {convertedTo(list, "d'", d, at.outCoefficients)}, Y);
    const ValueId read = convertedTo(list, "Y'", Y, at.outCircles);
    if (haveSameMemory(at.outField, form.output)) {
      const ValueId y = list.stagedOutput();
      list.run({.name = "inverse"}, {read}, y);
      list.unstage(y);
    } else {
      const ValueId f = list.value("f'", at.outField);
      list.run({.name = "inverse"}, {read}, f);
      list.apply(OperatorKind::Conversion, f, list.output());
    }
    return list;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    if (at.name() != "product")
      return SphereDeclaration::makeKernel(at);
    const Box from = at.reads().boxOfRank(at.rank), to = at.writes().boxOfRank(at.rank);
    return makeSphericalProduct(at, productOf(from, to));
  }
  Work work(const Form& form, int position) const override {
    const Stages at = stagesOf(form);
    const double analysis = flopsOf(tableOf(false, at.field.shape(), text("grid")), at.field,
                                    at.meridians, at.coefficients, position),
                 synthesis = flopsOf(tableOf(true, at.outField.shape(), gridOfOutput()),
                                     at.outField, at.outMeridians, at.outCoefficients, position);
    const double product =
        productOf(at.multiplied.box(position), at.products.box(position)).shape.flops();
    return {.forward = analysis + product + synthesis,
            .adjoint = analysis + product,
            .adjointParameters = synthesis + product};
  }
  std::string summary() const override {
    return fmt::format("{} -> {} channels, {}, weights by {}", integer("in_channels"),
                       integer("out_channels"), truncation(), text("weights"));
  }
  Example example(ExampleDraw& draw) const override {
    const Index rows = draw.between(3, 8), columns = draw.between(4, 10),
                degrees = draw.between(1, rows - 1), groups = draw.between(1, 2),
                inputs = groups * draw.between(1, 2);
    return {{{"in_channels", inputs},
             {"out_channels", groups * draw.between(1, 2)},
             {"groups", groups},
             {"degrees", degrees},
             {"orders", draw.between(1, std::min(degrees, columns / 2 + 1))},
             {"grid", std::string(draw.of({"gauss", "poles", "cells"}))},
             {"norm", std::string(draw.of({"ortho", "schmidt"}))},
             {"weights", std::string(draw.of({"degree", "mode", "shared"}))},
             {"bias", draw.chance(60)}},
            {{draw.between(1, 3), inputs, rows, columns}}};
  }

private:
  static constexpr auto kSettings = sphereSettings(std::array<OptionSpec, 8>{
      {{"in_channels", OptionSpec::Int, nullptr, "number of input channels", nullptr, atLeast(1)},
       {"out_channels", OptionSpec::Int, nullptr, "number of output channels", nullptr, atLeast(1)},
       {"weights", OptionSpec::Choice, "degree",
        "what the weights depend on besides the channels: degree (a convolution), mode (degree and "
        "order), or shared (neither)",
        "degree|mode|shared"},
       {"groups", OptionSpec::Int, "1", "groups of channels, each with weights of its own", nullptr,
        atLeast(1)},
       {"separable", OptionSpec::Flag, "false",
        "whether each channel is a group of its own; in_channels and out_channels are then equal"},
       {"bias", OptionSpec::Flag, "true", "whether to add a bias for each output channel"},
       kOutputGridSetting,
       kOutputFieldSetting}});

  // The arrays of the maps, in order; the fields have whole circles.
  struct Stages {
    Layout field, circles, meridians, coefficients, multiplied, products, outCoefficients,
        outMeridians, outCircles, outField;
  };

  bool isByMode() const { return text("weights") == "mode"; }
  bool isShared() const { return text("weights") == "shared"; }
  Index groups() const { return flag("separable") ? integer("in_channels") : integer("groups"); }
  // The channels of one group.
  DegreeProductShape shapeOfGroups() const {
    return {.batch = 0,
            .inputs = integer("in_channels") / groups(),
            .outputs = integer("out_channels") / groups(),
            .groups = groups(),
            .orders = orders()};
  }
  std::string gridOfOutput() const override { return outputGridOf(*this); }
  // Output channels have the split points of the weights if an axis splits those by them, else
  // those of the input.
  CutSource channelCuts(const Form& form) const {
    const Layout& weight = form.parameters.front().use;
    return weight.parts(1) > 1 ? CutSource{&weight, 1} : CutSource{&form.uses.front(), 1};
  }

  void check() const override {
    const bool isChecked = !flag("separable") || isSet("in_channels");
    checkOutputSettings(*this, isChecked ? groups() : 1);
  }

  SphericalProduct productOf(const Box& from, const Box& to) const {
    SphericalProduct product{.shape = shapeOfGroups()};
    DegreeProductShape& shape = product.shape;
    shape.batch = from[0].size();
    if (shape.groups == 1) {
      shape.inputs = from[1].size();
      shape.outputs = to[1].size();
    }
    shape.place = from[kOrderDim].begin;
    shape.places = from[kOrderDim].size();
    shape.degree = from[kDegreeDim].begin;
    shape.degrees = from[kDegreeDim].size();
    product.isByMode = isByMode();
    product.isShared = isShared();
    // P_00 / f is the value of a field with the coefficient 1.
    const SphereTable table{.rows = 1,
                            .columns = 1,
                            .degrees = 1,
                            .orders = 1,
                            .isSynthesis = true,
                            .isSchmidt = text("norm") == "schmidt"};
    product.constant = std::sqrt(4 * std::numbers::pi) / table.factor(0, 0);
    product.hasConstant =
        shape.place == 0 && shape.places > 0 && shape.degree == 0 && shape.degrees > 0;
    return product;
  }

  // The property of one axis in each stage, from its properties in x and in y; `byChannels` is
  // whether an axis that splits columns splits channels instead.
  struct Axis {
    Property field, coefficients, product, productOut, outField;
  };
  Axis axisOf(Property x, Property y, bool byChannels, bool outByChannels) const {
    const Property inProduct =
        text("weights") == "degree" ? shardOf(kDegreeDim) : shardOf(kOrderDim);
    if (x == shardOf(1) && y == shardOf(1))
      return {x, x, inProduct, inProduct, y};
    if (x == shardOf(kRowDim) && y == x)
      return {x, shardOf(kOrderDim), inProduct, inProduct, y};
    if (x == shardOf(kColumnDim) && y == x)
      return {byChannels ? shardOf(1) : shardOf(kRowDim), shardOf(kOrderDim), inProduct, inProduct,
              outByChannels ? shardOf(1) : shardOf(kRowDim)};
    if (x.isBroadcast() && y.isPartial())
      return {x, x, shardOf(kDegreeDim), shardOf(kDegreeDim), y};
    return {x, x, x, y, y};
  }

  // The properties of each stage that differ: the first four as in Stages, from the input on, and
  // the others of the output.
  struct StageProperties {
    Properties field, meridians, coefficients, multiplied, products, outCoefficients, outMeridians,
        outField;
  };
  StageProperties propertiesOf(const Layout& use, const Layout& out) const {
    StageProperties p;
    Index parts = channelParts(use), outParts = channelParts(out);
    for (int axis = 0; axis < use.grid().axes(); ++axis) {
      const int extent = use.grid().extent(axis);
      const bool splitsColumns =
          use.property(axis) == shardOf(kColumnDim) && out.property(axis) == shardOf(kColumnDim);
      const bool byChannels = splitsColumns && parts * extent <= use.shape()[1],
                 outByChannels = splitsColumns && outParts * extent <= out.shape()[1];
      parts *= byChannels ? extent : 1;
      outParts *= outByChannels ? extent : 1;
      const Axis a = axisOf(use.property(axis), out.property(axis), byChannels, outByChannels);
      const bool byOrders = a.coefficients == shardOf(kOrderDim);
      p.field.push_back(a.field);
      p.meridians.push_back(byOrders ? shardOf(kCircleOrderDim) : a.field);
      p.coefficients.push_back(a.coefficients);
      p.multiplied.push_back(a.product);
      p.products.push_back(a.productOut);
      p.outCoefficients.push_back(byOrders               ? shardOf(kOrderDim)
                                  : a.outField.isShard() ? a.outField
                                                         : a.productOut);
      p.outMeridians.push_back(byOrders ? shardOf(kCircleOrderDim) : a.outField);
      p.outField.push_back(a.outField);
    }
    return p;
  }

  Stages stagesOf(const Form& form) const {
    const Layout &use = form.uses.front(), &out = form.output,
                 &weight = form.parameters.front().use;
    const StageProperties p = propertiesOf(use, out);
    const Shape &x = use.shape(), &y = out.shape();
    const Shape circles = {x[0], x[1], x[2], orders(), 2}, c = {x[0], x[1], orders(), degrees(), 2},
                d = {y[0], y[1], orders(), degrees(), 2},
                outCircles = {y[0], y[1], y[2], orders(), 2};
    // Split points of rows and columns are those of the fields, of degrees and orders in the
    // product those of the weights.
    const CutSource balanced,
        byDegree = isShared() ? balanced : CutSource{&weight, weight.ndim() - 2},
        byOrder = isByMode() ? CutSource{&weight, 2} : balanced;
    const std::vector<CutSource> ofField = {{&use, 0}, {&use, 1}, {&use, 2}, {&use, 3}},
                                 ofCircles = {{&use, 0}, {&use, 1}, {&use, 2}, balanced, balanced},
                                 inProduct = {{&use, 0}, {&use, 1}, byOrder, byDegree, balanced},
                                 outProduct = {{&out, 0}, {&out, 1}, byOrder, byDegree, balanced},
                                 ofOutField = {{&out, 0}, {&out, 1}, {&out, 2}, {&out, 3}},
                                 ofOutCircles = {
                                     {&out, 0}, {&out, 1}, {&out, 2}, balanced, balanced};
    return {.field = makeLayout(x, use.gridPtr(), p.field, ofField),
            .circles = makeLayout(circles, use.gridPtr(), p.field, ofCircles),
            .meridians = makeLayout(circles, use.gridPtr(), p.meridians, ofCircles),
            .coefficients = makeLayout(c, use.gridPtr(), p.coefficients,
                                       {{&use, 0}, {&use, 1}, balanced, balanced, balanced}),
            .multiplied = makeLayout(c, use.gridPtr(), p.multiplied, inProduct),
            .products = makeLayout(d, use.gridPtr(), p.products, outProduct),
            .outCoefficients = makeLayout(d, use.gridPtr(), p.outCoefficients,
                                          {{&out, 0}, {&out, 1}, balanced, byDegree, balanced}),
            .outMeridians = makeLayout(outCircles, use.gridPtr(), p.outMeridians, ofOutCircles),
            .outCircles = makeLayout(outCircles, use.gridPtr(), p.outField, ofOutCircles),
            .outField = makeLayout(y, use.gridPtr(), p.outField, ofOutField)};
  }
  static Index channelParts(const Layout& layout) {
    Index parts = 1;
    for (int axis = 0; axis < layout.grid().axes(); ++axis)
      if (layout.property(axis) == shardOf(1))
        parts *= layout.grid().extent(axis);
    return parts;
  }
};

} // namespace

std::unique_ptr<Declaration> declareSphericalConvolution() {
  return std::make_unique<SphericalConvolution>();
}

} // namespace tenon
