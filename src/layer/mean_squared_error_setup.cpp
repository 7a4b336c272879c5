// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss_value.hpp"

#include "declaration/signature.hpp"
#include "kernels/pointwise.hpp"
#include "kernels/reduce.hpp"
#include "layer/callers_copy.hpp"
#include "layer/held_bytes.hpp"
#include "layer/layer_types.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

struct DifferenceFrame final : Frame {
  Ref<DTensor> difference; // x - t: all that the derivative needs

  Index bytes() const override { return heldBytes(difference); }
};

class MeanSquaredErrorSetup final : public OneInputSetup {
public:
  MeanSquaredErrorSetup(const Layer& layer, const Layout& input, const Signature& signature,
                        const Layout& use, LossValue loss)
      : OneInputSetup(input, loss.layout()), layer_(layer), letters_(signature.describe()),
        use_(use), loss_(std::move(loss)), staged_(tensor(use)), adjointUse_(tensor(use.dual())) {
    if (!sameHolding(input, use))
      toUse_ = makeRef<Conversion>(layer.comm(), input, use, layer.dataType());
    for (Index extent : use.shape())
      count_ *= static_cast<double>(extent);
  }

  std::unique_ptr<Frame> makeFrame() override {
    auto frame = std::make_unique<DifferenceFrame>();
    frame->difference = tensor(use_);
    frame->difference->allocate();
    return frame;
  }

  void apply(const DTensor& x, DTensor& y, Frame& base, bool) override {
    DTensor& difference = differenceOf(base);
    const DTensor& use = inUseLayout(x);
    inputCopy_.note(!toUse_ && &use != &x, x);
    const DTensor& target = targetInUseLayout();
    const double sum = visitFloating(layer_.dataType(), [&]<class T>(T) {
      T* d = difference.mutableData<T>();
      visitFloating(target.dataType(), [&]<class U>(U) {
        for (Index i = 0; i < cells(); ++i)
          d[i] = use.data<T>()[i] - static_cast<T>(target.data<U>()[i]);
      });
      return sumSquares<T>(cells(), d);
    });
    loss_.sum(sum / count_, y);
  }

  void tangent(Frame& base, const DTensor* dx, DTensor& dy) override {
    const DTensor& difference = differenceOf(base);
    const DTensor* use = dx ? &inUseLayout(*dx) : nullptr;
    const double sum = visitFloating(layer_.dataType(), [&]<class T>(T) {
      return use ? dot<T>(cells(), difference.data<T>(), use->data<T>()) : 0.0;
    });
    loss_.sum(2 * sum / count_, dy);
  }

  void adjoint(Frame& base, const DTensor& dy, DTensor* dx) override {
    const DTensor& difference = differenceOf(base);
    const double factor = 2 * loss_.seed(dy) / count_;
    if (!dx)
      return;
    const bool direct = !toUse_ && dx->isContiguous();
    DTensor& use = direct ? *dx : *adjointUse_;
    visitFloating(layer_.dataType(), [&]<class T>(T) {
      axpby<T>(cells(), static_cast<T>(factor), difference.data<T>(), T(0), use.mutableData<T>());
    });
    if (toUse_)
      toUse_->applyAdjoint(use, *dx);
    else if (!direct)
      copyLocal(use, *dx);
    dxCopy_.note(!toUse_ && !direct, *dx);
  }

  std::string describe() const override {
    const Mesh& mesh = input().mesh();
    return fmt::format("  process grid {}, signature {}\n", mesh.describe(), letters_) +
           viewLine("input", input(), toUse_.get(), mesh) + viewLine("output", output(), mesh) +
           inputCopy_.describe("Apply", "input", "strided array") +
           dxCopy_.describe("ApplyAdjoint", "input cotangent", "strided array");
  }

  Index bytes() const override {
    return loss_.bytes() + heldBytes(toUse_, fromTarget_, target_, staged_, adjointUse_);
  }

private:
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, layer_.dataType());
  }
  static DTensor& differenceOf(Frame& frame) {
    return *static_cast<DifferenceFrame&>(frame).difference;
  }
  Index cells() const { return staged_->localCells(); }

  const DTensor& inUseLayout(const DTensor& x) {
    if (toUse_)
      toUse_->apply(x, *staged_);
    else if (x.isContiguous())
      return x;
    else
      copyLocal(x, *staged_);
    return *staged_;
  }

  const DTensor& targetInUseLayout() {
    const TenonDataType given = layer_.target().dataType();
    const TenonDataType type = given == TENON_FLOAT32 ? TENON_FLOAT32 : TENON_FLOAT64;
    if (!target_ || target_->dataType() != type) {
      target_ = makeRef<DTensor>(layer_.comm(), use_, type);
      fromTarget_ = {};
    }
    takeTarget(layer_, *target_, fromTarget_);
    return *target_;
  }

  const Layer& layer_;
  std::string letters_;
  Layout use_;
  double count_ = 1; // of the elements of the whole input
  LossValue loss_;
  Ref<Conversion> toUse_, fromTarget_;
  Ref<DTensor> target_, staged_, adjointUse_;
  CallersCopy inputCopy_, dxCopy_;
};

} // namespace

std::unique_ptr<Setup> setUpMeansquarederror(Layer& layer, const Layouts& inputs) {
  const Form form = layer.form(inputs);
  return std::make_unique<MeanSquaredErrorSetup>(
      layer, inputs.front(), form.signature, form.uses.front(),
      LossValue(layer.comm(), form.uses.front(), layer.dataType()));
}

} // namespace tenon
