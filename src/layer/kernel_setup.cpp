// SPDX-License-Identifier: BSD-2-Clause
#include "layer/kernel_setup.hpp"

#include "dtensor/fill.hpp"
#include "layer/boundary_input.hpp"
#include "layer/callers_copy.hpp"
#include "layer/held_bytes.hpp"
#include "layer/kernel_strips.hpp"
#include "layer/traffic_text.hpp"
#include "sys/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

struct KernelFrame final : Frame {
  Ref<DTensor> use; // the converted input, or a contiguous copy of it
  SavedTensor x, y;
  KernelStrips::Tensors strips;
  std::vector<std::uint64_t> parameters; // their states
  Buffer workspace;

  void drop() noexcept override {
    x.drop();
    y.drop();
  }
  Index bytes() const override {
    return heldBytes(use, strips) + x.bytes() + y.bytes() + workspace.bytes();
  }
};

// What the last calls copied of the caller's arrays.
struct CallersCopies {
  CallersCopy input, keptInput, output, keptOutput, dy, dx;

  std::string describe() const {
    const char *apply = "Apply", *training = "Apply in training", *adjoint = "ApplyAdjoint",
               *strided = "strided array", *kept = "saved for the adjoint";
    return input.describe(apply, "input", strided) + keptInput.describe(training, "input", kept) +
           output.describe(apply, "output", strided) +
           keptOutput.describe(training, "output", kept) +
           dy.describe(adjoint, "output cotangent", strided) +
           dx.describe(adjoint, "input cotangent", strided);
  }
};

class KernelSetup final : public Setup {
public:
  KernelSetup(const Layer& layer, const Layouts& given, KernelPlan plan)
      : Setup(given, plan.output), layer_(layer), plan_(std::move(plan)),
        strips_(layer, input(), std::move(plan_.strips)), staged_(tensor(output())),
        stagedDual_(tensor(outputDual())), tangentUse_(tensor(plan_.use)),
        adjointUse_(tensor(plan_.use.dual())) {
    if (!sameHolding(input(), plan_.use))
      toUse_ = makeRef<Conversion>(layer.comm(), input(), plan_.use, layer.dataType());
    if (plan_.callers)
      makeBoundary(plan_.callers->constant);
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      uses_.push_back(std::make_unique<ParameterUse>(plan_.parameters[i], plan_.parameterUses[i]));
  }

  std::unique_ptr<Frame> makeFrame() override {
    auto frame = std::make_unique<KernelFrame>();
    frame->use = tensor(plan_.use);
    if (toUse_)
      frame->use->allocate();
    frame->strips = strips_.makeTensors();
    frame->parameters.resize(plan_.parameters.size());
    frame->workspace = Buffer(plan_.kernel->workspaceBytes(), layer_.title() + " workspace");
    return frame;
  }

  void applyMany(Inputs x, DTensor& y, Frame& base, bool training) override {
    auto& frame = static_cast<KernelFrame&>(base);
    strips_.begin(*x[0], frame.strips);
    const DTensor& use = inUseLayout(*x[0], *frame.use);
    copies_.input.note(!toUse_ && &use != x[0], *x[0]);
    if (const DTensor* values = constant_ ? constant_.get() : second(x))
      addBoundary(*values, *frame.use);
    DTensor& result = y.isContiguous() ? y : *staged_;
    compute(
        [&] { plan_.kernel->forward(use, uses_, result, training ? &frame.workspace : nullptr); });
    strips_.forward(frame.strips, uses_, result);
    copies_.output.note(&result != &y, y);
    if (&result != &y)
      copyLocal(result, y);
    if (!training)
      return;
    if (plan_.kernel->keepsInput())
      copies_.keptInput.note(frame.x.keep(use), use);
    if (plan_.kernel->keepsOutput()) // a strided one is the caller's, so this copies
      copies_.keptOutput.note(frame.y.keep(y), y);
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      frame.parameters[i] = plan_.parameters[i]->state();
  }

  void tangentMany(Frame& base, Inputs dx, DTensor& dy) override {
    auto& frame = static_cast<KernelFrame&>(base);
    const KernelPoint at = point(frame);
    strips_.beginTangent(dx[0]);
    const DTensor* use = tangentInUse(dx[0], second(dx));
    DTensor& result = dy.isContiguous() ? dy : *staged_;
    compute([&] { plan_.kernel->tangent(at, use, uses_, result); });
    strips_.tangent(frame.strips, dx[0], uses_, result);
    if (&result != &dy)
      copyLocal(result, dy);
  }

  void adjointMany(Frame& base, const DTensor& dy, InputCotangents cotangents) override {
    auto& frame = static_cast<KernelFrame&>(base);
    DTensor *dx = cotangents[0], *dv = second(cotangents);
    const DTensor* given = &dy;
    copies_.dy.note(!dy.isContiguous(), dy);
    if (!dy.isContiguous()) {
      copyLocal(dy, *stagedDual_);
      given = stagedDual_.get();
    }
    const bool direct = dx && !toUse_ && dx->isContiguous(), outside = dv && toUse_;
    DTensor* use = direct ? dx : dx || outside ? adjointUse_.get() : nullptr;
    const KernelPoint at = point(frame);
    if (dx)
      strips_.beginAdjoint(frame.strips, *given, uses_, *dx);
    compute([&] { plan_.kernel->adjoint(at, *given, uses_, use); });
    if (dx && toUse_)
      toUse_->begin(Sense::Adjoint, 1, *use, 0, *dx);
    if (wantsGradients()) {
      compute([&] { plan_.kernel->adjointParameters(at, *given, uses_); });
      strips_.adjointParameters(frame.strips, *given, uses_);
    }
    if (dx && toUse_)
      toUse_->end(Sense::Adjoint);
    if (dx)
      copies_.dx.note(!toUse_ && !direct, *dx);
    if (dx && !toUse_ && !direct)
      copyLocal(*use, *dx);
    if (dx)
      strips_.endAdjoint();
    if (outside)
      boundary_->adjoint(*use, *dv);
    else if (dv)
      zeroLocal(*dv);
  }

  std::string describe() const override {
    const Mesh& mesh = input().mesh();
    std::string text = fmt::format("  process grid {}, signature {}, {}\n", mesh.describe(),
                                   plan_.signature.describe(), plan_.kernel->describe());
    text += viewLine("input", input(), toUse_.get(), mesh);
    if (boundary_)
      text += boundary_->describe();
    text += strips_.describe();
    for (std::size_t i = 0; i < uses_.size(); ++i)
      if (const Conversion* conversion = uses_[i]->conversion())
        text += viewLine(plan_.parameters[i]->name(), conversion->domain(), conversion, mesh);
    return text + viewLine("output", output(), mesh) + copies_.describe();
  }

  Index bytes() const override {
    Index sum = heldBytes(staged_, stagedDual_, tangentUse_, adjointUse_, toUse_, constant_);
    sum += strips_.bytes() + (boundary_ ? boundary_->bytes() : 0);
    for (const auto& use : uses_)
      sum += use->bytes();
    return sum;
  }

private:
  const Layout& input() const { return inputs().front(); }
  template <class Tensor>
  static Tensor* second(std::span<Tensor* const> tensors) {
    return tensors.size() > 1 ? tensors[1] : nullptr;
  }

  void makeBoundary(const std::optional<double>& constant) {
    const MeshPtr& mesh = plan_.use.meshPtr();
    const Layout number({.shape = {1},
                         .mesh = mesh,
                         .properties = Properties(mesh->axes(), Property::broadcast())});
    boundary_ = std::make_unique<BoundaryInput>(layer_, plan_.use, constant ? number : inputs()[1]);
    if (!constant)
      return;
    constant_ = tensor(number);
    fillConstant(*constant_, *constant);
  }

  // Without a conversion no cell lies outside the domain.
  void addBoundary(const DTensor& values, DTensor& use) {
    if (toUse_)
      boundary_->add(values, use);
  }

  const DTensor* tangentInUse(const DTensor* dx, const DTensor* dv) {
    if (!dv || !toUse_)
      return dx ? &inUseLayout(*dx, *tangentUse_) : nullptr;
    if (dx)
      toUse_->apply(*dx, *tangentUse_);
    else
      zeroLocal(*tangentUse_);
    boundary_->add(*dv, *tangentUse_);
    return tangentUse_.get();
  }

  bool wantsGradients() const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [](const auto& use) { return !use->isFrozen(); });
  }

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
        throw Error(
            TENON_ERR_STATE,
            fmt::format(
                "parameter \"{}\" of {} was changed after TenonLayerApply(), so that its adjoint "
                "cannot be evaluated; update parameters after TenonLayerApplyAdjoint()",
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
  KernelStrips strips_;
  ParameterUses uses_;
  CallersCopies copies_;
  Ref<Conversion> toUse_; // null where the input's memory serves as it is
  std::unique_ptr<BoundaryInput> boundary_;
  Ref<DTensor> constant_; // what stands for the second input
  Ref<DTensor> staged_, stagedDual_, tangentUse_, adjointUse_;
};

// What one more kernel call costs, with what oneDNN does around it.
constexpr double kStripSeconds = 1e-5;

// At most, by what waits for nobody any more: the copy of the largest part, and a message.
double secondsSaved(const Layout& plain, Index cellBytes) {
  Index most = 1;
  for (int d = 0; d < plain.rank(); ++d) {
    Index widest = 0;
    for (int part = 0; part < plain.parts(d); ++part)
      widest = std::max(widest, plain.owned(d, part).size());
    most *= widest;
  }
  const LinkRates rates = LinkRates::fromOptions();
  return rates.latency + double(most * cellBytes) / rates.copyBandwidth;
}

// In pieces where the user says so, or where that is predicted to save time.
Form chosenForm(const Layer& layer, const Layouts& inputs) {
  const Declaration& declaration = layer.declaration();
  const bool canOverlap = declaration.settings().has("overlap");
  const std::string asked = canOverlap ? declaration.value<std::string>("overlap") : "off";
  if (asked == "off")
    return layer.form(inputs);
  Form form = layer.form(inputs, true);
  const std::size_t strips = form.pieces.empty() ? 0 : form.pieces.size() - 1;
  const bool saves = strips > 0 && secondsSaved(form.uses.front(), dataTypeSize(layer.dataType())) >
                                       double(strips) * kStripSeconds;
  return asked == "on" || saves || strips == 0 ? form : layer.form(inputs);
}

} // namespace

std::unique_ptr<Setup> setUpKernel(Layer& layer, const Layouts& inputs, KernelMaker make) {
  const Form form = chosenForm(layer, inputs);
  const Layout& use = form.uses.front();
  const int here = use.mesh().position(layer.comm()->rank());
  const auto outputsOf = [&](const FormPiece& piece) {
    return here < 0 ? form.output.box(here) : piece.outputs[here];
  };
  KernelPlan plan{.signature = form.signature,
                  .use = use,
                  .output = form.output,
                  .parameters = {},
                  .parameterUses = {},
                  .kernel = nullptr,
                  .callers = form.callers};
  for (const ParameterForm& parameter : form.parameters) {
    plan.parameterUses.push_back(parameter.use);
    plan.parameters.push_back(layer.parameter(parameter));
  }
  plan.kernel = make(layer, form, use,
                     form.pieces.empty() ? form.output.box(here) : outputsOf(form.pieces.front()));
  for (std::size_t s = 1; s < form.pieces.size(); ++s)
    plan.strips.push_back(
        {form.pieces[s].use, make(layer, form, form.pieces[s].use, outputsOf(form.pieces[s]))});
  return std::make_unique<KernelSetup>(layer, inputs, std::move(plan));
}

} // namespace tenon
