// SPDX-License-Identifier: BSD-2-Clause
// Declares two reductions of dimensions: global average pooling over space, y[n,c,0,...] = 1/N sum
// over s of x[n,c,s], and reduce (below) with sum, mean or maximum over any dimensions. The kernels
// are in layer/windows/global_pooling.cpp.
//
// N is the global number of elements. If space is split over ranks, each rank's result is its
// contribution to the mean, y is a partial sum, and the layer itself does not communicate: the next
// layer that needs the mean sums the contributions.
//
// Labels, which state what an axis of the process grid does: n (splits the batch), c (channels),
// d/h/w (space; y is a partial sum), B (replicates x and y), R (holds them on its root only), P (x
// and y are partial sums).
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

class GlobalAveragePooling final : public Declaration {
public:
  GlobalAveragePooling() : Declaration("globalaveragepooling", {}) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    spatialRankOf(x, title());
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

  Example example(ExampleDraw& draw) const override { return {{}, {draw.shape(3, 5)}}; }
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
     "whether the output has the reduced dimensions too, with an extent of 1"}};

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
  // largest elements; k and K, their number on this rank and on all; v = w / K; s, the sum of v (x
  // - M); y = M + s. M and K come from a reduction over the axes that split the dimensions.
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
  std::string summary() const override {
    return fmt::format("{} over {}", text("method"), fmt::join(dims(), ","));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    std::vector<Index> dims;
    for (Index d = 0; d < static_cast<Index>(shape.size()); ++d)
      if (draw.chance(50))
        dims.push_back(d);
    if (dims.empty())
      dims.push_back(draw.between(0, static_cast<Index>(shape.size()) - 1));
    return {{{"method", std::string(draw.of({"mean", "sum", "max"}))},
             {"dims", dims},
             {"keep_dims", draw.chance(50)}},
            {shape}};
  }

private:
  std::vector<Index> dims() const { return value<std::vector<Index>>("dims"); }
  bool isMaximum() const { return text("method") == "max"; }
  bool isReduced(int d) const {
    const std::vector<Index> reduced = dims();
    return std::ranges::find(reduced, Index(d)) != reduced.end();
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
    for (int d = 0; d < use.rank(); ++d)
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
