// SPDX-License-Identifier: BSD-2-Clause
// Declares two types that rearrange elements without communication. Their kernels are in
// layer/types/transpose.cpp; this file has their settings, the shape of y and the distribution of x
// and y.
//
// Transpose: dimension d of y is dimension permutation[d] of x. With permutation 1,0, for example,
// x of shape [6,8] split by rows (S0) becomes y of shape [8,6] split by columns (S1): the
// dimensions keep their split points and the grid axes that split them. Pixel shuffle is in the
// second half of the file.
//
// Labels, which state what a grid axis does to x: S0, S1, ... (splits a dimension of x), B
// (replicates it), R (holds it on its root only), P (each rank has a partial sum).
#include "declaration/types/transpose.hpp"

#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

Layout permuted(const Layout& x, const std::vector<Index>& inputDims) {
  LayoutSpec spec{.shape = {}, .grid = x.gridPtr(), .properties = x.properties()};
  // The order of the axes that split a dimension belongs to its split points: permute both.
  for (Index d : inputDims) {
    spec.shape.push_back(x.shape()[d]);
    spec.splitAxes.push_back(x.splitAxes(static_cast<int>(d)));
    spec.cuts.push_back(x.cuts(static_cast<int>(d)));
  }
  for (Property& p : spec.properties)
    if (p.isShard())
      p.dim = static_cast<int>(std::ranges::find(inputDims, p.dim) - inputDims.begin());
  return Layout(std::move(spec));
}

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kTransposeSettings[] = {
    {"permutation", OptionSpec::Ints, nullptr,
     "of each dimension of the output, in their order, the dimension of the input", nullptr,
     atLeast(0)}};

class Transpose final : public Declaration {
public:
  Transpose() : Declaration("transpose", kTransposeSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    const std::vector<Index> inputDims = permutation();
    if (x.size() != inputDims.size())
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{}], but {} orders {} dimensions ({}); name "
                              "each dimension of the input once in permutation",
                              fmt::join(x, ","), title(), inputDims.size(),
                              fmt::join(inputDims, ",")));
    Shape shape;
    for (Index d : inputDims)
      shape.push_back(x[d]);
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const std::vector<Index> inputDims = permutation();
    SignatureTable table =
        elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
    for (SignatureRow& row : table)
      if (row.output.isShard())
        // The rows of elementwiseTable() have the same dimension for x and y. It is that of x; the
        // dimension of y is the place where the permutation names it.
        row.output = Property::shard(static_cast<int>(
            std::find(inputDims.begin(), inputDims.end(), row.output.dim) - inputDims.begin()));
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    Form form = formLikeInput(inputs, choice);
    outputShape({inputs.front().shape()});
    form.output = permuted(form.uses.front(), permutation());
    return form;
  }

  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::string summary() const override {
    return fmt::format("dimensions {}", fmt::join(permutation(), ","));
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    std::vector<Index> order(shape.size());
    std::iota(order.begin(), order.end(), Index(0));
    for (std::size_t d = order.size(); d-- > 1;)
      std::swap(order[d], order[draw.between(0, static_cast<Index>(d))]);
    return {{{"permutation", order}}, {shape}};
  }

private:
  std::vector<Index> permutation() const { return value<std::vector<Index>>("permutation"); }

  void check() const override {
    if (!settings().isSet("permutation"))
      return;
    std::vector<Index> sorted = permutation();
    // Sorted, a permutation of d numbers is 0, 1, ..., d - 1.
    std::ranges::sort(sorted);
    for (std::size_t d = 0; d < sorted.size(); ++d)
      if (sorted[d] != static_cast<Index>(d))
        throw Error(
            TENON_ERR_ARG,
            fmt::format("the permutation of {} is {}; name each dimension from 0 to {} once",
                        title(), fmt::join(permutation(), ","), sorted.size() - 1));
  }
};

} // namespace

std::unique_ptr<Declaration> declareTranspose() {
  return std::make_unique<Transpose>();
}

// Pixel shuffle, channels to space (Shi et al. 2016): [n, c r^2, y, x] becomes [n, c, y r, x r];
// channel c r^2 + i r + j of the input is offset (i, j) in a block of r x r elements. In d spatial
// dimensions there are r^d offsets. A rank's block of space remains a block of space. Its block of
// channels remains one if it has all offsets of each output channel. Other split points move to the
// nearest output channel: with r^2 = 4, channels split at 0, 6, 12 are first redistributed to 0, 8,
// 12, which gives output channels split at 0, 2, 3.
//
// Labels per grid axis: n batch, c channels, d/h/w space, B, R, P.

namespace {

constexpr OptionSpec kShuffleSettings[] = {{"upscale", OptionSpec::Int, nullptr,
                                            "factor by which each spatial dimension grows", nullptr,
                                            atLeast(1)}};

class PixelShuffle final : public Declaration {
public:
  PixelShuffle() : Declaration("pixelshuffle", kShuffleSettings) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    Shape shape = inputs.front();
    const Index offsets = offsetsOf(shape);
    if (shape[1] % offsets != 0)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} makes one channel of {}, but the input of shape [{}] has {}, which "
                      "is no multiple; set upscale to another factor",
                      title(), offsets, fmt::join(inputs.front(), ","), shape[1]));
    shape[1] /= offsets;
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d)
      shape[d] = checkedProduct(shape[d], integer("upscale"), "an extent of the output");
    return shape;
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return imageTable(spatialRankOf(inputs.front(), title()), /*linear=*/true);
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    LayoutSpec use = form.uses.front().spec(), output = use;
    const Index offsets = offsetsOf(use.shape);
    output.shape = shape;
    for (std::size_t i = 0; i < use.cuts[kChannelDim].size(); ++i) {
      // The nearest output channel, and the input channel with which it begins.
      output.cuts[kChannelDim][i] = (use.cuts[kChannelDim][i] + offsets / 2) / offsets;
      use.cuts[kChannelDim][i] = output.cuts[kChannelDim][i] * offsets;
    }
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d)
      for (Index& cut : output.cuts[d])
        cut *= integer("upscale");
    form.uses.front() = Layout(std::move(use));
    form.output = Layout(std::move(output));
    return form;
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::string summary() const override { return fmt::format("by {}", integer("upscale")); }

  Example example(ExampleDraw& draw) const override {
    Shape shape = draw.shape(3, 5);
    const Index factor = draw.between(1, 3);
    shape[1] = draw.between(1, 3);
    for (std::size_t d = kFirstSpatial; d < shape.size(); ++d)
      shape[1] *= factor;
    return {{{"upscale", factor}}, {shape}};
  }

private:
  // The number of input channels per output channel, r^d.
  Index offsetsOf(const Shape& x) const {
    Index offsets = 1;
    for (int s = 0; s < spatialRankOf(x, title()); ++s)
      offsets = checkedProduct(offsets, integer("upscale"), "the channels that make one");
    return offsets;
  }
};

} // namespace

std::unique_ptr<Declaration> declarePixelShuffle() {
  return std::make_unique<PixelShuffle>();
}

} // namespace tenon
