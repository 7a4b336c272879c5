// SPDX-License-Identifier: BSD-2-Clause
// A random mask by global position. The mask is not kept: an evaluation keeps the number of its
// draw, with which derivatives draw the same mask again, on any partition and on any number of
// ranks. An evaluation in which the layer is not in training keeps that nothing was drawn.
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
    // The strides are those of the whole tensor in row-major order, whatever a rank holds of it.
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
    if (!workspace) { // nothing is recorded
      if (unrecorded_.bytes() == 0)
        unrecorded_ = {sizeof(std::uint64_t), "dropout", y.context().memory()};
      workspace = &unrecorded_;
    }
    // All ranks count alike, as each Apply is a call of all of them, also on a rank without
    // elements.
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
  bool isRepeatable() const override { return false; } // the number of the draw differs
  std::string describe() const override { return "random mask by global position"; }

private:
  // With the mask given the map is diagonal, hence its own tangent and adjoint.
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
  std::vector<Index> strides_; // of the global array
  Index first_ = 0;            // global index of the first element
  Buffer unrecorded_;
};

} // namespace

std::unique_ptr<LocalKernel> makeDropoutKernel(const KernelSite& at) {
  const double rate = at.layer.declaration().value<double>("rate");
  return std::make_unique<LocalDropout>(at.layer, rate, at.use().shape(), at.input());
}

} // namespace tenon
