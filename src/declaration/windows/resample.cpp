// SPDX-License-Identifier: BSD-2-Clause
// Declares adaptive pooling and interpolation (layer types adaptiveaveragepooling and resample),
// and their base Separable: each output of a dimension is a weighted sum of consecutive inputs,
// given by reads(). From 6 inputs to 4 outputs, adaptive pooling reads
//
//   output   0    1    2    3
//   inputs   0,1  1,2  3,4  4,5       weights 1/2 each
//
// form() puts each output on the rank of the middle one of its inputs, and gives the input a halo
// with the others. These positions are computed in integers from global extents, so all ranks agree
// exactly on split points and halos. The kernel applies the maps of the dimensions one after the
// other. declareAdaptiveAveragePooling() and declareResample() are declared in core/types.hpp.
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/rows/axis_map.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace tenon {

namespace {

// Positions of inputs and outputs are products of both numbers, at most about 2 x 2^24 x 2^36 =
// 2^61 (Resample::reads()), which do not overflow.
constexpr Index kMaxOutputs = Index(1) << 24, kMaxInputs = Index(1) << 36;

// Applies the map of each dimension, a matrix with few entries per row, one stage after the other,
// with intermediate results in scratch memory. The maps of different dimensions commute, so those
// that reduce the number of elements most are applied first: from 100 x 100 to 10 x 200 elements,
// the first stage gives 10 x 100. In each stage the array is viewed as [outer, elements of the
// dimension, inner].
template <class T>
class LocalSeparable final : public LinearKernel {
public:
  LocalSeparable(std::vector<AxisMap> maps, const Box& x, const Box& y, KernelContextPtr context)
      : maps_(std::move(maps)), context_(std::move(context)) {
    for (AxisMap& map : maps_)
      map.finish(*context_);
    std::vector<int> order;
    for (int s = 0; s < static_cast<int>(maps_.size()); ++s)
      order.push_back(s);
    std::ranges::stable_sort(order, {}, [&](int s) {
      return double(maps_[s].outputs()) / double(std::max<Index>(1, maps_[s].inputs));
    });
    // Before each stage, the array has the extents of the output in the dimensions of earlier
    // stages, and those of the input in all other dimensions.
    Shape extent = extents(x);
    Index maxElements = 0;
    for (int s : order) {
      const auto dim = extent.begin() + s + kFirstSpatial;
      Stage stage{.map = &maps_[s], .outer = 1, .inner = 1};
      for (auto d = extent.begin(); d != dim; ++d)
        stage.outer *= *d;
      for (auto d = dim + 1; d != extent.end(); ++d)
        stage.inner *= *d;
      *dim = y[s + kFirstSpatial].size();
      maxElements = std::max(maxElements, elements(extent));
      stages_.push_back(stage);
    }
    ScratchPlan plan;
    for (Index& offset : offsets_)
      offset = plan.add<T>(maxElements);
    context_->reserve(plan);
  }

  void map(const LocalArray& x, LocalArray& y) override {
    const T* from = x.data<T>();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      T* to = i + 1 == stages_.size() ? y.mutableData<T>() : intermediate(i);
      axisMapForward(*context_, *stages_[i].map, stages_[i].outer, stages_[i].inner, from, to);
      from = to;
    }
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    const T* from = dy.data<T>();
    for (std::size_t i = stages_.size(); i-- > 0;) {
      T* to = i == 0 ? dx.mutableData<T>() : intermediate(i - 1);
      axisMapAdjoint(*context_, *stages_[i].map, stages_[i].outer, stages_[i].inner, from, to);
      from = to;
    }
  }
  std::string describe() const override { return "one dimension after the other"; }

private:
  struct Stage {
    const AxisMap* map;
    Index outer, inner; // products of the extents before and after the dimension
  };
  // The result of stage i. Two buffers suffice, since a stage reads only the result of the previous
  // one.
  T* intermediate(std::size_t i) const { return context_->scratch<T>(offsets_[i % 2]); }

  std::vector<AxisMap> maps_; // by spatial dimension
  std::vector<Stage> stages_; // in the order of application
  KernelContextPtr context_;
  std::array<Index, 2> offsets_{}; // of the two buffers in the scratch memory
};

// The inputs of one output: indices first, first + 1, ..., with their weights.
struct AxisReads {
  Index first = 0;
  std::vector<double> weights = {};
};

class Separable : public Declaration {
public:
  using Declaration::Declaration;
  // The inputs that output o reads, in a dimension with these numbers of inputs and outputs. Both
  // the first and the last index must be non-decreasing in o.
  virtual AxisReads reads(Index o, Index inputs, Index outputs) const = 0;

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;

protected:
  // The number of outputs in a spatial dimension.
  virtual Index outputs(int spatialDim, int spatialRank, Index inputs) const = 0;

private:
  Interval inputsOf(Interval outputs, int dim, const Shape& in, const Shape& out) const;
};

Shape Separable::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  const int spatial = spatialRankOf(x, title());
  Shape shape = {x[0], x[1]};
  for (int s = 0; s < spatial; ++s) {
    shape.push_back(outputs(s, spatial, x[s + kFirstSpatial]));
    if (shape.back() > kMaxOutputs || x[s + kFirstSpatial] > kMaxInputs)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("spatial dimension {} of {} has {} input and {} output elements; at most {} "
                      "and {} are possible, since a table has an entry for each output",
                      s, title(), x[s + kFirstSpatial], shape.back(), kMaxInputs, kMaxOutputs));
    if (x[s + kFirstSpatial] == 0 && shape.back() > 0)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs at least 1 element in each "
                              "spatial dimension",
                              title(), fmt::join(x, ",")));
  }
  return shape;
}

SignatureTable Separable::rows(const std::vector<Shape>& inputs) const {
  return imageTable(spatialRankOf(inputs.front(), title()), /*linear=*/true);
}

Interval Separable::inputsOf(Interval outputs, int dim, const Shape& in, const Shape& out) const {
  // Both ends are non-decreasing in the output, so the first and the last output suffice.
  if (outputs.empty())
    return {};
  const AxisReads last = reads(outputs.end - 1, in[dim], out[dim]);
  return {reads(outputs.begin, in[dim], out[dim]).first,
          last.first + static_cast<Index>(last.weights.size())};
}

// An output is computed on the rank that owns the middle one of its inputs. Halos are then needed
// on both sides, but are at most half a window wide.
Form Separable::form(const Layouts& inputs, const Choice& choice) const {
  Form form = formLikeInput(inputs, choice);
  const Layout plain = form.uses.front();
  const Shape &in = plain.shape(), out = outputShape({in});
  LayoutSpec spec = plain.spec(), use = plain.spec();
  spec.shape = out;
  for (int d = kFirstSpatial; d < plain.ndim(); ++d) {
    const auto middle = [&](Index o) {
      const AxisReads window = reads(o, in[d], out[d]);
      return window.first + static_cast<Index>(window.weights.size() - 1) / 2;
    };
    // A cut of the output is the first output whose middle input is not before the cut of the
    // input. middle() is non-decreasing, so bisection finds it.
    const auto outputRange = std::views::iota(Index(0), out[d]);
    for (Index& cut : spec.cuts[d])
      cut = std::ranges::lower_bound(outputRange, cut, {}, middle) - outputRange.begin();
    spec.cuts[d].front() = 0;
    spec.cuts[d].back() = out[d];
    Halo halo;
    bool isNeeded = false;
    for (int part = 0; part < plain.parts(d); ++part) {
      const Interval box = inputsOf({spec.cuts[d][part], spec.cuts[d][part + 1]}, d, in, out);
      const Interval owned = plain.owned(d, part);
      isNeeded |= !box.empty() && (box.begin < owned.begin || box.end > owned.end);
      halo.boxes.push_back(box);
    }
    if (isNeeded)
      use.halos[d] = std::move(halo);
  }
  form.output = Layout(std::move(spec));
  form.uses.front() = Layout(std::move(use));
  checkFilledHalo(inputs.front(), form.uses.front(), title());
  return form;
}

// Along one dimension, output o reads inputs reads.first, reads.first + 1, ... of this rank with
// these weights, which are computed from global indices and so independent of the split points.
std::unique_ptr<ArrayKernel> Separable::makeKernel(const KernelPlace& at) const {
  const Box x = at.input(), y = at.outputs();
  const Shape &from = at.use().shape(), &to = at.form.output.shape();
  std::vector<AxisMap> maps;
  for (int d = kFirstSpatial; d < at.use().ndim(); ++d) {
    AxisMap& map = maps.emplace_back();
    map.inputs = x[d].size();
    for (Index o = y[d].begin; o < y[d].end; ++o) {
      const AxisReads window = reads(o, from[d], to[d]);
      map.add(window.first - x[d].begin, window.weights);
    }
  }
  return makeTyped<LocalSeparable>(at.type, std::move(maps), x, y, at.context);
}

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kAdaptive[] = {
    {"size", OptionSpec::Ints, nullptr,
     "number of outputs, one number for all spatial dimensions or one each", nullptr, atLeast(1)}};

// The mean over windows that cover the domain: output o reads the inputs from floor(o inputs /
// outputs) up to, excluding, ceil((o + 1) inputs / outputs).
class AdaptiveAveragePooling final : public Separable {
public:
  AdaptiveAveragePooling() : Separable("adaptiveaveragepooling", kAdaptive) {}

  AxisReads reads(Index o, Index inputs, Index outputs) const override {
    const Index begin = o * inputs / outputs, end = ((o + 1) * inputs + outputs - 1) / outputs;
    return {begin, std::vector<double>(end - begin, 1.0 / double(end - begin))};
  }
  std::string summary() const override {
    return fmt::format("to {}", fmt::join(value<std::vector<Index>>("size"), "x"));
  }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    std::vector<Index> size;
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d)
      size.push_back(draw.between(1, 7));
    return {{{"size", size}}, {shape}};
  }

private:
  Index outputs(int s, int spatial, Index) const override {
    return numberPerDimension(value<std::vector<Index>>("size"), s, spatial, "size", title());
  }
};

constexpr OptionSpec kResample[] = {
    {"size", OptionSpec::Ints, nullptr,
     "number of outputs, one number for all spatial dimensions or one each", nullptr, atLeast(1)},
    {"scale_factor", OptionSpec::Ints, nullptr,
     "outputs for each input, one number for all spatial dimensions or one each", nullptr,
     atLeast(1)},
    {"method", OptionSpec::Choice, "nearest",
     "value of the nearest input, or linear in each dimension", "nearest|linear"},
    {"align_corners", OptionSpec::Flag, "false",
     "of linear: whether the first and last outputs lie on the first and last inputs; else the "
     "domain's ends are half an element beyond them"},
};

// Interpolation to another number of points: the nearest input, or linear in each dimension.
class Resample final : public Separable {
public:
  Resample() : Separable("resample", kResample) {}
  // Copies of an element stay in its patch, while interpolation reads across its border.
  bool joinsPatches(const std::vector<Shape>& inputs) const override {
    const Shape &x = inputs.front(), y = outputShape(inputs);
    bool areCopies = text("method") == "nearest";
    for (std::size_t d = kFirstSpatial; areCopies && d < x.size(); ++d)
      areCopies = x[d] == 0 || y[d] % x[d] == 0;
    return areCopies;
  }

  AxisReads reads(Index o, Index inputs, Index outputs) const override {
    if (text("method") == "nearest")
      return {o * inputs / outputs, {1}};
    // The output is at input index whole + part, a fraction with denominator `unit`. Without
    // aligned corners, output o is at the centre of its element: (o + 1/2) inputs / outputs - 1/2.
    Index unit = std::max<Index>(1, outputs - 1), numerator = o * (inputs - 1);
    if (!flag("align_corners")) {
      unit = 2 * outputs;
      numerator = std::max<Index>(0, (2 * o + 1) * inputs - outputs);
    }
    const Index whole = numerator / unit;
    const double part = double(numerator % unit) / double(unit);
    if (whole >= inputs - 1)
      return {inputs - 1, {1}};
    return {whole, {1 - part, part}};
  }
  std::string summary() const override {
    const char* setting = isSet("size") ? "size" : "scale_factor";
    return fmt::format("{}{} {}, {}{}", isSet("size") ? "to " : "", setting,
                       fmt::join(value<std::vector<Index>>(setting), "x"), text("method"),
                       flag("align_corners") ? ", corners aligned" : "");
  }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    std::vector<Index> size;
    const bool enlarges = draw.chance(50);
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d)
      size.push_back(draw.between(1, enlarges ? 3 : 9));
    const bool linear = draw.chance(70);
    return {{{enlarges ? "scale_factor" : "size", size},
             {"method", std::string(linear ? "linear" : "nearest")},
             {"align_corners", linear && draw.chance(50)}},
            {shape}};
  }

private:
  Index outputs(int s, int spatial, Index inputs) const override {
    const auto size = settings().find("size"), factor = settings().find("scale_factor");
    if (!size && !factor)
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has neither a size nor a scale_factor; set one", title()));
    if (flag("align_corners") && text("method") == "nearest")
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} aligns corners, which method \"nearest\" cannot do; "
                              "set the method \"linear\"",
                              title()));
    const char* name = size ? "size" : "scale_factor";
    const Index number = numberPerDimension(std::get<std::vector<Index>>(size ? *size : *factor), s,
                                            spatial, name, title());
    return size ? number : checkedProduct(number, inputs, "the extent of an enlarged dimension");
  }

  void check() const override {
    if (isSet("size") && isSet("scale_factor"))
      throw Error(
          TENON_ERR_ARG,
          fmt::format("{} has both a size and a scale_factor; set only one of them", title()));
  }
};

} // namespace

std::unique_ptr<Declaration> declareAdaptiveAveragePooling() {
  return std::make_unique<AdaptiveAveragePooling>();
}

std::unique_ptr<Declaration> declareResample() {
  return std::make_unique<Resample>();
}

} // namespace tenon
