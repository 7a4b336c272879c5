// SPDX-License-Identifier: BSD-2-Clause
// Declares two reductions of dimensions: global average pooling over space, y[n,c,0,...] = 1/N sum
// over s of x[n,c,s], and reduce (below) with sum, mean or maximum over any dimensions.
//
// N is the global number of elements. On a globe both can weight the elements by their area instead
// (sphere/area.hpp). If space is split over ranks, each rank's result is its contribution to the
// mean, y is a partial sum, and the layer itself does not communicate: the next layer that needs
// the mean sums the contributions.
//
// Labels, which state what an axis of the process grid does: n (splits the batch), c (channels),
// d/h/w (space; y is a partial sum), B (replicates x and y), R (holds them on its root only), P (x
// and y are partial sums).
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/sphere/local_sum.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/elementwise/selection.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Works on this rank's arrays, viewed as [planes, elements of a plane]. The array with one number
// per plane has the strides {1, 0}: the same number is combined with all elements of the plane.
// Apply adds the elements to this number, and the adjoint adds the number to the elements.
template <class T>
class LocalGlobalPooling final : public LinearKernel {
public:
  LocalGlobalPooling(const Box& x, Index elementsOfWholePlane)
      : extent_{x[0].size() * x[1].size(), 1}, factor_(1 / double(elementsOfWholePlane)) {
    for (std::size_t d = kFirstSpatial; d < x.size(); ++d)
      extent_[1] *= x[d].size();
    elementStrides_[0] = extent_[1];
  }

  void map(const LocalArray& x, LocalArray& y) override {
    add(x, elementStrides_, y, kPlaneStrides);
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    add(dy, kPlaneStrides, dx, elementStrides_);
  }
  std::string describe() const override { return "sums of planes"; }

private:
  using Steps = std::array<Index, 2>;
  static constexpr Steps kPlaneStrides = {1, 0};

  void add(const LocalArray& from, const Steps& read, LocalArray& to, const Steps& write) const {
    setZero(to);
    blockMultiplyAdd<T>(to.context(), 2, extent_.data(), static_cast<T>(factor_), nullptr, nullptr,
                        from.data<T>(), read.data(), to.mutableData<T>(), write.data());
  }

  Steps extent_, elementStrides_ = {0, 1};
  double factor_;
};

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kGlobalPoolingSettings[] = {kAreaSetting, kAreaDimSetting};

class GlobalAveragePooling final : public Declaration {
public:
  GlobalAveragePooling() : Declaration("globalaveragepooling", kGlobalPoolingSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    spatialRankOf(x, title());
    if (const auto area = areaRows(*this, x); area && area->dim < kFirstSpatial)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} weights elements by area, with latitudes in dimension {}, over "
                              "which it takes no mean; set area_dim to one from {} on",
                              title(), area->dim, kFirstSpatial));
    if (std::find(x.begin() + kFirstSpatial, x.end(), 0) != x.end())
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs at least 1 element in each "
                              "spatial dimension",
                              title(), fmt::join(x, ",")));
    Shape shape(x.size(), 1);
    std::copy_n(x.begin(), kFirstSpatial, shape.begin());
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = imageTable(spatialRankOf(inputs.front(), title()), /*linear=*/true);
    for (SignatureRow& row : table)
      if (row.output.isShard() && row.output.dim >= kFirstSpatial)
        row.output = Property::partial();
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Layout& use = form.uses.front();
    std::vector<CutSource> cuts(shape.size());
    cuts[0] = {&use, 0};
    cuts[1] = {&use, 1};
    form.output = makeLayout(shape, use.gridPtr(), form.signature.output(), cuts);
    return form;
  }

  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const Shape& shape = at.form.inputs.front().shape();
    if (const auto area = areaRows(*this, shape)) {
      std::vector<int> places(shape.size(), -1);
      double factor = 1; // of the means over dimensions that are not weighted
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (d < kFirstSpatial)
          places[d] = d;
        else if (d != area->dim)
          factor /= double(shape[d]);
      return makeTyped<LocalSum>(at.type, at.input(), places, factor, area, *at.context);
    }
    return makeTyped<LocalGlobalPooling>(
        at.type, at.input(), elements(Shape(shape.begin() + kFirstSpatial, shape.end())));
  }
  std::string summary() const override {
    return text("area") == "none" ? "" : fmt::format("by area, grid {}", text("area"));
  }
  Example example(ExampleDraw& draw) const override {
    Example example{{}, {draw.shape(3, 5)}};
    if (example.inputs.front().size() > 3 && draw.chance(50)) {
      example.settings.emplace_back("area", std::string(draw.of({"gauss", "cells"})));
      example.settings.emplace_back("area_dim", draw.between(2, 3));
    }
    return example;
  }
};

} // namespace

std::unique_ptr<Declaration> declareGlobalAveragePooling() {
  return std::make_unique<GlobalAveragePooling>();
}

// Reduce: sum, mean or maximum over dimensions, which can be split. A sum over a split dimension is
// left as a partial sum of the output, so the layer itself does not communicate. N in a mean is the
// global number of elements.
//
// The maximum is M + sum over i of v_i (x_i - M), where M is found by one reduction, and v_i = 1 /
// K for the K largest elements and 0 for all others. The sum is 0, but with M and v held fixed it
// has the derivative that torch.amax has: shared equally among the largest elements.
//
// Labels per grid axis: S0, S1, ... (y is a partial sum if that dimension is reduced; a maximum is
// replicated instead), B, R, and P except for maxima.

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kReduceSettings[] = {
    {"method", OptionSpec::Choice, "mean", "what is taken over the dimensions", "mean|sum|max"},
    {"dims", OptionSpec::Ints, nullptr, "dimensions that are reduced, counted from 0", nullptr,
     atLeast(0)},
    {"keep_dims", OptionSpec::Flag, "false",
     "whether the output has the reduced dimensions too, with an extent of 1"},
    kAreaSetting,
    kAreaDimSetting};

// Maxima of this rank's elements; -infinity if it has none.
template <class T>
class LocalMaxima final : public FixedKernel {
public:
  explicit LocalMaxima(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forward(Arrays x, KernelParameters, LocalArray& m, Buffer*) override {
    fillBlock(m.context(), m.ndim(), m.extent().data(), -std::numeric_limits<T>::infinity(),
              m.mutableData<T>(), m.strides());
    broadcast_.raiseToLargest<T>(x[0], m);
  }
  std::string describe() const override { return "local maxima"; }

private:
  BroadcastMap broadcast_;
};

// w = 1 for elements x[0] that equal their maximum x[1], else 0.
template <class T>
class Largest final : public FixedKernel {
public:
  explicit Largest(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forward(Arrays x, KernelParameters, LocalArray& w, Buffer*) override {
    broadcast_.spread<T>(1, x[1], w);
    T* values = w.mutableData<T>();
    compareElements<T>(w.context(), Relation::Equal, w.elements(), x[0].data<T>(), values, values);
  }
  std::string describe() const override { return "largest elements"; }

private:
  BroadcastMap broadcast_;
};

// v = w / K, from w (x[0]) and the numbers K of largest elements (x[1]).
template <class T>
class Shares final : public FixedKernel {
public:
  explicit Shares(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forward(Arrays x, KernelParameters, LocalArray& v, Buffer*) override {
    broadcast_.spread<T>(1, x[1], v);
    T* values = v.mutableData<T>();
    pointwiseForward<T>(v.context(), Pointwise::Reciprocal, v.elements(), values, values);
    product<T>(v.context(), v.elements(), x[0].data<T>(), values, /*adds=*/false, values);
  }
  std::string describe() const override { return "shares"; }

private:
  BroadcastMap broadcast_;
};

// s = 0 with the derivative ds = sum of v dx, from the elements x (input 0) and the shares v (input
// 1).
template <class T>
class Slopes final : public ArrayKernel {
public:
  explicit Slopes(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}

  void forward(Arrays, KernelParameters, LocalArray& s, Buffer*) override { setZero(s); }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& ds) override {
    if (dx[0])
      broadcast_.sumOfProducts<T>(1, at.inputs[1], dx[0], ds);
    else
      setZero(ds);
  }
  void adjoint(const SavedArrays& at, const LocalArray& ds, KernelParameters,
               WrittenArrays dx) override {
    if (!dx[0])
      return;
    const LocalArray& shares = at.inputs[1];
    broadcast_.spread<T>(1, ds, dx[0]);
    T* values = dx[0].mutableData<T>();
    product<T>(ds.context(), shares.elements(), shares.data<T>(), values, /*adds=*/false, values);
  }
  std::string describe() const override { return "shared among the largest"; }

private:
  BroadcastMap broadcast_;
};

class Reduce final : public Declaration {
public:
  Reduce() : Declaration("reduce", kReduceSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    for (Index d : dims())
      if (d >= static_cast<Index>(x.size()))
        throw Error(
            TENON_ERR_SHAPE,
            fmt::format("{} reduces dimension {}, but its input has shape [{}]; set dims to "
                        "some of its dimensions, counted from 0",
                        title(), d, fmt::join(x, ",")));
      else if (x[d] == 0)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("the input has shape [{}], but {} needs at least 1 element in "
                                "dimension {}",
                                fmt::join(x, ","), title(), d));
    if (const auto area = areaRows(*this, x); area && (isMaximum() || !isReduced(area->dim)))
      throw Error(
          TENON_ERR_ARG,
          isMaximum()
              ? fmt::format("{} takes a maximum, which has no weights by area; set area to none",
                            title())
              : fmt::format("{} weights elements by area, with latitudes in dimension {}, but "
                            "reduces dimensions {}; set area_dim to one of them",
                            title(), area->dim, fmt::join(dims(), ",")));
    return shapeOf(x, flag("keep_dims"));
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const int rank = static_cast<int>(inputs.front().size());
    SignatureTable table = elementwiseTable(rank, /*linear=*/!isMaximum());
    int outputDim = 0;
    for (int d = 0; d < rank; ++d)
      if (isReduced(d)) {
        table[d].output = isMaximum() ? Property::broadcast() : Property::partial();
        outputDim += flag("keep_dims");
      } else
        table[d].output = Property::shard(outputDim++);
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    form.output = reducedLayout(form.uses.front(), shape, flag("keep_dims"),
                                form.signature.output().properties);
    return form;
  }

  // The steps of a maximum: m, maxima of this rank's elements; M, over all ranks; w, 1 for the
  // largest elements; k and K, their number on this rank and on all; v = w / K; s, which is 0 and
  // has the derivative of the sum of v (x - M); y = M + s. M and K come from a reduction over the
  // axes that split the dimensions.
  MapList maps(const Form& form, const Layouts& storage) const override {
    if (!isMaximum())
      return Declaration::maps(form, storage);
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front()), y = list.output("y", form.output);
    const ValueId u = addUse(list, x, "u", use, /*anyStrides=*/false);
    const Layout whole = form.output, part = partOf(form);
    const auto overAll = [&](ValueId local, const char* name, OperatorKind kind) {
      return haveSameMemory(part, whole) ? local : list.convert(name, local, whole, kind);
    };
    const ValueId m = list.exact(list.value("m", part));
    list.runFixed({.name = "maxima"}, {u}, m);
    const ValueId M = overAll(m, "M", OperatorKind::Maximum);
    const ValueId w = list.value("w", use), k = list.exact(list.value("k", part));
    list.runFixed({.name = "largest"}, {u, M}, w);
    list.runFixed({.name = "count"}, {w}, k);
    const ValueId K = overAll(k, "K", OperatorKind::Conversion);
    const ValueId v = list.value("v", use), s = list.value("s", part);
    list.runFixed({.name = "shares"}, {w, K}, v);
    list.run({.name = "slopes", .savesInputs = true}, {u, list.exact(v)}, s);
    list.apply(OperatorKind::Conversion, M, y);
    list.apply(OperatorKind::Conversion, s, y);
    return list;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const Layout& use = at.form.uses.front();
    const BroadcastMap broadcast(use.boxOfRank(at.rank), placesOf(use.ndim()));
    if (at.name() == "maxima")
      return makeTyped<LocalMaxima>(at.type, broadcast);
    if (at.name() == "largest")
      return makeTyped<Largest>(at.type, broadcast);
    if (at.name() == "shares")
      return makeTyped<Shares>(at.type, broadcast);
    if (at.name() == "slopes")
      return makeTyped<Slopes>(at.type, broadcast);
    // A sum by area weights an element by its part of the sphere, the share of its row divided by
    // the number of longitudes. In a mean the shares are the weights of the rows, and all other
    // reduced dimensions, such as the longitudes, divide by their extents.
    const bool counts = at.name() == "count";
    const std::optional<AreaRows> area = counts ? std::nullopt : areaRows(*this, use.shape());
    double factor = area && text("method") == "sum" ? 1 / double(area->longitudes) : 1;
    if (!counts && text("method") == "mean")
      for (Index d : dims())
        factor /= area && d == area->dim ? 1 : double(use.shape()[d]);
    return makeTyped<LocalSum>(at.type, use.boxOfRank(at.rank), placesOf(use.ndim()), factor, area,
                               *at.context);
  }
  std::string summary() const override {
    const std::string words = fmt::format("{} over {}", text("method"), fmt::join(dims(), ","));
    return text("area") == "none" ? words : fmt::format("{} by area, grid {}", words, text("area"));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    std::vector<Index> dims;
    for (Index d = 0; d < static_cast<Index>(shape.size()); ++d)
      if (draw.chance(50))
        dims.push_back(d);
    if (dims.empty())
      dims.push_back(draw.between(0, static_cast<Index>(shape.size()) - 1));
    Example example{{{"method", std::string(draw.of({"mean", "sum", "max"}))},
                     {"dims", dims},
                     {"keep_dims", draw.chance(50)}},
                    {shape}};
    if (shape.size() > 1 && draw.chance(40)) {
      example.settings.front().second = std::string(draw.of({"mean", "sum"}));
      example.settings.emplace_back("area", std::string(draw.of({"gauss", "cells"})));
      example.settings.emplace_back("area_dim", dims.front());
    }
    return example;
  }

private:
  std::vector<Index> dims() const { return value<std::vector<Index>>("dims"); }
  bool isMaximum() const { return text("method") == "max"; }
  bool isReduced(int d) const {
    const std::vector<Index> reduced = dims();
    return std::ranges::find(reduced, Index(d)) != reduced.end();
  }
  // The output dimension of each input dimension, or -1 if it is reduced. For x [A,B,C] reduced
  // over dimension 1: {0, -1, 1}, or {0, -1, 2} if dimension 1 remains with extent 1 (keep_dims).
  std::vector<int> placesOf(int rank) const {
    std::vector<int> places;
    int next = 0;
    for (int d = 0; d < rank; ++d) {
      places.push_back(isReduced(d) ? -1 : next);
      next += !isReduced(d) || flag("keep_dims");
    }
    return places;
  }
  // The shape after the reduction: [1] if no dimension is left.
  Shape shapeOf(const Shape& x, bool keepDims) const {
    Shape shape;
    for (int d = 0; d < static_cast<int>(x.size()); ++d)
      if (!isReduced(d))
        shape.push_back(x[d]);
      else if (keepDims)
        shape.push_back(1);
    return shape.empty() ? Shape{1} : shape;
  }
  // The layout of a tensor of this shape, with the split points of the dimensions that remain.
  Layout reducedLayout(const Layout& use, const Shape& shape, bool keepDims,
                       const Properties& properties) const {
    std::vector<CutSource> cuts;
    for (int d = 0; d < use.ndim(); ++d)
      if (!isReduced(d))
        cuts.push_back({&use, d});
      else if (keepDims)
        cuts.emplace_back();
    cuts.resize(shape.size());
    return makeLayout(shape, use.gridPtr(), properties, cuts);
  }
  // The layout of the output, with each rank's result for its block of reduced dimensions as a
  // partial sum.
  Layout partOf(const Form& form) const {
    Properties properties = form.output.properties();
    for (std::size_t axis = 0; axis < properties.size(); ++axis)
      if (const Property& p = form.uses.front().property(static_cast<int>(axis));
          p.isShard() && isReduced(p.dim))
        properties[axis] = Property::partial();
    return reducedLayout(form.uses.front(), form.output.shape(), flag("keep_dims"), properties);
  }

  void check() const override {
    if (!isSet("dims"))
      return;
    std::vector<Index> sorted = dims();
    std::ranges::sort(sorted);
    if (sorted.empty() || std::ranges::adjacent_find(sorted) != sorted.end())
      throw Error(TENON_ERR_ARG,
                  fmt::format("dims of {} are [{}]; name at least one dimension, and "
                              "each once",
                              title(), fmt::join(dims(), ",")));
  }
};

} // namespace

std::unique_ptr<Declaration> declareReduce() {
  return std::make_unique<Reduce>();
}

} // namespace tenon
