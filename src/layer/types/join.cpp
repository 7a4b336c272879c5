// SPDX-License-Identifier: BSD-2-Clause
// Layers that join several inputs: sums, and a concatenation. The list of a sum is one conversion
// for each input, all of which add to the output, and a kernel only for a contribution that is
// broadcast or subtracted; a concatenation has one for each input, which writes its own part of the
// output and no more.
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/spread.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// One input's part of a concatenation, from an index of the local output on. Copying into a place
// is linear, so that the tangent places likewise; the adjoint takes out what was placed.
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
  // Writes zeros where there is no x, since no other kernel writes this part of y.
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

// An input as a contribution of a sum: a factor times it, broadcast over the output's box.
class Contribution final : public LinearKernel {
public:
  Contribution(SpreadOver over, double factor) : over_(std::move(over)), factor_(factor) {}
  void map(const DTensor& x, DTensor& y) override { over_.spread(factor_, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { over_.sum(factor_, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "element by element"; }

private:
  SpreadOver over_;
  double factor_;
};

std::unique_ptr<LocalKernel> makeContribution(const KernelSite& at) {
  return std::make_unique<Contribution>(
      SpreadOver(at.form.output.boxOfRank(at.rank()), at.reads().boxOfRank(at.rank())),
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
  Index begin = 0; // of the part on this rank
  for (int k = 0; k < at.number; ++k)
    begin += at.form.uses[k].boxOfRank(at.rank())[dim].size();
  return std::make_unique<Placement>(at.form.uses[at.number], at.rank(), dim, begin);
}

} // namespace tenon
