// SPDX-License-Identifier: BSD-2-Clause
// Declares reduce: sum, mean or maximum over dimensions, which can be split. A sum over a split
// dimension is left as a partial sum of the output, so the layer itself does not communicate. N in
// a mean is the global number of elements. declareReduce() is declared in core/types.hpp.
//
// The maximum is M + sum over i of v_i (x_i - M), where M is found by one reduction, and v_i = 1 /
// K for the K largest elements and 0 for all others. The sum is 0, but with M and v held fixed it
// has the derivative that torch.amax has: shared equally among the largest elements. With `ties`
// first, v_i is 1 for the first of them in row-major order, as of torch.max() with a dimension.
//
// Labels per grid axis: S0, S1, ... (y is a partial sum if that dimension is reduced; a maximum is
// replicated instead), B, R, and P except for maxima.
#include "kernels/elementwise/reduce.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/sphere/local_sum.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/selection.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kReduceSettings[] = {
    {"method", OptionSpec::Choice, "mean", "what is taken over the dimensions", "mean|sum|max"},
    {"dims", OptionSpec::Ints, nullptr, "dimensions that are reduced, counted from 0", nullptr,
     atLeast(0)},
    {"ties", OptionSpec::Choice, "shared",
     "which of several largest elements have the derivative of a maximum: all the same share, or "
     "the first all of it",
     "shared|first"},
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

// The largest elements (x[0] is 1) are numbered backwards, q = N - place, where the place counts
// the N elements of a maximum in row-major order; q = 0 for all others. The first one has the
// largest q.
template <class T>
class Places final : public FixedKernel {
public:
  Places(const KernelPlace& at, BroadcastMap broadcast, const std::vector<Index>& dims)
      : broadcast_(std::move(broadcast)) {
    const Layout& use = at.form.uses.front();
    const Box box = use.boxOfRank(at.rank);
    Index step = 1; // between the places of adjacent elements
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
      const Index extent = use.shape()[*d];
      std::vector<T> numbers;
      for (Index i = box[*d].begin; i < box[*d].end; ++i)
        numbers.push_back(static_cast<T>((extent - i) * step - (d == dims.rbegin() ? 0 : step)));
      numbers_.push_back({static_cast<int>(*d), ReadList<T>(*at.context, std::move(numbers))});
      step *= extent;
    }
  }
  void forward(Arrays x, KernelParameters, LocalArray& q, Buffer*) override {
    setZero(q);
    for (const auto& [dim, numbers] : numbers_)
      broadcast_.addWeightedRows<T>(dim, numbers.data(), x[0], q);
  }
  std::string describe() const override { return "places of the largest"; }

private:
  struct Numbers {
    int dim;
    ReadList<T> values; // of this rank's indices
  };
  BroadcastMap broadcast_;
  std::vector<Numbers> numbers_;
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
    checkPlaces(x);
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
  // axes that split the dimensions. If the first one has the derivative, v is 1 for it alone: it
  // has the largest number q, of which p and P are the maxima of this rank and of all.
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
    const ValueId w = list.value("w", use), v = list.value("v", use), s = list.value("s", part);
    list.runFixed({.name = "largest"}, {u, M}, w);
    if (text("ties") == "first") {
      const ValueId q = list.exact(list.value("q", use)), p = list.exact(list.value("p", part));
      list.runFixed({.name = "places"}, {w}, q);
      list.runFixed({.name = "maxima"}, {q}, p);
      list.runFixed({.name = "largest"}, {q, overAll(p, "P", OperatorKind::Maximum)}, v);
    } else {
      const ValueId k = list.exact(list.value("k", part));
      list.runFixed({.name = "count"}, {w}, k);
      list.runFixed({.name = "shares"}, {w, overAll(k, "K", OperatorKind::Conversion)}, v);
    }
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
    if (at.name() == "places")
      return makeTyped<Places>(at.type, at, broadcast, sortedDims());
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
                     {"keep_dims", draw.chance(50)},
                     {"ties", std::string(draw.of({"shared", "first"}))}},
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
  std::vector<Index> sortedDims() const {
    std::vector<Index> sorted = dims();
    std::ranges::sort(sorted);
    return sorted;
  }
  bool isMaximum() const { return text("method") == "max"; }
  bool isReduced(int d) const {
    const std::vector<Index> reduced = dims();
    return std::ranges::find(reduced, Index(d)) != reduced.end();
  }
  // The places of elements are numbers of the layer's type, of which float32 has so many integers.
  void checkPlaces(const Shape& x) const {
    constexpr Index kMaxPlaces = Index(1) << 24;
    Index places = 1;
    for (const Index d : dims())
      places = checkedProduct(places, x[d], "the number of elements of a maximum");
    if (isMaximum() && text("ties") == "first" && places > kMaxPlaces)
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{} takes a maximum of {} elements, and finds the first of equal ones "
                      "among at most {}; set ties to shared",
                      title(), places, kMaxPlaces));
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
    const std::vector<Index> sorted = sortedDims();
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
