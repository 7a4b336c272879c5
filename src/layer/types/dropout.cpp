// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of dropout: a random mask, which is a function of (seed, number of the evaluation,
// global position of the element) and therefore independent of partition and number of ranks. The
// mask is not saved: an evaluation saves its number, from which derivatives draw the same mask
// again. Outside training, kNoDraw is saved.
#include "kernels/elementwise/dropout.hpp"
#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalDropout final : public OneInputKernel {
public:
  LocalDropout(Layer& layer, double rate, const Shape& shape, const Box& box)
      : layer_(layer), random_(layer.randomState()), rate_(rate), extent_(extents(box)),
        strides_(shape.size(), 1) {
    // The strides of the whole tensor in row-major order, which define global positions.
    for (std::size_t d = shape.size() - 1; d-- > 0;)
      strides_[d] = strides_[d + 1] * shape[d + 1];
    for (std::size_t d = 0; d < shape.size(); ++d)
      first_ += box[d].begin * strides_[d];
  }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    if (!layer_.isTraining()) {
      if (workspace)
        keepCounter(y.context(), kNoDraw, workspace->data<std::uint64_t>());
      return copyLocal(x, y);
    }
    if (!workspace) { // not recorded: no derivative will read the number
      if (unrecorded_.bytes() == 0)
        unrecorded_ = {sizeof(std::uint64_t), "dropout", y.context().memory()};
      workspace = &unrecorded_;
    }
    // All ranks count alike, even without elements, because Apply is collective.
    keepCounter(y.context(), random_.applied++, workspace->data<std::uint64_t>());
    mask(workspace, x, y);
  }
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (dx)
      mask(point.workspace, *dx, dy);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      mask(point.workspace, dy, *dx);
  }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; } // the number of the draw changes
  std::string describe() const override { return "random mask by global position"; }

private:
  // For a fixed mask the map is diagonal, hence its own tangent and adjoint.
  void mask(Buffer* number, const DTensor& x, DTensor& y) const {
    visitFloating(x.dataType(), [&]<class T>(T) {
      applyDropout<T>(y.context(), {random_.seed, random_.stream, rate_},
                      number->data<std::uint64_t>(), static_cast<int>(extent_.size()),
                      extent_.data(), first_, strides_.data(), x.data<T>(), y.mutableData<T>());
    });
  }

  const Layer& layer_;
  Layer::RandomState& random_;
  double rate_;
  Shape extent_;
  std::vector<Index> strides_; // of the global tensor
  Index first_ = 0;            // global position of the first element
  Buffer unrecorded_;
};

} // namespace

std::unique_ptr<LocalKernel> makeDropoutKernel(const KernelSite& at) {
  const double rate = at.layer.declaration().value<double>("rate");
  return std::make_unique<LocalDropout>(at.layer, rate, at.use().shape(), at.input());
}

} // namespace tenon
