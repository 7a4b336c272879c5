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
// If space is split, the steps of maps() are:
//
//   X    analysis: this rank's contribution to all coefficients, from its part of the field
//   X'   the sums, one block of modes per rank (a reduce-scatter)
//   Y    this rank's block of modes times the weights
//   Y'   all modes on each rank (an all-gather)
//   y    synthesis: this rank's part of the field
//
// Only coefficients are communicated, never the field. Coefficients have the shape [batch,
// channels, modes..., 2], with real and imaginary part last. Without a split of space, X' is X and
// Y' is Y. declareSpectralConvolution() is declared in core/types.hpp.
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/fourier/fourier.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"
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

// Operation counts on one rank, from which plans predict the time: of the transform of a box [rows,
// rows, space...] of a field to a box [.., modes..., 2] of coefficients, and of the products of
// [batch, in, modes..., 2] and [in, out, modes..., 2]. Transforms are counted as matrix products,
// also if an FFT computes them.
double fourierFlops(const Box& field, const Box& coefficients) {
  if (elements(field) == 0)
    return 0;
  const std::size_t last = field.size() - 1;
  double rows = 1, inner = static_cast<double>(coefficients[last].size());
  for (std::size_t d = 0; d < last; ++d)
    rows *= static_cast<double>(field[d].size());
  // The last dimension is transformed from real to complex numbers, the others from complex to
  // complex, each after the truncation of the one before, which makes later transforms cheaper. A
  // complex number times a real one, added to a sum, is 4 operations, and times a complex one 8.
  double flops = 4 * rows * static_cast<double>(field[last].size()) * inner;
  for (std::size_t d = last; d-- > kFirstSpatial;) {
    const auto modes = static_cast<double>(coefficients[d].size());
    flops += 8 * rows * modes * inner;
    rows /= static_cast<double>(field[d].size());
    inner *= modes;
  }
  return flops;
}

// Each coefficient has two elements, real and imaginary part, so 8 operations are 4 per element.
double modeFlops(const Box& coefficients, Index outputs) {
  return 4.0 * static_cast<double>(elements(coefficients)) * static_cast<double>(outputs);
}

// A truncated Fourier transform between this rank's elements of the field and all coefficients;
// `synthesises` selects the direction from coefficients to elements.
template <class T>
class LocalFourier final : public ArrayKernel {
public:
  LocalFourier(const KernelPlace& at, bool synthesises, const Layout& field,
               const Layout& coefficients)
      : synthesises_(synthesises), rows_(rowsOf(field.boxOfRank(at.rank))),
        flops_(fourierFlops(field.boxOfRank(at.rank), coefficients.boxOfRank(at.rank))),
        fourier_(at.context, at.backend, dims(at.rank, field, coefficients), rows_) {}

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    if (synthesises_)
      fourier_.synthesise(rows_, x[0].data<T>(), y.mutableData<T>());
    else
      fourier_.analyse(rows_, x[0].data<T>(), y.mutableData<T>());
    logFlops(flops_);
  }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters p, LocalArray& dy) override {
    if (dx[0])
      forward(dx, p, dy, nullptr);
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (!dx[0])
      return;
    if (synthesises_)
      fourier_.synthesiseAdjoint(rows_, dy.data<T>(), dx[0].mutableData<T>());
    else
      fourier_.analyseAdjoint(rows_, dy.data<T>(), dx[0].mutableData<T>());
    logFlops(flops_);
  }
  std::string describe() const override { return "transforms by dimension: " + fourier_.methods(); }

private:
  // A row is the field of one sample and channel; all rows have the same transform.
  static Index rowsOf(const Box& elements) { return elements[0].size() * elements[1].size(); }
  static std::vector<FourierDim> dims(int rank, const Layout& field, const Layout& coefficients) {
    const Box elements = field.boxOfRank(rank);
    std::vector<FourierDim> dims;
    for (int d = kFirstSpatial; d < field.ndim(); ++d) {
      // The last dimension has the modes >= 0, since the field is real; the others have the same
      // number of modes of each sign.
      const Index modes = coefficients.shape()[d];
      dims.push_back({.extent = field.shape()[d],
                      .begin = elements[d].begin,
                      .count = elements[d].size(),
                      .modes = d + 1 == field.ndim() ? modes : modes / 2}); // of one sign
    }
    return dims;
  }

  bool synthesises_;
  Index rows_;
  double flops_;
  TruncatedFourier<T> fourier_;
};

// Y[n,o,k] = sum over i of X[n,i,k] W[i,o,k] for sample n, output channel o, input channel i and
// the modes k of this rank; all numbers are complex. The kernel multiplyModes() computes c[p,q] +=
// sum over r of a[p,q,r] b[p,q,r] for each mode. The strides below map p, q and r to n, o and i.
template <class T>
class LocalModeProducts final : public BilinearKernel {
public:
  LocalModeProducts(const Box& x, Index outputs)
      : BilinearKernel(modeFlops(x, outputs)), batch_(x[0].size()), inputs_(x[1].size()),
        outputs_(outputs) {
    // The last dimension of the coefficients holds their real and imaginary parts.
    for (std::size_t d = kFirstSpatial; d + 1 < x.size(); ++d)
      modes_ *= x[d].size();
  }

  std::string describe() const override { return "products of modes"; }

private:
  void product(const LocalArray& x, const LocalArray& w, const LocalArray&, bool adds,
               LocalArray& y) override {
    if (!adds)
      setZero(y);
    multiplyModes<T>(y.context(),
                     {.extent = {batch_, outputs_, inputs_}, // n, o; sum over i
                      .a = {0, 1, outputs_},
                      .b = {inputs_, 0, 1},
                      .c = {outputs_, 1},
                      .modes = modes_},
                     /*conjugates=*/false, w.data<T>(), x.data<T>(), y.mutableData<T>());
  }
  // The adjoint of a product with a complex number is the product with its conjugate. The three
  // products differ only in the index that is summed.
  void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) override {
    setZero(dx);
    multiplyModes<T>(dy.context(),
                     {.extent = {batch_, inputs_, outputs_}, // n, i; sum over o
                      .a = {0, outputs_, 1},
                      .b = {outputs_, 0, 1},
                      .c = {inputs_, 1},
                      .modes = modes_},
                     /*conjugates=*/true, w.data<T>(), dy.data<T>(), dx.mutableData<T>());
  }
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw, LocalArray&) override {
    multiplyModes<T>(dy.context(),
                     {.extent = {inputs_, outputs_, batch_}, // i, o; sum over n
                      .a = {1, 0, inputs_},
                      .b = {0, 1, outputs_},
                      .c = {outputs_, 1},
                      .modes = modes_},
                     /*conjugates=*/true, x.data<T>(), dy.data<T>(), dw.mutableData<T>());
  }

  Index batch_, inputs_, outputs_, modes_ = 1;
};

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
    for (int d = kFirstSpatial; d < modes.ndim(); ++d)
      cuts.push_back({&modes, d});
    Shape weight = modes.shape();
    weight[0] = integer("in_channels");
    weight[1] = integer("out_channels");
    form.parameters.push_back({.name = "weight",
                               .use = makeLayout(weight, grid, form.signature.parameter(0), cuts),
                               .fanIn = weight[0],
                               .fanOut = weight[1]});
    cuts = {{&use, 0}, {&form.parameters.front().use, 1}};
    for (int d = kFirstSpatial; d < use.ndim(); ++d)
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
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const Layout &from = at.reads(), &to = at.writes();
    if (at.name() == "modes")
      return makeTyped<LocalModeProducts>(at.type, from.boxOfRank(at.rank),
                                          to.boxOfRank(at.rank)[1].size());
    const bool synthesises = at.name() == "synthesis";
    return makeTyped<LocalFourier>(at.type, at, synthesises, synthesises ? to : from,
                                   synthesises ? from : to);
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
      field[d] = shape[d] + 1; // an extent of at least 2, which has a mode
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
    for (int d = kFirstSpatial; d < modes.ndim(); ++d)
      cuts.push_back({&modes, d});
    return makeLayout(shape, modes.gridPtr(), form.signature.output(), cuts);
  }
  // The same coefficients with other properties on some axes.
  static Layout withSpace(const Layout& modes, const Properties& properties) {
    return makeLayoutLike(modes, modes.gridPtr(), properties);
  }
};

} // namespace

std::unique_ptr<Declaration> declareSpectralConvolution() {
  return std::make_unique<SpectralConvolution>();
}

} // namespace tenon
