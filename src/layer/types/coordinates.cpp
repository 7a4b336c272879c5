// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of coordinates, which gives a network the position of each point. From x [batch, C,
// height, width] it makes y [batch, C + 2, height, width]: the C channels of x (only if the setting
// `append` is true), then a channel with the row coordinate and a channel with the column
// coordinate. The setting `points` selects the coordinate of index i of n:
//
//   cells (i + 1/2) / n        nodes i / (n - 1)        periodic i / n
//
// A coordinate depends on the index along one spatial dimension only. It is stored as a
// one-dimensional array for all n indices on every rank, and the copy to y broadcasts it over batch
// and the other dimensions with strides of 0. If the channels are split over ranks, the rank with
// the last channels of x writes the coordinates.
#include "declaration/core/window_layout.hpp"
#include "dtensor/fill.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalCoordinates final : public OneInputKernel {
public:
  explicit LocalCoordinates(const KernelSite& at) : inputExtent_(extents(at.outputs())) {
    const Box y = at.outputs(); // this rank's box, in global indices
    const bool appends = at.layer.declaration().value<bool>("append");
    inputExtent_[1] = appends ? at.input()[1].size() : 0;
    channelExtent_ = inputExtent_;
    channelExtent_[1] = 1;
    const std::string points = at.layer.declaration().value<std::string>("points");
    const double shift = points == "cells" ? 0.5 : 0;
    for (Index c = y[1].begin + inputExtent_[1]; c < y[1].end; ++c) {
      const int dim = static_cast<int>(appends ? c - at.use().shape()[1] : c) + kFirstSpatial;
      const Index n = at.use().shape()[dim], steps = points == "nodes" && n > 1 ? n - 1 : n;
      const auto values = makeRef<DTensor>(
          at.layer.comm(),
          Layout({{n}, Grid::make({at.layer.comm()->size()}), {Property::broadcast()}}),
          at.layer.dataType(), at.layer.space());
      fillByIndex(*values, [=](Index i) { return (double(i) + shift) / double(steps); });
      coordinates_.push_back({dim, y[dim].begin, values});
    }
  }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    copyChannels(x, y);
    for (std::size_t k = 0; k < coordinates_.size(); ++k) {
      const auto& [dim, begin, values] = coordinates_[k];
      Strides along{};
      along[dim] = 1;
      copyBox(channelExtent_, *values, begin, along, y,
              (inputExtent_[1] + Index(k)) * y.strides()[1]);
    }
  }
  // Coordinates are constants: their tangent is zero, and they have no cotangent.
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    scaleArray(0, dy);
    if (dx)
      copyChannels(*dx, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      copyChannels(dy, *dx);
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local copy"; }

private:
  struct Coordinate {
    int dim;             // the dimension of y along which it varies
    Index begin;         // first index of this rank
    Ref<DTensor> values; // for all indices of the dimension
  };

  void copyChannels(const DTensor& from, DTensor& to) const {
    copyBox(inputExtent_, from, /*offsetFrom=*/0, from.strides(), to, /*offsetTo=*/0);
  }
  static void copyBox(const Shape& extent, const DTensor& from, Index offsetFrom,
                      const Strides& read, DTensor& to, Index offsetTo) {
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, to.rank(), extent.data(),
                   from.data<T>() + offsetFrom, read.data(), to.mutableData<T>() + offsetTo,
                   to.strides().data());
    });
  }

  Shape inputExtent_;   // of this rank's part of y with the channels of x
  Shape channelExtent_; // of this rank's part of one channel
  std::vector<Coordinate> coordinates_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeCoordinatesKernel(const KernelSite& at) {
  return std::make_unique<LocalCoordinates>(at);
}

} // namespace tenon
