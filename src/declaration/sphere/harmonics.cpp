// SPDX-License-Identifier: BSD-2-Clause
// Declares the spherical harmonic transform `sht`, from fields [batch, channel, rows, columns] to
// coefficients c [batch, channel, orders, degrees, 2], and its inverse `inversesht`
// (core/types.hpp declares both functions):
//
//   c[m,l] = integral of x Y*_lm over the sphere,   y = sum over l and m of c[m,l] Y_lm
//
// for a real field, so orders m < 0 follow from those with m > 0 and are not stored.
//
// Labels of sht, which state what an axis of the process grid splits or holds in x and in c:
//
//   n, c   batch; channels: no message
//   h      rows, then orders: one exchange of the coefficients X of the circles
//   w      columns, then orders: x is exchanged for channels, or for rows if there are fewer
//          channels than processes, and then X
//   hp wp  rows; columns: c is a partial sum, and no message
//   m, l   x is replicated, and c split by orders; by degrees
//   B R P  all replicated; on the root; partial sums
//
// and of inversesht: n, c; m (orders, then rows); l (degrees, then rows); mp, lp (orders; degrees,
// and y is a partial sum); h, w (c replicated, y split by rows; by columns); B, R, P.
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

class HarmonicTransform final : public SphereDeclaration {
public:
  HarmonicTransform() : SphereDeclaration("sht", kSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkField(x, text("grid"), /*isAnalysed=*/true);
    return {x[0], x[1], orders(), degrees(), 2};
  }
  SignatureTable rows(const std::vector<Shape>&) const override {
    return {{"n", shardOf(0), {}, shardOf(0)},
            {"c", shardOf(1), {}, shardOf(1)},
            {"h", shardOf(kRowDim), {}, shardOf(kOrderDim)},
            {"w", shardOf(kColumnDim), {}, shardOf(kOrderDim)},
            {"hp", shardOf(kRowDim), {}, kSums},
            {"wp", shardOf(kColumnDim), {}, kSums},
            {"m", kCopies, {}, shardOf(kOrderDim)},
            {"l", kCopies, {}, shardOf(kDegreeDim)},
            {"B", kCopies, {}, kCopies},
            {"R", kOnRoot, {}, kOnRoot},
            {"P", kSums, {}, kSums}};
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
    const ValueId X = list.value("X", at.circles), c = list.stagedOutput();
    list.run({.name = "fourier"}, {convertedTo(list, "f", u, at.field)}, X);
    list.run({.name = "legendre"}, {convertedTo(list, "X'", X, at.meridians)}, c);
    list.unstage(c);
    return list;
  }
  Work work(const Form& form, int position) const override {
    const Stages at = stagesOf(form);
    const double flops = flopsOf(tableOf(false, at.field.shape(), text("grid")), at.field,
                                 at.meridians, form.output, position);
    return {.forward = flops, .adjoint = flops};
  }
  std::string summary() const override { return truncation(); }
  Example example(ExampleDraw& draw) const override {
    const Index rows = draw.between(3, 9), columns = draw.between(4, 12),
                degrees = draw.between(1, rows - 1);
    return {{{"degrees", degrees},
             {"orders", draw.between(1, std::min(degrees, columns / 2 + 1))},
             {"grid", std::string(draw.of({"gauss", "poles", "cells"}))},
             {"quadrature", std::string(draw.of({"automatic", "plain"}))},
             {"norm", std::string(draw.of({"ortho", "schmidt"}))},
             {"sign", draw.chance(70)},
             {"first_row", std::string(draw.of({"north", "south"}))}},
            {{draw.between(1, 3), draw.between(1, 4), rows, columns}}};
  }

private:
  static constexpr auto kSettings = sphereSettings(std::array<OptionSpec, 0>{});

  // The field with whole circles, and the coefficients of circles as the first kernel writes and
  // the second one reads them.
  struct Stages {
    Layout field, circles, meridians;
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
    Properties properties = circles.properties();
    for (int axis = 0; axis < use.grid().axes(); ++axis)
      if (output.property(axis) == shardOf(kOrderDim))
        properties[axis] = shardOf(kCircleOrderDim);
    const Layout meridians =
        makeLayout(shape, use.gridPtr(), properties,
                   {{&use, 0}, {&use, 1}, {&use, 2}, {&output, kOrderDim}, {}});
    return {field, circles, meridians};
  }
};

class InverseHarmonicTransform final : public SphereDeclaration {
public:
  InverseHarmonicTransform() : SphereDeclaration("inversesht", kSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& c = inputs.front();
    checkCoefficients(c);
    const auto size = value<std::vector<Index>>("size");
    Shape field = {c[0], c[1]};
    field.insert(field.end(), size.begin(), size.end());
    checkField(field, text("grid"), /*isAnalysed=*/false);
    return field;
  }
  SignatureTable rows(const std::vector<Shape>&) const override {
    return {{"n", shardOf(0), {}, shardOf(0)},
            {"c", shardOf(1), {}, shardOf(1)},
            {"m", shardOf(kOrderDim), {}, shardOf(kRowDim)},
            {"l", shardOf(kDegreeDim), {}, shardOf(kRowDim)},
            {"mp", shardOf(kOrderDim), {}, kSums},
            {"lp", shardOf(kDegreeDim), {}, kSums},
            {"h", kCopies, {}, shardOf(kRowDim)},
            {"w", kCopies, {}, shardOf(kColumnDim)},
            {"B", kCopies, {}, kCopies},
            {"R", kOnRoot, {}, kOnRoot},
            {"P", kSums, {}, kSums}};
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
    const ValueId u = addUse(list, c, "u", form.uses.front(), /*anyStrides=*/false);
    const ValueId Y = list.value("Y", at.meridians), y = list.stagedOutput();
    list.run({.name = "synthesis"}, {u}, Y);
    list.run({.name = "inverse"}, {convertedTo(list, "Y'", Y, at.circles)}, y);
    list.unstage(y);
    return list;
  }
  Work work(const Form& form, int position) const override {
    const double flops = flopsOf(tableOf(true, form.output.shape(), text("grid")), form.output,
                                 stagesOf(form).meridians, form.uses.front(), position);
    return {.forward = flops, .adjoint = flops};
  }
  std::string summary() const override { return truncation(); }
  Example example(ExampleDraw& draw) const override {
    const Index rows = draw.between(3, 9), columns = draw.between(4, 12),
                degrees = draw.between(1, rows),
                orders = draw.between(1, std::min(degrees, columns / 2 + 1));
    return {{{"degrees", degrees},
             {"orders", orders},
             {"size", std::vector<Index>{rows, columns}},
             {"grid", std::string(draw.of({"gauss", "poles", "cells"}))},
             {"norm", std::string(draw.of({"ortho", "schmidt"}))},
             {"sign", draw.chance(70)},
             {"first_row", std::string(draw.of({"north", "south"}))}},
            {{draw.between(1, 3), draw.between(1, 4), orders, degrees, 2}}};
  }

private:
  static constexpr auto kSettings = sphereSettings(
      std::array<OptionSpec, 1>{{{"size", OptionSpec::Ints, nullptr,
                                  "rows and columns of the output", nullptr, atLeast(1)}}});

  void check() const override {
    if (!settings().isSet("size"))
      return;
    if (const auto size = value<std::vector<Index>>("size"); size.size() != 2)
      throw Error(TENON_ERR_ARG,
                  fmt::format("size of {} has {}; set the rows and columns of its output", title(),
                              counted(Index(size.size()), "number")));
  }

  // Coefficients of circles as the first kernel writes and the second one reads them.
  struct Stages {
    Layout meridians, circles;
  };
  Stages stagesOf(const Form& form) const {
    const Layout &use = form.uses.front(), &output = form.output;
    const Shape shape = {use.shape()[0], use.shape()[1], output.shape()[2], orders(), 2};
    Properties written = use.properties(), read = output.properties();
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
        {&use, 0}, {&use, 1}, {&output, kRowDim}, {&use, kOrderDim}, {}};
    return {makeLayout(shape, use.gridPtr(), written, cuts),
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
