// SPDX-License-Identifier: BSD-2-Clause
// Declares global average pooling over space, y[n,c,0,...] = 1/N sum over s of x[n,c,s]. The type
// reduce (types/reduce.cpp) is over any dimensions.
//
// N is the global number of elements. On a globe it can weight the elements by their area instead
// (sphere/area.hpp). If space is split over ranks, each rank's result is its contribution to the
// mean, y is a partial sum, and the layer itself does not communicate: the next layer that needs
// the mean sums the contributions.
//
// Labels, which state what an axis of the process grid does: n (splits the batch), c (channels),
// d/h/w (space; y is a partial sum), B (replicates x and y), R (holds them on its root only), P (x
// and y are partial sums).
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/sphere/local_sum.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
      // By dimension of x: the dimension of y to which it belongs, or -1 if it is summed.
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

} // namespace tenon
