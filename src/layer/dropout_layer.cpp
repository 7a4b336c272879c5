// SPDX-License-Identifier: BSD-2-Clause
#include "layer/dropout_layer.hpp"

#include "layer/saved.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

namespace tenon {

class LocalDropout final : public OneInputKernel {
public:
  LocalDropout(DropoutLayer& layer, const Shape& shape, Box box)
      : layer_(layer), box_(std::move(box)), strides_(shape.size(), 1) {
    for (std::size_t d = shape.size() - 1; d-- > 0;)
      strides_[d] = strides_[d + 1] * shape[d + 1];
  }

  // The number of the Apply.
  Index workspaceBytes() const override { return sizeof(std::uint64_t); }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    if (workspace)
      mask(*workspace->data<std::uint64_t>() = layer_.applied_++, x, y);
    else
      copyLocal(x, y);
  }
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (dx)
      mask(*point.workspace->data<std::uint64_t>(), *dx, dy);
    else
      zeroLocal(dy);
  }
  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      mask(*point.workspace->data<std::uint64_t>(), dy, *dx);
  }
  std::string describe() const override { return "random mask by global position"; }

private:
  void mask(std::uint64_t number, const DTensor& x, DTensor& y) const {
    const std::uint64_t stream = layer_.stream_ + number;
    const double rate = layer_.rate_;
    visitFloating(x.dataType(), [&]<class T>(T) {
      const T* from = x.data<T>();
      T* to = y.mutableData<T>();
      const T scale = static_cast<T>(1 / (1 - rate));
      const Index run = box_.back().size();
      const Index rows = run > 0 ? x.localCells() / run : 0;
      for (Index row = 0; row < rows; ++row) {
        const Index first = globalIndex(row);
        for (Index i = 0; i < run; ++i, ++from, ++to)
          *to = uniformAt(layer_.seed_, stream, first + i) < rate ? T(0) : scale * *from;
      }
    });
  }

  // Of the first cell of a local row, rows counted in row-major order.
  Index globalIndex(Index row) const {
    Index index = box_.back().begin;
    for (std::size_t d = box_.size() - 1; d-- > 0;) {
      index += (box_[d].begin + row % box_[d].size()) * strides_[d];
      row /= box_[d].size();
    }
    return index;
  }

  DropoutLayer& layer_;
  Box box_;
  std::vector<Index> strides_;
};

DropoutLayer::DropoutLayer(CommPtr comm, double rate) : KernelLayer(std::move(comm)) {
  setRate(rate);
}

void DropoutLayer::setRate(double rate) {
  checkBeforeSetUp("TenonLayerSetRate()");
  if (!(rate >= 0 && rate < 1))
    throw Error(TENON_ERR_ARG,
                fmt::format("the rate of {} is {}; it must be in [0,1)", title(), rate));
  rate_ = rate;
}

void DropoutLayer::initialize(std::uint64_t seed, std::uint64_t stream, Fill fill) {
  KernelLayer::initialize(seed, stream, fill);
  if (hasSeed_ && fill == Fill::New)
    return;
  hasSeed_ = true;
  seed_ = seed;
  stream_ = streamOf(fmt::format("dropout {}", stream));
  applied_ = 0;
}

std::string DropoutLayer::ownSettings() const {
  return fmt::format("rate {}", rate_);
}

KernelPlan DropoutLayer::plan(const Layout& input) {
  const Layout plain = input.withoutMargins();
  const Signature chosen(elementwiseTable(input.rank(), true), input, signature(), title());
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&plain, d});
  const Layout use = makeLayout(input.shape(), input.meshPtr(), chosen.input(), same);
  return {
      chosen, use,
      use,    {},
      {},     std::make_unique<LocalDropout>(*this, input.shape(), use.boxOfRank(comm()->rank()))};
}

} // namespace tenon
