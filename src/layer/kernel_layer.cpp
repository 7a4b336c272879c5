// SPDX-License-Identifier: BSD-2-Clause
#include "layer/kernel_layer.hpp"

#include "layer/held_bytes.hpp"
#include "layer/traffic_text.hpp"
#include "sys/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

struct KernelFrame final : Frame {
  Ref<DTensor> use; // the converted input, or a contiguous copy of it
  SavedTensor x, y;
  std::vector<std::uint64_t> parameters; // their states
  Buffer workspace;

  void drop() noexcept override {
    x.drop();
    y.drop();
  }
  Index bytes() const override {
    return heldBytes(use) + x.bytes() + y.bytes() + workspace.bytes();
  }
};

class KernelSetup final : public OneInputSetup {
public:
  KernelSetup(const Layer& layer, const Layout& input, KernelPlan plan)
      : OneInputSetup(input, plan.output), layer_(layer), plan_(std::move(plan)),
        staged_(tensor(output())), stagedDual_(tensor(outputDual())),
        tangentUse_(tensor(plan_.use)), adjointUse_(tensor(plan_.use.dual())) {
    if (!sameHolding(input, plan_.use))
      toUse_ = makeRef<Conversion>(layer.comm(), input, plan_.use, layer.dataType());
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      uses_.push_back(std::make_unique<ParameterUse>(plan_.parameters[i], plan_.parameterUses[i]));
  }

  std::unique_ptr<Frame> makeFrame() override {
    auto frame = std::make_unique<KernelFrame>();
    frame->use = tensor(plan_.use);
    if (toUse_)
      frame->use->allocate();
    frame->parameters.resize(plan_.parameters.size());
    frame->workspace = Buffer(plan_.kernel->workspaceBytes(), layer_.title() + " workspace");
    return frame;
  }

  void apply(const DTensor& x, DTensor& y, Frame& base, bool training) override {
    auto& frame = static_cast<KernelFrame&>(base);
    const DTensor& use = inUseLayout(x, *frame.use);
    DTensor& result = y.isContiguous() ? y : *staged_;
    compute(
        [&] { plan_.kernel->forward(use, uses_, result, training ? &frame.workspace : nullptr); });
    if (&result != &y)
      copyLocal(result, y);
    if (!training)
      return;
    if (plan_.kernel->keepsInput())
      frame.x.keep(use);
    if (plan_.kernel->keepsOutput())
      frame.y.keep(y); // a strided one is the caller's, so this copies
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      frame.parameters[i] = plan_.parameters[i]->state();
  }

  void tangent(Frame& base, const DTensor* dx, DTensor& dy) override {
    auto& frame = static_cast<KernelFrame&>(base);
    const DTensor* use = dx ? &inUseLayout(*dx, *tangentUse_) : nullptr;
    DTensor& result = dy.isContiguous() ? dy : *staged_;
    compute([&] { plan_.kernel->tangent(point(frame), use, uses_, result); });
    if (&result != &dy)
      copyLocal(result, dy);
  }

  void adjoint(Frame& base, const DTensor& dy, DTensor* dx) override {
    auto& frame = static_cast<KernelFrame&>(base);
    const DTensor* given = &dy;
    if (!dy.isContiguous()) {
      copyLocal(dy, *stagedDual_);
      given = stagedDual_.get();
    }
    const bool direct = dx && !toUse_ && dx->isContiguous();
    DTensor* use = direct ? dx : dx ? adjointUse_.get() : nullptr;
    compute([&] { plan_.kernel->adjoint(point(frame), *given, uses_, use); });
    if (dx && toUse_)
      toUse_->applyAdjoint(*use, *dx);
    if (dx && !toUse_ && !direct)
      copyLocal(*use, *dx);
  }

  std::string describe() const override {
    std::string text = fmt::format("  input {}\n  signature {}, kernel {}\n", input().describe(),
                                   plan_.signature.describe(), plan_.kernel->describe());
    if (toUse_)
      text += fmt::format("  converted to {}\n", describeTraffic(*toUse_));
    for (std::size_t i = 0; i < uses_.size(); ++i)
      if (const Conversion* conversion = uses_[i]->conversion())
        text += fmt::format("  parameter {} converted to {}\n", plan_.parameters[i]->name(),
                            describeTraffic(*conversion));
    return text + fmt::format("  output {}\n", output().describe());
  }

  Index bytes() const override {
    Index sum = heldBytes(staged_, stagedDual_, tangentUse_, adjointUse_, toUse_);
    for (const auto& use : uses_)
      sum += use->bytes();
    return sum;
  }

private:
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, layer_.dataType());
  }

  const DTensor& inUseLayout(const DTensor& x, DTensor& buffer) {
    if (toUse_) {
      toUse_->apply(x, buffer);
      return buffer;
    }
    if (x.isContiguous())
      return x;
    copyLocal(x, buffer);
    return buffer;
  }

  KernelPoint point(KernelFrame& frame) const {
    const std::string& who = layer_.title();
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      if (frame.parameters[i] != plan_.parameters[i]->state())
        throw Error(TENON_ERR_STATE,
                    fmt::format("parameter '{}' of {} was changed since Apply, so the derivative "
                                "there is lost; step after the adjoint",
                                plan_.parameters[i]->name(), who));
    return {plan_.kernel->keepsInput() ? &frame.x.get(who) : nullptr,
            plan_.kernel->keepsOutput() ? &frame.y.get(who) : nullptr, &frame.workspace};
  }

  template <class F>
  static void compute(F&& f) {
    static const int event = logEvent("LocalKernel");
    const LogScope scope(event);
    f();
  }

  const Layer& layer_;
  KernelPlan plan_;
  ParameterUses uses_;
  Ref<Conversion> toUse_; // null where the input's memory serves as it is
  Ref<DTensor> staged_, stagedDual_, tangentUse_, adjointUse_;
};

} // namespace

std::unique_ptr<Setup> KernelLayer::makeSetup(const Layout& input) {
  return std::make_unique<KernelSetup>(*this, input, plan(input));
}

} // namespace tenon
