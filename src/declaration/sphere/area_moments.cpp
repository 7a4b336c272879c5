// SPDX-License-Identifier: BSD-2-Clause
// The moments of an instance norm on a globe: mean and variance of each channel of a sample over
// space, in which elements count by their area (area.hpp). Three kernels, between which the ranks
// add their results:
//
//   area mean       a = factor sum over this rank's elements of share_y x     -- sum --> mean
//   area variance   b = factor sum of share_y (x - mean)^2                    -- sum --> variance
//   area moments    M = mean and variance, one after the other
//
// The factor is 1 / the number of elements of a row, since the shares of rows sum to 1.
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/sphere/local_sum.hpp"
#include "kernels/elementwise/pointwise.hpp"

namespace tenon {

namespace {

// b from x (input 0) and the mean (input 1).
template <class T>
class LocalSquares final : public ArrayKernel {
public:
  LocalSquares(const Box& box, const std::vector<int>& places, double factor, const AreaRows& area,
               const KernelContextPtr& context)
      : broadcast_(box, places), factor_(factor), rowDim_(area.dim),
        shares_(sharesOf<T>(area, box[area.dim], *context)), extent_(extents(box)),
        strides_(rowMajorStrides(extent_)), context_(context) {
    ScratchPlan plan;
    offsets_ = {plan.add<T>(elements(extent_)), plan.add<T>(elements(extent_))};
    context_->reserve(plan);
  }

  void forward(Arrays x, KernelParameters, LocalArray& b, Buffer*) override {
    Scratch scratch(*this);
    weigh(x, scratch);
    broadcast_.sumOfProducts<T>(factor_, scratch.weighted, scratch.difference, b);
  }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& db) override {
    Scratch scratch(*this);
    weigh(at.inputs, scratch);
    if (dx[0])
      copyArray(dx[0], scratch.difference);
    else
      setZero(scratch.difference);
    if (dx[1])
      broadcast_.add<T>(-1, dx[1], scratch.difference);
    broadcast_.sumOfProducts<T>(2 * factor_, scratch.weighted, scratch.difference, db);
  }
  void adjoint(const SavedArrays& at, const LocalArray& db, KernelParameters,
               WrittenArrays dx) override {
    Scratch scratch(*this);
    weigh(at.inputs, scratch);
    broadcast_.spread<T>(2 * factor_, db, scratch.difference);
    if (dx[1])
      broadcast_.sumOfProducts<T>(-1, scratch.weighted, scratch.difference, dx[1]);
    if (dx[0])
      product<T>(*context_, elements(extent_), scratch.weighted.template data<T>(),
                 scratch.difference.template data<T>(), /*adds=*/false,
                 dx[0].template mutableData<T>());
  }
  std::string describe() const override { return "squares, by area"; }

private:
  // Arrays like x in scratch memory.
  struct Scratch {
    LocalArray::Memory memory[2];
    LocalArray difference, weighted;
    explicit Scratch(const LocalSquares& kernel) {
      for (int i = 0; i < 2; ++i)
        memory[i] = {kernel.context_->template scratch<T>(kernel.offsets_[i]), dataTypeOf<T>(),
                     kernel.extent_, kernel.strides_.data(), kernel.context_.get()};
      difference = LocalArray(memory[0]);
      weighted = LocalArray(memory[1]);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
  };

  // difference = x - mean, and weighted = share_y times it.
  void weigh(Arrays x, Scratch& scratch) const {
    copyArray(x[0], scratch.difference);
    broadcast_.add<T>(-1, x[1], scratch.difference);
    setZero(scratch.weighted);
    broadcast_.addWeightedRows<T>(rowDim_, shares_.data(), scratch.difference, scratch.weighted);
  }

  BroadcastMap broadcast_;
  double factor_;
  int rowDim_;
  ReadList<T> shares_;
  Shape extent_, strides_;
  KernelContextPtr context_;
  std::array<Index, 2> offsets_{};
};

// M from the mean (input 0) and the variance (input 1).
template <class T>
class BothMoments final : public ArrayKernel {
public:
  void forward(Arrays x, KernelParameters, LocalArray& moments, Buffer*) override {
    join(x, moments);
  }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters, LocalArray& moments) override {
    join(dx, moments);
  }
  void adjoint(const SavedArrays&, const LocalArray& moments, KernelParameters,
               WrittenArrays dx) override {
    const Index each = moments.elements() / 2;
    for (std::size_t i = 0; i < 2; ++i)
      if (dx[i])
        arrayCombine(moments.context(), Combine::Copy, each,
                     moments.data<T>() + static_cast<Index>(i) * each, dx[i].mutableData<T>());
  }
  std::string describe() const override { return "mean and variance"; }

private:
  static void join(Arrays parts, LocalArray& moments) {
    const Index each = moments.elements() / 2;
    setZero(moments);
    for (std::size_t i = 0; i < 2; ++i)
      if (parts[i])
        arrayCombine(moments.context(), Combine::Copy, each, parts[i].data<T>(),
                     moments.mutableData<T>() + static_cast<Index>(i) * each);
  }
};

} // namespace

std::unique_ptr<ArrayKernel> makeAreaMomentKernel(const KernelPlace& at, const AreaRows& area) {
  if (at.name() == "area moments")
    return visitFloating(at.type, []<class T>(T) -> std::unique_ptr<ArrayKernel> {
      return std::make_unique<BothMoments<T>>();
    });
  // The moments of [batch, channel, space...] are [1, batch, channel].
  const Shape& shape = at.reads().shape();
  std::vector<int> places(shape.size(), -1);
  places[0] = 1;
  places[1] = 2;
  double factor = 1;
  for (int d = 2; d < static_cast<int>(shape.size()); ++d)
    factor /= d == area.dim ? 1 : double(shape[d]);
  const Box box = at.reads().boxOfRank(at.rank);
  if (at.name() == "area mean")
    return makeTyped<LocalSum>(at.type, box, places, factor, std::optional(area), *at.context);
  return makeTyped<LocalSquares>(at.type, box, places, factor, area, at.context);
}

} // namespace tenon
