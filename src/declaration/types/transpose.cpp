// SPDX-License-Identifier: BSD-2-Clause
// Declares two types that rearrange elements without communication. The kernel of each is a single
// strided copy, which loops over the elements of y, with strides of x that are permuted to match.
// Arrays of the user can have any strides and need not be made contiguous first.
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
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
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

// Both directions loop over the extents of y, in the order of its dimensions.
template <class T>
class LocalTranspose final : public LinearKernel {
public:
  explicit LocalTranspose(std::vector<Index> inputDims) : inputDims_(std::move(inputDims)) {}

  void map(const LocalArray& x, LocalArray& y) override {
    copy(x, inOrderOfY(x).data(), y, y.strides(), y.extent());
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    copy(dy, dy.strides(), dx, inOrderOfY(dx).data(), dy.extent());
  }
  std::string describe() const override { return "local copy"; }

private:
  // The strides of x, one for each dimension of y.
  Strides inOrderOfY(const LocalArray& x) const {
    Strides strides{};
    for (std::size_t d = 0; d < inputDims_.size(); ++d)
      strides[d] = x.strides()[inputDims_[d]];
    return strides;
  }
  static void copy(const LocalArray& from, const Index* read, LocalArray& to, const Index* write,
                   std::span<const Index> extent) {
    if (to.elements() > 0)
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent.size()), extent.data(),
                   from.data<T>(), read, to.mutableData<T>(), write);
  }

  std::vector<Index> inputDims_; // for each dimension of y, the dimension of x
};

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
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTransposition(at.type, permutation());
  }
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

std::unique_ptr<ArrayKernel> makeTransposition(TenonDataType type, std::vector<Index> inputDims) {
  return makeTyped<LocalTranspose>(type, std::move(inputDims));
}

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

// In the copy each spatial dimension of y is split into two: the number of the block, and the
// offset within the block. For one spatial dimension and the factor r:
//
//   y[n, c, i r + o] = x[n, c r + o, i],   0 <= o < r
template <class T>
class LocalPixelShuffle final : public LinearKernel {
public:
  LocalPixelShuffle(const Box& y, Index factor) : factor_(factor) {
    extent_ = {y[0].size(), y[1].size()};
    for (std::size_t d = kFirstSpatial; d < y.size(); ++d) {
      extent_.push_back(y[d].size() / factor);
      extent_.push_back(factor);
      offsets_ *= factor;
    }
  }

  void map(const LocalArray& x, LocalArray& y) override { copy(x, ofInput(x), y, ofOutput(y)); }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    copy(dy, ofOutput(dy), dx, ofInput(dx));
  }
  std::string describe() const override { return "local copy"; }

private:
  // Strides of x and of y for the dimensions of the copy: [batch, output channels, blocks, offsets,
  // blocks, offsets, ...], with one pair (blocks, offsets) per spatial dimension.
  Strides ofInput(const LocalArray& x) const {
    Strides strides{x.strides()[0], x.strides()[1] * offsets_};
    // In x the offsets are consecutive channels, with the offset of the last dimension fastest.
    Index step = x.strides()[1] * offsets_;
    for (std::size_t k = 2; k < extent_.size(); k += 2) {
      step /= factor_;
      strides[k] = x.strides()[kFirstSpatial + (k - 2) / 2];
      strides[k + 1] = step;
    }
    return strides;
  }
  Strides ofOutput(const LocalArray& y) const {
    Strides strides{y.strides()[0], y.strides()[1]};
    for (std::size_t k = 2; k < extent_.size(); k += 2) {
      strides[k + 1] = y.strides()[kFirstSpatial + (k - 2) / 2];
      strides[k] = strides[k + 1] * factor_;
    }
    return strides;
  }
  void copy(const LocalArray& from, const Strides& read, LocalArray& to,
            const Strides& write) const {
    blockCombine(to.context(), Combine::Copy, static_cast<int>(extent_.size()), extent_.data(),
                 from.data<T>(), read.data(), to.mutableData<T>(), write.data());
  }

  Index factor_, offsets_ = 1; // offsets_: the elements of a block, factor^d
  Shape extent_;               // of the dimensions of the copy
};

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
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalPixelShuffle>(at.type, at.outputs(), integer("upscale"));
  }
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
