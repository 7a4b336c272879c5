// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of add, subtract and concatenate. Each kernel processes one input of the layer:
//
//   Contribution   writes a term of a sum: factor * input, with the factor 1 or -1, repeated along
//                  dimensions in which the input has extent 1 (broadcasting). Only subtracted and
//                  broadcast inputs have this kernel. The sum itself needs none: each term is added
//                  to y by the conversion that redistributes it to the layout of y.
//   Placement      copies its input to its range of a concatenation. Two inputs [4,2] and [4,3],
//                  concatenated along dimension 1, are columns 0-1 and columns 2-4 of y [4,5].
//
// Both are linear: the tangent is the same operation, and the adjoint sums or copies back.
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/broadcast_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Copies one input to its part of a concatenation, which begins at local index `begin` of dimension
// `dim` of y. The kernels of the other inputs write the other parts.
class Placement final : public OneInputKernel {
public:
  Placement(const Layout& part, int rank, int dim, Index begin)
      : extent_(boxExtent(part, rank)), dim_(dim), begin_(begin) {}

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override { place(&x, y); }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    place(dx, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (!dx || dx->localElements() == 0)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      copy(dy.context(), dy.data<T>() + offset(dy), dy.strides().data(), dx->mutableData<T>(),
           dx->strides().data());
    });
  }
  std::string describe() const override { return "copy"; }
  bool runsOnDevice() const override { return true; }

private:
  static Shape boxExtent(const Layout& part, int rank) {
    Shape extent;
    for (const Interval& side : part.boxOfRank(rank))
      extent.push_back(side.size());
    return extent;
  }
  Index offset(const DTensor& y) const { return begin_ * y.strides()[dim_]; }
  template <class T>
  void copy(KernelContext& context, const T* x, const Index* xs, T* y, const Index* ys) const {
    blockCombine(context, Combine::Copy, static_cast<int>(extent_.size()), extent_.data(), x, xs, y,
                 ys);
  }
  // Writes zeros if x is null, since no other kernel writes this part of y.
  void place(const DTensor* x, DTensor& y) const {

    if (std::find(extent_.begin(), extent_.end(), 0) != extent_.end())
      return;
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* place = y.mutableData<T>() + offset(y);
      if (x)
        copy(y.context(), x->data<T>(), x->strides().data(), place, y.strides().data());
      else
        fillBlock(y.context(), static_cast<int>(extent_.size()), extent_.data(), T(0), place,
                  y.strides().data());
    });
  }

  Shape extent_;
  int dim_;
  Index begin_;
};

// An input as a term of a sum: multiplied by a factor and broadcast over this rank's box of y.
class Contribution final : public LinearKernel {
public:
  Contribution(BroadcastMap broadcast, double factor)
      : broadcast_(std::move(broadcast)), factor_(factor) {}
  void map(const DTensor& x, DTensor& y) override { broadcast_.spread(factor_, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { broadcast_.sum(factor_, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "element by element"; }

private:
  BroadcastMap broadcast_;
  double factor_;
};

std::unique_ptr<LocalKernel> makeContribution(const KernelSite& at) {
  return std::make_unique<Contribution>(
      BroadcastMap(at.form.output.boxOfRank(at.rank()), at.reads().boxOfRank(at.rank())),
      at.name() == "minus" ? -1 : 1);
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeAddKernel(const KernelSite& at) {
  return makeContribution(at);
}

std::unique_ptr<LocalKernel> makeSubtractKernel(const KernelSite& at) {
  return makeContribution(at);
}

std::unique_ptr<LocalKernel> makeConcatenateKernel(const KernelSite& at) {
  const int dim = static_cast<int>(at.layer.declaration().value<Index>("dim"));
  // The part begins after those of the previous inputs, of which this rank's box of y contains
  // exactly the elements that this rank has of these inputs.
  Index begin = 0;
  for (int k = 0; k < at.number; ++k)
    begin += at.form.uses[k].boxOfRank(at.rank())[dim].size();
  return std::make_unique<Placement>(at.form.uses[at.number], at.rank(), dim, begin);
}

} // namespace tenon
