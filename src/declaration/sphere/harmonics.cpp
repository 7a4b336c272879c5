// SPDX-License-Identifier: BSD-2-Clause
// Declares the spherical harmonic transform `sht`, from fields [batch, channel, rows, columns] to
// coefficients c [batch, channel, orders, degrees, 2], and its inverse `inversesht`
// (core/types.hpp declares both functions):
//
//   c[m,l] = integral of x Y*_lm over the sphere,   y = sum over l and m of c[m,l] Y_lm
//
// for a real field, so orders m < 0 follow from those with m > 0 and are not stored.
//
// Channels of `vectors` are the components of vector fields, whose coefficients are those of two
// scalars (kernels/sphere/legendre.hpp).
//
// Labels of sht, which state what an axis of the process grid splits or holds in x and in c:
//
//   n, c   batch; channels: no message. With vectors, the sums over rows need both components of
//          each, so an axis that splits channels splits orders there
//   h      rows, then orders: one exchange of the coefficients X of the circles
//   w      columns, then orders: x is exchanged for channels, or for rows if there are fewer
//          channels than processes, and then X
//   hp wp  rows; columns: c is a partial sum, and no message
//   m, l   x is replicated, and c split by orders; by degrees
//   B R P  all replicated; on the root; partial sums
//
// Those of inversesht are the same with the dimensions of both exchanged: n, c; m (orders, then
// rows); l (degrees, then rows); mp, lp (orders; degrees, and y is a partial sum); h, w (c
// replicated, y split by rows; by columns); B, R, P.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/sphere/transform.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The field in which the circles are transformed: its columns are whole, except on axes whose
// output holds partial sums. An axis that splits columns splits channels, if there are enough for
// all processes, else rows.
Properties wholeCircles(const Layout& use, const Properties& output) {
  Properties properties = use.properties();
  Index parts = 1;
  for (int axis = 0; axis < use.grid().axes(); ++axis)
    if (properties[axis] == shardOf(kChannelDim))
      parts *= use.grid().extent(axis);
  for (int axis = 0; axis < use.grid().axes(); ++axis)
    if (properties[axis] == shardOf(kColumnDim) && !output[axis].isPartial()) {
      parts *= use.grid().extent(axis);
      properties[axis] =
          parts <= use.shape()[kChannelDim] ? shardOf(kChannelDim) : shardOf(kRowDim);
    }
  return properties;
}

// What both directions have in common.
class Transform : public SphereDeclaration {
public:
  using SphereDeclaration::SphereDeclaration;
  std::string summary() const override { return truncation(); }

protected:
  // Dimensions 2 and 3 of the input and of the output are named by labels.
  struct Labels {
    std::string input[2], output[2];
  };
  static SignatureTable rowsOf(const Labels& labels) {
    return {{"n", shardOf(0), {}, shardOf(0)},
            {"c", shardOf(1), {}, shardOf(1)},
            {labels.input[0], shardOf(2), {}, shardOf(2)},
            {labels.input[1], shardOf(3), {}, shardOf(2)},
            {labels.input[0] + "p", shardOf(2), {}, kSums},
            {labels.input[1] + "p", shardOf(3), {}, kSums},
            {labels.output[0], kCopies, {}, shardOf(2)},
            {labels.output[1], kCopies, {}, shardOf(3)},
            {"B", kCopies, {}, kCopies},
            {"R", kOnRoot, {}, kOnRoot},
            {"P", kSums, {}, kSums}};
  }
  // The coefficients as the sums over rows or degrees have them: the same, except that an axis that
  // splits channels splits orders if there are vectors.
  Layout inSums(const Layout& coefficients) const {
    if (vectors(coefficients.shape()[kChannelDim]).empty())
      return coefficients;
    return makeLayout(
        coefficients.shape(), coefficients.gridPtr(),
        replaced(coefficients.properties(), shardOf(kChannelDim), shardOf(kOrderDim)),
        {{&coefficients, 0}, {&coefficients, 1}, {&coefficients, 2}, {&coefficients, 3}, {}});
  }
  // Settings for a test, and shapes of a field and its coefficients.
  static Example exampleOf(ExampleDraw& draw, Shape& field, Shape& coefficients) {
    field = {draw.between(1, 3), draw.between(1, 4), draw.between(3, 9), draw.between(4, 12)};
    const Index degrees = draw.between(1, field[2] - 1),
                orders = draw.between(1, std::min(degrees, field[3] / 2 + 1));
    coefficients = {field[0], field[1], orders, degrees, 2};
    Example example{{{"degrees", degrees},
                     {"orders", orders},
                     {"grid", std::string(draw.of({"gauss", "poles", "cells"}))},
                     {"quadrature", std::string(draw.of({"automatic", "plain"}))},
                     {"norm", std::string(draw.of({"ortho", "schmidt"}))},
                     {"sign", draw.chance(70)},
                     {"first_row", std::string(draw.of({"north", "south"}))}},
                    {}};
    if (field[1] > 1 && draw.chance(50)) {
      example.settings.emplace_back("vectors", std::vector<Index>{field[1] - 1, 0});
      example.settings.emplace_back("vector_output",
                                    std::string(draw.of({"potentials", "div_vort"})));
      example.settings.emplace_back("vector_direction", std::string(draw.of({"rows", "north"})));
      example.settings.emplace_back("radius", double(draw.between(1, 3)));
    }
    return example;
  }

  void check() const override {
    if (!(real("radius") > 0))
      throw Error(TENON_ERR_ARG,
                  fmt::format("radius of {} is {}; set one above 0", title(), real("radius")));
    if (!settings().has("size") || !settings().isSet("size"))
      return;
    if (const auto size = value<std::vector<Index>>("size"); size.size() != 2)
      throw Error(TENON_ERR_ARG,
                  fmt::format("size of {} has {}; set the rows and columns of its output", title(),
                              counted(Index(size.size()), "number")));
  }
};

class HarmonicTransform final : public Transform {
public:
  HarmonicTransform() : Transform("sht", kSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkField(x, text("grid"), /*isAnalysed=*/true);
    vectors(x[kChannelDim]); // for its checks
    return {x[0], x[1], orders(), degrees(), 2};
  }
  SignatureTable rows(const std::vector<Shape>&) const override {
    return rowsOf({{"h", "w"}, {"m", "l"}});
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    form.output = makeLayout(shape, use.gridPtr(), form.signature.output(),
                             {{&use, 0}, {&use, 1}, {}, {}, {}});
    return form;
  }
  MapList maps(const Form& form, const Layouts&) const override {
    const Stages at = stagesOf(form);
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.output("c", form.output);
    const bool isExchanged = !haveSameMemory(form.uses.front(), at.field);
    const ValueId u = addUse(list, x, "u", form.uses.front(), /*anyStrides=*/isExchanged);
    const ValueId X = list.value("X", at.circles);
    list.run({.name = "fourier"}, {convertedTo(list, "f", u, at.field)}, X);
    const ValueId read = convertedTo(list, "X'", X, at.meridians);
    if (haveSameMemory(at.coefficients, form.output)) {
      const ValueId c = list.stagedOutput();
      list.run({.name = "legendre"}, {read}, c);
      list.unstage(c);
    } else {
      const ValueId c = list.value("c'", at.coefficients);
      list.run({.name = "legendre"}, {read}, c);
      list.apply(OperatorKind::Conversion, c, list.output());
    }
    return list;
  }
  Work work(const Form& form, int position) const override {
    const Stages at = stagesOf(form);
    const double flops = flopsOf(tableOf(false, at.field.shape(), text("grid")), at.field,
                                 at.meridians, at.coefficients, position);
    return {.forward = flops, .adjoint = flops};
  }
  Example example(ExampleDraw& draw) const override {
    Shape field, coefficients;
    Example example = exampleOf(draw, field, coefficients);
    example.inputs = {field};
    return example;
  }

private:
  static constexpr auto kSettings =
      sphereSettings(std::array{kSphereVectors, kVectorOutput, kVectorDirection, kSphereRadius});

  // The field with whole circles, the coefficients of circles as the first kernel writes and the
  // second one reads them, and those of the sphere.
  struct Stages {
    Layout field, circles, meridians, coefficients;
  };
  Stages stagesOf(const Form& form) const {
    const Layout &use = form.uses.front(), &output = form.output;
    const Layout field =
        makeLayout(use.shape(), use.gridPtr(), wholeCircles(use, output.properties()),
                   {{&use, 0}, {&use, 1}, {&use, 2}, {&use, 3}});
    const Shape shape = {use.shape()[0], use.shape()[1], use.shape()[2], orders(), 2};
    const Layout circles =
        makeLayout(shape, use.gridPtr(), replaced(field.properties(), shardOf(kColumnDim), kSums),
                   {{&field, 0}, {&field, 1}, {&field, 2}, {}, {}});
    const Layout coefficients = inSums(output);
    Properties properties = circles.properties();
    for (int axis = 0; axis < use.grid().axes(); ++axis)
      if (coefficients.property(axis) == shardOf(kOrderDim))
        properties[axis] = shardOf(kCircleOrderDim);
    const Layout meridians =
        makeLayout(shape, use.gridPtr(), properties,
                   {{&use, 0}, {&use, 1}, {&use, 2}, {&coefficients, kOrderDim}, {}});
    return {field, circles, meridians, coefficients};
  }
};

class InverseHarmonicTransform final : public Transform {
public:
  InverseHarmonicTransform() : Transform("inversesht", kSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& c = inputs.front();
    checkCoefficients(c);
    vectors(c[kChannelDim]); // for its checks
    const auto size = value<std::vector<Index>>("size");
    Shape field = {c[0], c[1]};
    field.insert(field.end(), size.begin(), size.end());
    checkField(field, text("grid"), /*isAnalysed=*/false);
    return field;
  }
  SignatureTable rows(const std::vector<Shape>&) const override {
    return rowsOf({{"m", "l"}, {"h", "w"}});
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    form.output =
        makeLayout(shape, use.gridPtr(), form.signature.output(), {{&use, 0}, {&use, 1}, {}, {}});
    return form;
  }
  MapList maps(const Form& form, const Layouts&) const override {
    const Stages at = stagesOf(form);
    MapList list;
    const ValueId c = list.input("c", form.inputs.front());
    list.output("y", form.output);
    const bool isExchanged = !haveSameMemory(form.uses.front(), at.coefficients);
    const ValueId u = addUse(list, c, "u", form.uses.front(), /*anyStrides=*/isExchanged);
    const ValueId Y = list.value("Y", at.meridians), y = list.stagedOutput();
    list.run({.name = "synthesis"}, {convertedTo(list, "c'", u, at.coefficients)}, Y);
    list.run({.name = "inverse"}, {convertedTo(list, "Y'", Y, at.circles)}, y);
    list.unstage(y);
    return list;
  }
  Work work(const Form& form, int position) const override {
    const Stages at = stagesOf(form);
    const double flops = flopsOf(tableOf(true, form.output.shape(), text("grid")), form.output,
                                 at.meridians, at.coefficients, position);
    return {.forward = flops, .adjoint = flops};
  }
  Example example(ExampleDraw& draw) const override {
    Shape field, coefficients;
    Example example = exampleOf(draw, field, coefficients);
    example.settings.emplace_back("size", std::vector<Index>{field[2], field[3]});
    example.inputs = {coefficients};
    return example;
  }

private:
  static constexpr auto kSettings =
      sphereSettings(std::array{kSphereVectors, kVectorOutput, kVectorDirection, kSphereRadius,
                                OptionSpec{"size", OptionSpec::Ints, nullptr,
                                           "rows and columns of the output", nullptr, atLeast(1)}});

  // The coefficients of the sphere, and those of circles as the first kernel writes and the second
  // one reads them.
  struct Stages {
    Layout coefficients, meridians, circles;
  };
  Stages stagesOf(const Form& form) const {
    const Layout &use = form.uses.front(), &output = form.output;
    const Shape shape = {use.shape()[0], use.shape()[1], output.shape()[2], orders(), 2};
    const Layout coefficients = inSums(use);
    Properties written = coefficients.properties(), read = output.properties();
    for (int axis = 0; axis < use.grid().axes(); ++axis) {
      if (written[axis] == shardOf(kOrderDim))
        written[axis] = shardOf(kCircleOrderDim);
      else if (written[axis] == shardOf(kDegreeDim))
        written[axis] = kSums;
      else if (output.property(axis) == shardOf(kRowDim))
        written[axis] = shardOf(kRowDim);
      // The last kernel reads what it maps to the output without a message.
      if (output.property(axis) == shardOf(kColumnDim))
        read[axis] = kCopies;
      else if (output.property(axis).isPartial())
        read[axis] = written[axis];
    }
    const std::vector<CutSource> cuts = {
        {&use, 0}, {&use, 1}, {&output, kRowDim}, {&coefficients, kOrderDim}, {}};
    return {coefficients, makeLayout(shape, use.gridPtr(), written, cuts),
            makeLayout(shape, use.gridPtr(), read, cuts)};
  }
};

} // namespace

std::unique_ptr<Declaration> declareHarmonicTransform() {
  return std::make_unique<HarmonicTransform>();
}

std::unique_ptr<Declaration> declareInverseHarmonicTransform() {
  return std::make_unique<InverseHarmonicTransform>();
}

} // namespace tenon
