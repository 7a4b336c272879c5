// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of layers with several inputs. A sum is one conversion per input, all adding to the
// output, plus a kernel only for inputs that are broadcast or subtracted. A concatenation has one
// kernel per input, which writes only its own part of the output.
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/broadcast_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Copies one input to its part of a concatenation, from local index `begin` on. The tangent copies
// in the same way; the adjoint copies the part back.
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

// An input as a contribution to a sum: multiplied by a factor and broadcast over the output's box.
class Contribution final : public LinearKernel {
public:
  Contribution(BroadcastMap over, double factor) : over_(std::move(over)), factor_(factor) {}
  void map(const DTensor& x, DTensor& y) override { over_.spread(factor_, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { over_.sum(factor_, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "element by element"; }

private:
  BroadcastMap over_;
  double factor_;
};

std::unique_ptr<LocalKernel> makeContribution(const KernelSite& at) {
  return std::make_unique<Contribution>(
      BroadcastMap(at.form.output.boxOfRank(at.rank()), at.reads().boxOfRank(at.rank())),
      at.name() == "minus" ? -1 : 1);
}

} // namespace

std::unique_ptr<LocalKernel> makeAddKernel(const KernelSite& at) {
  return makeContribution(at);
}

std::unique_ptr<LocalKernel> makeSubtractKernel(const KernelSite& at) {
  return makeContribution(at);
}

std::unique_ptr<LocalKernel> makeConcatenateKernel(const KernelSite& at) {
  const int dim = static_cast<int>(at.layer.declaration().value<Index>("dim"));
  Index begin = 0; // local index of the part
  for (int k = 0; k < at.number; ++k)
    begin += at.form.uses[k].boxOfRank(at.rank())[dim].size();
  return std::make_unique<Placement>(at.form.uses[at.number], at.rank(), dim, begin);
}

} // namespace tenon
