// SPDX-License-Identifier: BSD-2-Clause
// Declares the spectral convolution of Fourier neural operators, for real fields in 1 to 3
// dimensions: a Fourier transform F to the lowest modes k, a complex product over channels for each
// mode, and the inverse transform,
//
//   X[n,i,k] = F x[n,i],   Y[n,o,k] = sum over i of X[n,i,k] W[i,o,k],   y[n,o] = F^-1 Y[n,o].
//
// Labels, which state what an axis of the process grid splits or holds: n (batch), o (output
// channels), i (input channels; y is then a partial sum), d/h/w (space), B (all replicated), R (all
// on the root of the axis), P (x and y are partial sums).
//
// If space is split, the steps of maps() are, with kernels in layer/types/spectral.cpp:
//
//   X    analysis: this rank's contribution to all coefficients, from its part of the field
//   X'   the sums, one block of modes per rank (a reduce-scatter)
//   Y    this rank's block of modes times the weights
//   Y'   all modes on each rank (an all-gather)
//   y    synthesis: this rank's part of the field
//
// Only coefficients are communicated, never the field. Coefficients have the shape [batch,
// channels, modes..., 2], with real and imaginary part last. Without a split of space, X' is X and
// Y' is Y.
#include "declaration/types/spectral.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSpectralSettings[] = {
    {"in_channels", OptionSpec::Int, nullptr, "number of input channels", nullptr, atLeast(1)},
    {"out_channels", OptionSpec::Int, nullptr, "number of output channels", nullptr, atLeast(1)},
    {"modes", OptionSpec::Ints, nullptr,
     "Fourier modes kept in each spatial dimension: the lowest, of both signs except in the last",
     nullptr, atLeast(1)},
};

// The properties of coefficients: those of the field, with `space` on axes that split it in space.
Properties coefficientProperties(Properties properties, Property space) {
  for (Property& p : properties)
    if (p.isShard() && p.dim >= kFirstSpatial)
      p = space;
  return properties;
}

class SpectralConvolution final : public Declaration {
public:
  SpectralConvolution() : Declaration("spectralconv", kSpectralSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    spatialRankOf(x, title());
    const auto modes = value<std::vector<Index>>("modes");
    if (x.size() != kFirstSpatial + modes.size() || x[1] != integer("in_channels"))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1},...] with {3} "
                              "spatial dimensions, one for each number of modes",
                              title(), integer("in_channels"), fmt::join(x, ","), modes.size()));
    for (std::size_t d = 0; d < modes.size(); ++d) {
      const Index extent = x[kFirstSpatial + d];
      const bool isLast = d + 1 == modes.size();
      // In the last dimension a real field needs coefficients of one sign only, up to the middle
      // one. In the others both signs are used, which must not overlap.
      const Index maxModes = extent / 2 + (isLast && extent > 0 ? 1 : 0);
      if (modes[d] > maxModes)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} keeps {} in spatial dimension {}, but an extent of {} has at "
                                "most {}; set modes to fewer, or give a finer field",
                                title(), counted(modes[d], "mode"), d, extent, maxModes));
    }
    Shape shape = x;
    shape[1] = integer("out_channels");
    return shape;
  }

  // One row per label: the properties of x, of the weights [in, out, modes..., 2], and of y.
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const auto S = [](int d) { return Property::shard(d); };
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    SignatureTable table = {{"n", S(0), {B}, S(0)}, {"o", B, {S(1)}, S(1)}, {"i", S(1), {S(0)}, P}};
    const int spatial = spatialRankOf(inputs.front(), title());
    for (int s = 0; s < spatial; ++s) {
      const Property space = S(s + kFirstSpatial);
      table.push_back({spatialLabel(s, spatial), space, {space}, space});
    }
    table.push_back({"B", B, {B}, B});
    table.push_back({"R", R, {R}, R});
    table.push_back({"P", P, {B}, P});
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout& input = inputs.front();
    const Shape shape = outputShape({input.shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    const GridPtr grid = use.gridPtr();
    const Layout modes = modeLayout(use);
    std::vector<CutSource> cuts = {{&use, 1}, {}};
    for (int d = kFirstSpatial; d < modes.rank(); ++d)
      cuts.push_back({&modes, d});
    Shape weight = modes.shape();
    weight[0] = integer("in_channels");
    weight[1] = integer("out_channels");
    form.parameters.push_back({.name = "weight",
                               .use = makeLayout(weight, grid, form.signature.parameter(0), cuts),
                               .fanIn = weight[0],
                               .fanOut = weight[1]});
    cuts = {{&use, 0}, {&form.parameters.front().use, 1}};
    for (int d = kFirstSpatial; d < use.rank(); ++d)
      cuts.push_back({&use, d});
    form.output = makeLayout(shape, grid, form.signature.output(), cuts);
    return form;
  }

  MapList maps(const Form& form, const Layouts& storage) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const Property P = Property::partial(), B = Property::broadcast();
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    const ParameterForm& weight = form.parameters.front();
    KernelEntry product{.name = "modes", .savesInputs = true, .gradients = Gradients::Separate};
    if (!haveSameMemory(storage.front(), weight.use))
      product.sources.push_back(list.source(
          {.name = weight.name, .use = weight.use, .parameter = 0, .storage = storage.front()}));
    const ValueId u =
        haveSameMemory(form.inputs.front(), use) ? list.staged(x) : list.convert("u", x, use);
    const Layout modes = modeLayout(use);
    const auto converted = [&](const char* name, ValueId v, const Layout& to) {
      return haveSameMemory(list.values()[v].layout, to) ? v : list.convert(name, v, to);
    };
    const ValueId contributions =
        list.value("X", withSpace(modes, coefficientProperties(use.properties(), P)));
    list.run({.name = "analysis"}, {u}, contributions);
    const ValueId X = converted("X'", contributions, modes);
    const Layout products = productLayout(modes, form);
    const ValueId Y = list.value("Y", products);
    list.run(std::move(product), {X}, Y);
    const ValueId replicated =
        converted("Y'", Y, withSpace(products, coefficientProperties(form.output.properties(), B)));
    const ValueId y = list.stagedOutput();
    list.run({.name = "synthesis"}, {replicated}, y);
    list.unstage(y);
    return list;
  }

  // The transform of the output's cotangent is counted with the weight gradient, which needs it
  // too.
  Work work(const Form& form, int position) const override {
    const Layout modes = modeLayout(form.uses.front()), products = productLayout(modes, form);
    const auto flops = [&](const Layout& field, const Layout& coefficients, Property space) {
      const Properties properties = coefficientProperties(field.properties(), space);
      return fourierFlops(field.box(position), withSpace(coefficients, properties).box(position));
    };
    const double analysis = flops(form.uses.front(), modes, Property::partial()),
                 synthesis = flops(form.output, products, Property::broadcast()),
                 productFlops = modeFlops(modes.box(position), products.box(position)[1].size());
    return {.forward = analysis + productFlops + synthesis,
            .adjoint = analysis + productFlops,
            .adjointParameters = synthesis + productFlops};
  }

  std::string summary() const override {
    return fmt::format("{} -> {} channels, modes {}", integer("in_channels"),
                       integer("out_channels"), fmt::join(value<std::vector<Index>>("modes"), "x"));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    std::vector<Index> modes;
    Shape field = shape;
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d) {
      field[d] = shape[d] + 1;
      modes.push_back(draw.between(1, d + 1 == shape.size() ? field[d] / 2 + 1 : field[d] / 2));
    }
    return {{{"in_channels", shape[1]}, {"out_channels", draw.between(1, 4)}, {"modes", modes}},
            {field}};
  }

private:
  // The layout of coefficients [batch, in, modes..., 2], with modes split where the field is split
  // in space.
  Layout modeLayout(const Layout& use) const {
    Shape shape = {use.shape()[0], use.shape()[1]};
    const auto modes = value<std::vector<Index>>("modes");
    for (std::size_t d = 0; d < modes.size(); ++d)
      shape.push_back(d + 1 == modes.size() ? modes[d] : 2 * modes[d]);
    shape.push_back(2);
    std::vector<CutSource> cuts(shape.size());
    cuts[0] = {&use, 0};
    cuts[1] = {&use, 1};
    return makeLayout(shape, use.gridPtr(), use.properties(), cuts);
  }
  // The layout of the products [batch, out, modes..., 2], with the split points of the weights.
  Layout productLayout(const Layout& modes, const Form& form) const {
    Shape shape = modes.shape();
    shape[1] = integer("out_channels");
    std::vector<CutSource> cuts = {{&modes, 0}, {&form.parameters.front().use, 1}};
    for (int d = kFirstSpatial; d < modes.rank(); ++d)
      cuts.push_back({&modes, d});
    return makeLayout(shape, modes.gridPtr(), form.signature.output(), cuts);
  }
  // The same coefficients with other properties on some axes.
  static Layout withSpace(const Layout& modes, const Properties& properties) {
    return makeLayoutLike(modes, modes.gridPtr(), properties);
  }
};

} // namespace

double fourierFlops(const Box& field, const Box& coefficients) {
  if (elements(field) == 0)
    return 0;
  const std::size_t last = field.size() - 1;
  double rows = 1, inner = static_cast<double>(coefficients[last].size());
  for (std::size_t d = 0; d < last; ++d)
    rows *= static_cast<double>(field[d].size());
  // The last dimension is transformed from real to complex numbers, the others from complex to
  // complex, each after the truncation of the one before, which makes later transforms cheaper.
  double flops = 4 * rows * static_cast<double>(field[last].size()) * inner;
  for (std::size_t d = last; d-- > kFirstSpatial;) {
    const auto modes = static_cast<double>(coefficients[d].size());
    flops += 8 * rows * modes * inner;
    rows /= static_cast<double>(field[d].size());
    inner *= modes;
  }
  return flops;
}

double modeFlops(const Box& coefficients, Index outputs) {
  return 4.0 * static_cast<double>(elements(coefficients)) * static_cast<double>(outputs);
}

std::unique_ptr<Declaration> declareSpectralConvolution() {
  return std::make_unique<SpectralConvolution>();
}

} // namespace tenon
