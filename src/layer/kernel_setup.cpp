// SPDX-License-Identifier: BSD-2-Clause
#include "layer/kernel_setup.hpp"

#include "declaration/window_layout.hpp"
#include "geometry/callers_cells.hpp"
#include "geometry/holding.hpp"
#include "layer/setup.hpp"
#include "layer/traffic_text.hpp"
#include "linop/boundary_op.hpp"
#include "machine/link.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

bool isNumber(const Layout& layout) {
  return layout.shape() == Shape{1} && !layout.hasMargins();
}

// What a view says of a list besides its layouts.
struct KernelFacts {
  std::string signature;
  ValueId use = kNoValue;
  ValueId boundary = kNoValue,
          number = kNoValue; // the caller's, and as one number beside the cells
  std::vector<ValueId> strips = {};
  BoundMaps::Uses uses = {};
};

// kNoValue where a constant is for no cell.
ValueId addBoundaryInput(BoundMaps& maps, const Layer& layer, const KernelPlan& plan,
                         const Layouts& given) {
  if (const auto& constant = plan.callers->constant)
    return hasCallersSide(plan.use) ? maps.constant("c", boundaryScalar(plan.use), *constant)
                                    : kNoValue;
  if (!isNumber(given[1]) && !(given[1] == plan.use))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the boundary values of {} have layout {}; pass them in the layout of "
                            "TenonLayerGetBoundaryLayout(), {}, or as one number of shape [1]",
                            layer.title(), given[1].describe(), plan.use.describe()));
  return maps.list().input("v", given[1]);
}

// use <- use + M v, with v in the use layout or a number, which is moved beside the cells.
void addBoundary(BoundMaps& maps, KernelFacts& facts) {
  const Layout to = maps.list().values()[facts.use].layout;
  const Layout given = maps.list().values()[facts.boundary].layout;
  if (!hasCallersSide(to))
    return;
  if (!isNumber(given))
    return maps.apply(OperatorKind::BoundaryValues, facts.boundary, facts.use);
  const Layout number = boundaryScalar(to);
  facts.number = given == number ? facts.boundary : maps.convert("n", facts.boundary, number);
  maps.apply(OperatorKind::BoundaryNumber, facts.number, facts.use);
}

// Halos that the caller has filled are not exchanged again.
ValueId addUse(BoundMaps& maps, ValueId x, const Layout& use) {
  const Layout given = maps.list().values()[x].layout;
  if (!given.hasMargins() || !use.hasMargins() || !holdsAllOf(given, use))
    return maps.convert("u", x, use);
  const ValueId u = maps.list().value("u", use);
  maps.apply(OperatorKind::Crop, x, u);
  return u;
}

BoundMaps mapsOf(const Layer& layer, const Layouts& given, KernelPlan plan, KernelFacts& facts) {
  BoundMaps maps(layer);
  const ValueId x = maps.list().input("x", given[0]);
  if (plan.callers)
    facts.boundary = addBoundaryInput(maps, layer, plan, given);
  maps.list().output("y", plan.output);
  for (std::size_t i = 0; i < plan.parameters.size(); ++i)
    maps.addUse(facts.uses, plan.parameters[i], plan.parameterUses[i]);

  // What travels is named first, so that it travels while the rest is computed.
  for (const KernelStrip& strip : plan.strips)
    facts.strips.push_back(maps.convert(fmt::format("u{}", facts.strips.size()), x, strip.use));
  const bool asItIs = sameHolding(given[0], plan.use);
  facts.use = asItIs ? maps.list().staged(x) : addUse(maps, x, plan.use);
  if (facts.boundary != kNoValue && !asItIs) // else no cell lies outside the domain
    addBoundary(maps, facts);

  const ValueId y = maps.list().stagedOutput();
  const std::string name = layer.type();
  if (plan.strips.empty())
    maps.run(name, std::move(plan.kernel), facts.uses, {facts.use}, y);
  else
    maps.runPart(name, std::move(plan.kernel), facts.uses, {facts.use}, y);
  for (std::size_t s = 0; s < plan.strips.size(); ++s)
    maps.runPart(name, std::move(plan.strips[s].kernel), facts.uses, {facts.strips[s]}, y);
  maps.list().unstage(y);
  return maps;
}

class KernelSetup final : public Setup {
public:
  KernelSetup(BoundMaps maps, KernelFacts facts)
      : Setup(std::move(maps)), facts_(std::move(facts)) {}

private:
  std::string facts() const override {
    const Mesh& mesh = output().mesh();
    std::string text = fmt::format("  process grid {}, signature {}, {}\n", mesh.describe(),
                                   facts_.signature, maps().kernels().front().kernel->describe());
    text += viewLine("input", inputs().front(), maps().conversionTo(facts_.use), mesh);
    if (facts_.boundary != kNoValue)
      text += viewLine("boundary values", maps().list().values()[facts_.boundary].layout,
                       maps().conversionTo(facts_.number), mesh);
    for (std::size_t s = 0; s < facts_.strips.size(); ++s)
      text += fmt::format("  strip {} of the output, computed after its halo exchange: {}\n", s,
                          trafficText(*maps().conversionTo(facts_.strips[s])));
    for (const auto& use : *facts_.uses.all)
      if (const LinearOp* conversion = use->conversion())
        text += viewLine(use->parameter().name(), conversion->domain(), conversion, mesh);
    return text + viewLine("output", output(), mesh);
  }
  KernelFacts facts_;
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
  KernelFacts facts{.signature = plan.signature.describe()};
  BoundMaps maps = mapsOf(layer, inputs, std::move(plan), facts);
  return std::make_unique<KernelSetup>(std::move(maps), std::move(facts));
}

} // namespace tenon
