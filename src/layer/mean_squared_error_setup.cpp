// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss.hpp"

#include "dtensor/host_view.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/reduce.hpp"
#include "layer/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// addend = sum (x - t)^2 / N over this rank's cells. The difference is all that the derivative needs.
class SquaredError final : public OneInputKernel {
public:
  SquaredError(const Layout& use, Index cells, TenonDataType type,
               std::shared_ptr<const TargetUse> target)
      : cells_(cells), type_(type), target_(std::move(target)) {
    for (Index extent : use.shape())
      count_ *= static_cast<double>(extent);
  }

  void forward(const DTensor& x, ParameterUses&, DTensor& addend, Buffer* workspace) override {
    const Index bytes = cells_ * dataTypeSize(type_);
    if (!workspace && inference_.bytes() < bytes)
      inference_ = Buffer(bytes, "mean squared error difference");
    visitFloating(type_, [&]<class T>(T) {
      T* d = (workspace ? workspace : &inference_)->data<T>();
      visitFloating(target_->value().dataType(), [&]<class U>(U) {
        difference(x.context(), cells_, x.data<T>(), target_->value().data<U>(), d);
      });
      setNumber(addend, sumSquares<T>(x.context(), cells_, d) / count_);
    });
  }
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses&,
               DTensor& addend) override {
    visitFloating(type_, [&]<class T>(T) {
      const T* d = point.workspace->data<T>();
      setNumber(addend, dx ? 2 * dot<T>(dx->context(), cells_, d, dx->data<T>()) / count_ : 0);
    });
  }
  void adjoint(const KernelPoint& point, const DTensor& dAddend, ParameterUses&,
               DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(type_, [&]<class T>(T) {
      axpby<T>(dx->context(), cells_, static_cast<T>(2 * numberOf(dAddend) / count_),
               point.workspace->data<T>(), T(0), dx->mutableData<T>());
    });
  }
  std::string describe() const override { return "squared difference"; }

private:
  Index cells_;
  TenonDataType type_;
  std::shared_ptr<const TargetUse> target_;
  double count_ = 1; // of the elements of the whole input
  Buffer inference_; // the difference, where no frame keeps it
};

} // namespace

std::unique_ptr<Setup> setUpMeansquarederror(Layer& layer, const Layouts& inputs) {
  const Form form = layer.form(inputs);
  const Layout& use = form.uses.front();
  return setUpLoss(layer, form, [&](int, const Sources& sources) {
    return std::make_unique<SquaredError>(
        use, cells(use.boxOfRank(layer.comm()->rank())), layer.dataType(),
        std::static_pointer_cast<const TargetUse>(sources.front()));
  });
}

} // namespace tenon
