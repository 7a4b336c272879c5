// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of coordinates: with the setting `append` it copies the channels of the input, and
// it writes one channel per coordinate after them. A coordinate depends on the position along one
// spatial dimension, such as (i + 1/2) / n for cells. It is stored as a one-dimensional array,
// which is broadcast over batch and the other dimensions by strides of 0.
#include "declaration/core/window_layout.hpp"
#include "dtensor/fill.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalCoordinates final : public OneInputKernel {
public:
  explicit LocalCoordinates(const KernelSite& at) : extent_(extents(at.outputs())) {
    const Box y = at.outputs();
    const bool appends = at.layer.declaration().value<bool>("append");
    extent_[1] = appends ? at.input()[1].size() : 0;
    channel_ = extent_;
    channel_[1] = 1;
    const std::string points = at.layer.declaration().value<std::string>("points");
    const double shift = points == "cells" ? 0.5 : 0;
    for (Index c = y[1].begin + extent_[1]; c < y[1].end; ++c) {
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
      combine(channel_, *values, begin, along, y, (extent_[1] + Index(k)) * y.strides()[1]);
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
    int dim;
    Index begin; // first of this rank's points
    Ref<DTensor> values;
  };

  void copyChannels(const DTensor& from, DTensor& to) const {
    combine(extent_, from, 0, from.strides(), to, 0);
  }
  static void combine(const Shape& extent, const DTensor& from, Index first, const Strides& read,
                      DTensor& to, Index at) {
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, to.rank(), extent.data(), from.data<T>() + first,
                   read.data(), to.mutableData<T>() + at, to.strides().data());
    });
  }

  Shape extent_, channel_; // of this rank's input channels, and of one channel
  std::vector<Coordinate> coordinates_;
};

} // namespace

std::unique_ptr<LocalKernel> makeCoordinatesKernel(const KernelSite& at) {
  return std::make_unique<LocalCoordinates>(at);
}

} // namespace tenon
