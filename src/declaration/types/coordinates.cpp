// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `coordinates`, which gives a network the position of each grid point. For an
// input [batch, C, space...] with d spatial dimensions, the output has, optionally, the C channels
// of the input, followed by d channels: channel C + k holds coordinate k of each point (see
// kCoordinateSettings). declareCoordinates() is declared in core/types.hpp.
//
// The rank whose block has the input's last channel also has the channels of coordinates, which it
// computes from global indices without communication. With C = 5 in two dimensions, channels split
// at 0, 3, 5 become channels split at 0, 3, 7.
//
// Labels, which state what a grid axis does to x and y: n (splits the batch), c (channels), d/h/w
// (a spatial dimension), B (replicates them), R (holds them on its root only). A partial sum is
// summed first, because the coordinates must be added only once.
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/text/text.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kCoordinateSettings[] = {
    {"points", OptionSpec::Choice, "cells",
     "coordinate of point i of n: cells = (i + 1/2) / n, the centre of a cell; nodes = "
     "i / (n - 1), from boundary to boundary; periodic = i / n",
     "cells|nodes|periodic"},
    {"append", OptionSpec::Flag, "true",
     "whether the channels of the input come first; false: the coordinates alone"}};

// A coordinate depends on the index along one spatial dimension only. It is stored as a
// one-dimensional list for this rank's indices, and the copy to y broadcasts it over batch and the
// other dimensions with strides of 0.
template <class T>
class LocalCoordinates final : public ArrayKernel {
public:
  LocalCoordinates(const KernelPlace& at, bool appends, const std::string& points)
      : inputExtent_(extents(at.outputs())) {
    const Box y = at.outputs(); // this rank's box, in global indices
    inputExtent_[1] = appends ? at.input()[1].size() : 0;
    channelExtent_ = inputExtent_;
    channelExtent_[1] = 1;
    const double shift = points == "cells" ? 0.5 : 0;
    for (Index c = y[1].begin + inputExtent_[1]; c < y[1].end; ++c) {
      const int dim = static_cast<int>(appends ? c - at.use().shape()[1] : c) + kFirstSpatial;
      const Index n = at.use().shape()[dim], steps = points == "nodes" && n > 1 ? n - 1 : n;
      std::vector<T> values;
      for (Index i = y[dim].begin; i < y[dim].end; ++i)
        values.push_back(static_cast<T>((double(i) + shift) / double(steps)));
      coordinates_.push_back({.dim = dim, .values = ReadList<T>(*at.context, std::move(values))});
    }
  }

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    copyChannels(x[0], y);
    for (std::size_t k = 0; k < coordinates_.size(); ++k) {
      Strides along{};
      along[coordinates_[k].dim] = 1;
      copy(channelExtent_, coordinates_[k].values.data(), along.data(), y,
           y.mutableData<T>() + (inputExtent_[1] + Index(k)) * y.strides()[1]);
    }
  }
  // Coordinates are constants: their tangent is zero, and they have no cotangent.
  void tangent(const SavedArrays&, Arrays dx, KernelParameters, LocalArray& dy) override {
    setZero(dy);
    if (dx[0])
      copyChannels(dx[0], dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      copyChannels(dy, dx[0]);
  }
  std::string describe() const override { return "local copy"; }

private:
  struct Coordinate {
    int dim; // the dimension of y along which it varies
    ReadList<T> values;
  };

  void copyChannels(const LocalArray& from, LocalArray& to) const {
    if (inputExtent_[1] > 0)
      copy(inputExtent_, from.data<T>(), from.strides(), to, to.mutableData<T>());
  }
  static void copy(const Shape& extent, const T* from, const Index* read, const LocalArray& to,
                   T* first) {
    blockCombine(to.context(), Combine::Copy, to.ndim(), extent.data(), from, read, first,
                 to.strides());
  }

  Shape inputExtent_;   // of this rank's part of y with the channels of x
  Shape channelExtent_; // of this rank's part of one channel
  std::vector<Coordinate> coordinates_;
};

class Coordinates final : public Elementwise {
public:
  Coordinates() : Elementwise("coordinates", kCoordinateSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    Shape shape = inputs.front();
    const int spatial = spatialRankOf(shape, title());
    shape[1] = checkedSum(flag("append") ? shape[1] : 0, spatial, "the channels of coordinates");
    return shape;
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return imageTable(spatialRankOf(inputs.front(), title()), isLinear());
  }
  // The output has the layout of the input, with more channels in its last block of channels.
  // Without the channels of the input, the other blocks are empty.
  Form form(const Layouts& inputs, const Choice& choice) const override {
    Form form = Elementwise::form(inputs, choice);
    LayoutSpec spec = form.output.spec();
    spec.shape = outputShape({spec.shape});
    if (!flag("append"))
      std::ranges::fill(spec.cuts[kChannelDim], 0);
    spec.cuts[kChannelDim].back() = spec.shape[kChannelDim];
    form.output = Layout(std::move(spec));
    return form;
  }
  // isSource: the kernel does not read the input if only the coordinates are returned.
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .anyStrides = true, .isSource = !flag("append")};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalCoordinates>(at.type, at, flag("append"), text("points"));
  }
  std::string summary() const override { return text("points"); }
  Example example(ExampleDraw& draw) const override {
    return {{{"points", std::string(draw.of({"cells", "nodes", "periodic"}))},
             {"append", draw.chance(80)}},
            {draw.shape(3, 5)}};
  }

private:
  bool isLinear() const override { return false; }
};

} // namespace

std::unique_ptr<Declaration> declareCoordinates() {
  return std::make_unique<Coordinates>();
}

} // namespace tenon
