// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of global average pooling, and of the layer type `reduce`, which sums x, averages x
// or takes its maximum over chosen dimensions (second half of the file).
//
// In global average pooling, a plane is the spatial elements of one sample and channel; its mean is
// computed as the sum over this rank's elements, divided by the number of elements of the whole
// plane. If a plane is split over ranks, the layer adds these contributions afterwards to its mean.
#include "declaration/core/window_layout.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/elementwise/selection.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/types/broadcast_map.hpp"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Works on this rank's arrays, viewed as [planes, elements of a plane]. The array with one number
// per plane has the strides {1, 0}: the same number is combined with all elements of the plane.
// Apply adds the elements to this number, and the adjoint adds the number to the elements.
class LocalGlobalPooling final : public LinearKernel {
public:
  LocalGlobalPooling(const Box& x, Index elementsOfWholePlane)
      : extent_{x[0].size() * x[1].size(), 1}, factor_(1 / double(elementsOfWholePlane)) {
    for (std::size_t d = kFirstSpatial; d < x.size(); ++d)
      extent_[1] *= x[d].size();
    elementStrides_[0] = extent_[1];
  }

  void map(const DTensor& x, DTensor& y) override { add(x, elementStrides_, y, kPlaneStrides); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    add(dy, kPlaneStrides, dx, elementStrides_);
  }
  std::string describe() const override { return "sums of planes"; }
  bool runsOnDevice() const override { return true; }

private:
  using Steps = std::array<Index, 2>;
  static constexpr Steps kPlaneStrides = {1, 0};

  void add(const DTensor& from, const Steps& read, DTensor& to, const Steps& write) const {
    scaleArray(0, to);
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockMultiplyAdd<T>(to.context(), 2, extent_.data(), static_cast<T>(factor_), nullptr,
                          nullptr, from.data<T>(), read.data(), to.mutableData<T>(), write.data());
    });
  }

  Steps extent_, elementStrides_ = {0, 1};
  double factor_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeGlobalAveragePoolingKernel(const KernelSite& at) {
  const Shape& shape = at.form.inputs.front().shape();
  return std::make_unique<LocalGlobalPooling>(
      at.input(), elements(Shape(shape.begin() + kFirstSpatial, shape.end())));
}

// Kernels of `reduce`, which sums x, averages x or takes its maximum over some dimensions. A sum is
// the adjoint of a broadcast (LocalSum). For a maximum, the derivative is shared equally among the
// K elements that have the maximal value; each line below is one kernel:
//
//   maxima   m = maximum of this rank's elements          -- maximum over ranks -->
//   largest  w = 1 where x = m, else 0
//   count    K = sum of w                                 -- sum over ranks -->
//   shares   v = w / K
//   slopes   s = 0 with the derivative ds = sum of v dx   -- sum over ranks -->
//
// The sum m + s then has the value of the maximum and the derivative of s.

namespace {

class LocalSum final : public LinearKernel {
public:
  LocalSum(BroadcastMap broadcast, double factor)
      : broadcast_(std::move(broadcast)), factor_(factor) {}
  void map(const DTensor& x, DTensor& y) override { broadcast_.sum(factor_, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { broadcast_.spread(factor_, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local sums"; }

private:
  BroadcastMap broadcast_;
  double factor_;
};

// Maxima of this rank's elements; -infinity if it has none.
class LocalMaxima final : public FixedKernel {
public:
  explicit LocalMaxima(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(m.dataType(), [&]<class T>(T) {
      fillBlock(m.context(), m.rank(), m.extent().data(), -std::numeric_limits<T>::infinity(),
                m.mutableData<T>(), m.strides().data());
    });
    broadcast_.raiseToLargest(*x[0], m);
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local maxima"; }

private:
  BroadcastMap broadcast_;
};

// w = 1 for elements x[0] that equal their maximum x[1], else 0.
class Largest final : public FixedKernel {
public:
  explicit Largest(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& w, Buffer*) override {
    broadcast_.spread(1, *x[1], w);
    visitFloating(w.dataType(), [&]<class T>(T) {
      T* values = w.mutableData<T>();
      compareElements<T>(w.context(), Relation::Equal, w.localElements(), x[0]->data<T>(), values,
                         values);
    });
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "largest elements"; }

private:
  BroadcastMap broadcast_;
};

// v = w / K, from w (x[0]) and the numbers K of largest elements (x[1]).
class Shares final : public FixedKernel {
public:
  explicit Shares(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& v, Buffer*) override {
    broadcast_.spread(1, *x[1], v);
    visitFloating(v.dataType(), [&]<class T>(T) {
      T* values = v.mutableData<T>();
      pointwiseForward<T>(v.context(), Pointwise::Reciprocal, v.localElements(), values, values);
      product<T>(v.context(), v.localElements(), x[0]->data<T>(), values, /*adds=*/false, values);
    });
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "shares"; }

private:
  BroadcastMap broadcast_;
};

// s = 0 with the derivative ds = sum of v dx, from the elements x (input 0) and the shares v (input
// 1).
class Slopes final : public LocalKernel {
public:
  explicit Slopes(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}

  void forwardMany(Inputs, ParameterUses&, DTensor& s, Buffer*) override { scaleArray(0, s); }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& ds) override {
    if (dx[0])
      broadcast_.sumOfProducts(1, at.inputs[1], *dx[0], ds);
    else
      scaleArray(0, ds);
  }
  void adjointMany(const KernelPoint& at, const DTensor& ds, ParameterUses&,
                   InputCotangents dx) override {
    if (!dx[0])
      return;
    const DTensor& shares = *at.inputs[1];
    broadcast_.spread(1, ds, *dx[0]);
    visitFloating(ds.dataType(), [&]<class T>(T) {
      T* values = dx[0]->mutableData<T>();
      product<T>(ds.context(), shares.localElements(), shares.data<T>(), values, /*adds=*/false,
                 values);
    });
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "shared among the largest"; }

private:
  BroadcastMap broadcast_;
};

// The output dimension of each input dimension, or -1 if it is reduced. For x [A,B,C] reduced over
// dimension 1: {0, -1, 1}, or {0, -1, 2} if dimension 1 remains with extent 1 (keep_dims).
std::vector<int> placesOf(const Declaration& layer, int rank) {
  const auto reduced = layer.value<std::vector<Index>>("dims");
  const bool keepDims = layer.value<bool>("keep_dims");
  std::vector<int> places;
  int next = 0;
  for (int d = 0; d < rank; ++d) {
    const bool isReduced = std::ranges::find(reduced, Index(d)) != reduced.end();
    places.push_back(isReduced ? -1 : next);
    next += !isReduced || keepDims;
  }
  return places;
}

} // namespace

std::unique_ptr<LocalKernel> makeReduceKernel(const KernelSite& at) {
  const Layout& use = at.form.uses.front();
  const Declaration& layer = at.layer.declaration();
  BroadcastMap broadcast(use.boxOfRank(at.rank()), placesOf(layer, use.rank()));
  if (at.name() == "maxima")
    return std::make_unique<LocalMaxima>(std::move(broadcast));
  if (at.name() == "largest")
    return std::make_unique<Largest>(std::move(broadcast));
  if (at.name() == "shares")
    return std::make_unique<Shares>(std::move(broadcast));
  if (at.name() == "slopes")
    return std::make_unique<Slopes>(std::move(broadcast));
  const bool isMean = at.name() != "count" && layer.value<std::string>("method") == "mean";
  double factor = 1;
  for (Index d : layer.value<std::vector<Index>>("dims"))
    factor /= isMean ? double(use.shape()[d]) : 1;
  return std::make_unique<LocalSum>(std::move(broadcast), factor);
}

} // namespace tenon
