// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/loss.hpp"

#include "geometry/holding.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

Layout scalarLayout(const Layout& use, Property split) {
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = split;
  return makeLayout({1}, use.meshPtr(), properties, {CutSource()});
}

Layout perSample(const Layout& use, const Shape& shape, Property others, int dim) {
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p == Property::shard(kSamples))
      p = Property::shard(dim);
    else if (p.isShard())
      p = others;
  std::vector<CutSource> cuts(shape.size());
  cuts[dim] = {&use, kSamples};
  return makeLayout(shape, use.meshPtr(), properties, cuts);
}

Shape Loss::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  checkInput(x);
  if (std::ranges::any_of(x, [](Index extent) { return extent < 1; }))
    throw Error(TENON_ERR_SHAPE, fmt::format("the input has shape [{1}], but {0} needs at least "
                                             "1 element",
                                             title(), fmt::join(x, ",")));
  return {1};
}

Form Loss::form(const Layouts& inputs, const Choice& choice) const {
  outputShape({inputs.front().shape()});
  Form form = Elementwise::form(inputs, choice);
  form.uses.front() = readLayout(form.uses.front());
  form.output = scalarLayout(form.uses.front(), Property::broadcast());
  return form;
}

MapList Loss::maps(const Form& form, const Layouts&) const {
  MapList list;
  const Layout& use = form.uses.front();
  const ValueId x = list.input("x", form.inputs.front());
  if (takesTarget())
    list.source(target(use));
  if (takesTargetWeights())
    list.source(
        {.name = "weights",
         .of = SourceEntry::Of::Weights,
         .use = text("loss_weights") == "sample" ? samplesLayout(use) : use.withoutMargins()});
  const ValueId z = list.exact(sameHolding(form.inputs.front(), use) ? list.staged(x)
                                                                     : list.convert(used_, x, use));
  const ValueId sum = hasWeightSum() ? addWeightSum(list, z, use) : kNoValue;
  const ValueId addend = addAddend(list, z, sum, use);
  list.apply(OperatorKind::Conversion, addend, list.output("y", form.output));
  return list;
}

ValueId Loss::addWeightSum(MapList& list, ValueId z, const Layout& use) const {
  const ValueId own = list.exact(list.value("w", scalarLayout(use, Property::partial())));
  list.runFixed(reading(list, "weights"), {z}, own);
  const Layout whole = scalarLayout(use, Property::broadcast());
  return sameHolding(list.values()[own].layout, whole) ? own : list.convert("W", own, whole);
}

KernelEntry Loss::reading(const MapList& list, std::string name, Workspace workspace) {
  KernelEntry kernel{.name = std::move(name), .workspace = std::move(workspace)};
  kernel.sources.resize(list.sources().size());
  std::iota(kernel.sources.begin(), kernel.sources.end(), 0);
  return kernel;
}

ValueId Loss::addendValue(MapList& list, const Layout& use) {
  return list.value("a", scalarLayout(use, Property::partial()));
}

ValueId Loss::addTerms(MapList& list, std::vector<ValueId> reads, ValueId sum,
                       const Layout& use) const {
  const ValueId a = addendValue(list, use);
  if (sum != kNoValue)
    reads.push_back(sum);
  list.run(reading(list, type(), {cellBytes(), use}), std::move(reads), a);
  return a;
}

std::string Loss::summary() const {
  const std::string weights = text("loss_weights");
  std::string said = isSet("loss_reduction") ? text("loss_reduction") : "";
  if (weights != "none")
    said += fmt::format("{}weights by {}", said.empty() ? "" : ", ", weights);
  return said;
}

} // namespace tenon
