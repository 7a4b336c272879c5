// SPDX-License-Identifier: BSD-2-Clause
// The maps of a type that is one local kernel between conversions. A type says its layouts and its
// kernel; everything distributed follows, with the input x, or several, parameters p and the output
// y:
//
//   pUse = C(storage -> use) p,  xUse = C(x -> use) x [+ M v],  y = kernel(xUse, pUse)
//
// Parts of the output may have kernels of their own, each with its own conversion of x, which
// travels while the first kernel computes the rest (strips). What the caller supplies at the
// input's boundary is v, a second input or a constant: a tensor in the use layout, or one number.
#include "declaration/core/kernel_maps.hpp"

#include "declaration/core/window_layout.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/schedule/refill.hpp"
#include "geometry/schedule/user_elements.hpp"

#include <fmt/format.h>

namespace tenon {

KernelElements kernelElements(const Form& form, int position) {
  const auto held = [&](const Layout& layout) { return double(elements(layout.box(position))); };
  KernelElements sum{.output = held(form.output)};
  for (const Layout& use : form.uses)
    sum.inputs += held(use);
  for (const ParameterForm& parameter : form.parameters)
    sum.parameters += held(parameter.use);
  return sum;
}

namespace {

// kNoValue where nothing lies beyond the domain, or where a constant would fill no element.
ValueId addBoundaryInput(MapList& list, const Form& form) {
  if (!form.userValues)
    return kNoValue;
  if (!form.userValues->constant)
    return list.input("v", form.inputs[1]);
  const Layout& use = form.uses.front();
  return hasUserSide(use) ? list.constant("c", boundaryScalar(use), *form.userValues->constant)
                          : kNoValue;
}

// use <- use + M v, with v in the use layout or a number, which is moved beside the elements.
void addBoundary(MapList& list, ValueId v, ValueId use) {
  const Layout to = list.values()[use].layout, given = list.values()[v].layout;
  if (!hasUserSide(to))
    return;
  if (!isNumber(given)) {
    list.apply(OperatorKind::BoundaryValues, v, use);
    return;
  }
  const Layout number = boundaryScalar(to);
  list.apply(OperatorKind::BoundaryNumber, given == number ? v : list.convert("n", v, number), use);
}

// A value's name, with its number where there are several.
std::string numbered(const char* name, std::size_t number, std::size_t count) {
  return count == 1 ? name : fmt::format("{}{}", name, number);
}

// What the kernel reads of an input where the use has linked halos, which the links fill; halos
// that hold it already are kept.
ValueId addLinkedUse(MapList& list, ValueId x, std::string name, const Layout& use,
                     PatchRule rule) {
  const Layout given = list.values()[x].layout;
  if (given.hasHalos() && holdsAllOf(given, use))
    return addUse(list, x, std::move(name), use, true);
  const ValueId plain = addUse(list, x, name + "'", use.withoutHalos(), true),
                filled = list.value(std::move(name), use);
  list.applyLinks(std::move(rule), false, plain, filled);
  return filled;
}

// What a strip reads.
ValueId addStrip(MapList& list, ValueId x, std::string name, const Layout& use, const Form& form) {
  return use.hasLinkedHalos() ? addLinkedUse(list, x, std::move(name), use, *form.links)
                              : list.convert(std::move(name), x, use);
}

} // namespace

ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides) {
  const Layout given = list.values()[x].layout;
  const Layouts stops = stopsBetween(given, use);
  if (stops.empty())
    return anyStrides ? x : list.staged(x);
  // Halos that somebody has filled already are kept and only cut to size, or refilled beyond the
  // domain, since exchanging them again would send what every rank has.
  if (stops.size() == 1 && given.hasHalos() && use.hasHalos()) {
    if (holdsAllOf(given, use))
      return list.convert(std::move(name), x, use, OperatorKind::Crop);
    if (canRefill(given, use))
      return list.convert(std::move(name), x, use, OperatorKind::Refill);
  }
  // Between two grids the way has more than one stop; each is a value of its own, named with a
  // prime for every conversion that is left.
  for (std::size_t left = stops.size(); left-- > 0;)
    x = list.convert(name + std::string(left, '\''), x, stops[stops.size() - 1 - left]);
  return x;
}

void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel) {
  for (std::size_t p = 0; p < form.parameters.size(); ++p) {
    const ParameterForm& parameter = form.parameters[p];
    // A parameter that is stored as it is used needs no step: the kernel reads it where it is.
    if (!sameHolding(storage[p], parameter.use))
      kernel.sources.push_back(list.source({.name = parameter.name,
                                            .use = parameter.use,
                                            .parameter = static_cast<int>(p),
                                            .storage = storage[p]}));
  }
}

MapList Declaration::maps(const Form& form, const Layouts& storage) const {
  MapList list;
  const std::size_t inputs = form.uses.size();
  for (std::size_t i = 0; i < inputs; ++i)
    list.input(numbered("x", i, inputs), form.inputs[i]);
  const ValueId x = list.inputs().front();
  const ValueId boundary = addBoundaryInput(list, form);
  const ValueId output = list.output("y", form.output);
  KernelEntry entry = kernel(form);
  addParameterSources(list, form, storage, entry);

  // What travels is named first, so that it travels while the rest is computed.
  std::vector<ValueId> strips;
  for (std::size_t k = 1; k < form.pieces.size(); ++k)
    strips.push_back(addStrip(list, x, fmt::format("u{}", k - 1), form.pieces[k].use, form));
  std::vector<ValueId> uses;
  for (std::size_t i = 0; i < inputs; ++i) {
    const ValueId given = list.inputs()[i];
    const std::string name = numbered("u", i, inputs);
    uses.push_back(i == 0 && form.links && form.uses[i].hasLinkedHalos()
                       ? addLinkedUse(list, given, name, form.uses[i], *form.links)
                       : addUse(list, given, name, form.uses[i], entry.anyStrides));
  }
  // Where x is used as it lies, no element lies outside the domain.
  if (boundary != kNoValue && !sameHolding(form.inputs.front(), form.uses.front()))
    addBoundary(list, boundary, uses.front());

  const ValueId y = entry.anyStrides ? output : list.stagedOutput();
  if (strips.empty())
    list.run(entry, uses, y);
  else
    list.runPart(entry, uses, y);
  for (ValueId strip : strips)
    list.runPart(entry, {strip}, y);
  if (y != output)
    list.unstage(y);
  return list;
}

} // namespace tenon
