// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of dropout: in training, y = 0 with probability `rate`, else x / (1 - rate); in
// inference y = x. The random mask is a function of (seed, number of the evaluation, global
// position of the element). It is therefore the same for any partition and any number of ranks.
// makeDropoutKernel() is declared in core/layer_types.hpp.
//
// The mask is not saved for the derivatives. Apply saves only the number of its evaluation (one
// integer), from which tangent and adjoint draw the same mask again. In inference it saves kNoDraw,
// which means that nothing was dropped.
#include "kernels/elementwise/dropout.hpp"
#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalDropout final : public OneInputKernel {
public:
  LocalDropout(Layer& layer, double rate, const Shape& shape, const Box& box)
      : layer_(layer), random_(layer.randomState()), rate_(rate), boxExtent_(extents(box)),
        globalStrides_(shape.size(), 1) {
    // The strides of the whole tensor in row-major order, which define global positions.
    for (std::size_t d = shape.size() - 1; d-- > 0;)
      globalStrides_[d] = globalStrides_[d + 1] * shape[d + 1];
    for (std::size_t d = 0; d < shape.size(); ++d)
      firstPosition_ += box[d].begin * globalStrides_[d];
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
  // Multiplies x by the mask of the evaluation whose number is in the buffer. For a fixed mask this
  // map is linear and diagonal, so tangent and adjoint are the same map.
  void mask(Buffer* number, const DTensor& x, DTensor& y) const {
    visitFloating(x.dataType(), [&]<class T>(T) {
      applyDropout<T>(y.context(), {.seed = random_.seed, .stream = random_.stream, .rate = rate_},
                      number->data<std::uint64_t>(), static_cast<int>(boxExtent_.size()),
                      boxExtent_.data(), firstPosition_, globalStrides_.data(), x.data<T>(),
                      y.mutableData<T>());
    });
  }

  const Layer& layer_;
  Layer::RandomState& random_; // seed and number of evaluations, shared by all set-ups of the layer
  double rate_;
  Shape boxExtent_;                  // of this rank's box
  std::vector<Index> globalStrides_; // of the global tensor
  Index firstPosition_ = 0;          // global position of the first element
  Buffer unrecorded_;                // for the number of an evaluation without derivatives
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeDropoutKernel(const KernelSite& at) {
  const double rate = at.layer.declaration().value<double>("rate");
  return std::make_unique<LocalDropout>(at.layer, rate, at.use().shape(), at.input());
}

} // namespace tenon
