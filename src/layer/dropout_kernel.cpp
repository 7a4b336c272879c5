// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer_types.hpp"
#include "layer/saved.hpp"
#include "sys/random.hpp"

namespace tenon {

namespace {

// The mask is drawn by (seed, stream of the layer and number of the Apply, global index), so it does
// not depend on the partition, and the derivatives draw it again instead of keeping it.
class LocalDropout final : public OneInputKernel {
public:
  LocalDropout(Layer::RandomState& random, double rate, const Shape& shape, Box box)
      : random_(random), rate_(rate), box_(std::move(box)), strides_(shape.size(), 1) {
    for (std::size_t d = shape.size() - 1; d-- > 0;)
      strides_[d] = strides_[d + 1] * shape[d + 1];
  }

  // The number of the Apply.
  Index workspaceBytes() const override { return sizeof(std::uint64_t); }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    if (workspace)
      mask(*workspace->data<std::uint64_t>() = random_.applied++, x, y);
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
    const std::uint64_t stream = random_.stream + number;
    const double rate = rate_;
    visitFloating(x.dataType(), [&]<class T>(T) {
      const T* from = x.data<T>();
      T* to = y.mutableData<T>();
      const T scale = static_cast<T>(1 / (1 - rate));
      const Index run = box_.back().size();
      const Index rows = run > 0 ? x.localCells() / run : 0;
      for (Index row = 0; row < rows; ++row) {
        const Index first = globalIndex(row);
        for (Index i = 0; i < run; ++i, ++from, ++to)
          *to = uniformAt(random_.seed, stream, first + i) < rate ? T(0) : scale * *from;
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

  Layer::RandomState& random_;
  double rate_;
  Box box_;
  std::vector<Index> strides_;
};

} // namespace

std::unique_ptr<LocalKernel> makeDropoutKernel(Layer& layer, const Form&, const Layout& use,
                                               const Box&) {
  const double rate = layer.declaration().value<double>("rate");
  return std::make_unique<LocalDropout>(layer.randomState(), rate, use.shape(),
                                        use.boxOfRank(layer.comm()->rank()));
}

} // namespace tenon
