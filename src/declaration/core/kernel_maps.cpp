// SPDX-License-Identifier: BSD-2-Clause
// The default map list, that is, the steps of one evaluation, of a layer with one local kernel. A
// type declares its layouts (form.hpp) and its kernel, and the communication follows: the use
// layout of an array is the one in which the kernel reads it, and C(a -> b) is the conversion
// between two layouts. With inputs x, parameters p and output y:
//
//   pUse = C(storage -> use) p,  xUse = C(x -> use) x [+ M v],  y = kernel(xUse, pUse)
//
// [+ M v] is added only if the caller supplies boundary values v, as a second input or a constant:
// a tensor in the use layout, or one number; M writes them to the elements outside the domain.
//
// To overlap communication, parts of the output (strips along the sides of the block) can have
// their own kernel calls and conversions of x. These conversions run while the first kernel call
// computes the interior. Declaration::maps() is declared in declaration.hpp.
#include "declaration/core/kernel_maps.hpp"

#include "declaration/core/window_layout.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/schedule/refill.hpp"
#include "geometry/schedule/user_elements.hpp"

#include <fmt/format.h>

namespace tenon {

KernelElements kernelElements(const Form& form, int position) {
  const auto elementCount = [&](const Layout& layout) {
    return double(elements(layout.box(position)));
  };
  KernelElements sum{.output = elementCount(form.output)};
  for (const Layout& use : form.uses)
    sum.inputs += elementCount(use);
  for (const ParameterForm& parameter : form.parameters)
    sum.parameters += elementCount(parameter.use);
  return sum;
}

namespace {

// The boundary values v, or kNoValue if no element is outside the domain or a constant fills none.
ValueId addBoundaryInput(MapList& list, const Form& form) {
  if (!form.userValues)
    return kNoValue;
  if (!form.userValues->constant)
    return list.input("v", form.inputs[1]);
  const Layout& use = form.uses.front();
  return hasUserSide(use) ? list.constant("c", boundaryScalar(use), *form.userValues->constant)
                          : kNoValue;
}

// use <- use + M v, with v in the use layout or one number, which is sent to the ranks that need
// it.
void addBoundary(MapList& list, ValueId v, ValueId use) {
  const Layout to = list.values()[use].layout, inputLayout = list.values()[v].layout;
  if (!hasUserSide(to))
    return;
  if (!isNumber(inputLayout)) {
    list.apply(OperatorKind::BoundaryValues, v, use);
    return;
  }
  const Layout number = boundaryScalar(to);
  list.apply(OperatorKind::BoundaryNumber, inputLayout == number ? v : list.convert("n", v, number),
             use);
}

// A value's name, with its number if there are several.
std::string numbered(const char* name, std::size_t number, std::size_t count) {
  return count == 1 ? name : fmt::format("{}{}", name, number);
}

// The value that the kernel reads of an input with linked halos, which the links fill unless the
// halos of the input already hold the elements.
ValueId addLinkedUse(MapList& list, ValueId x, std::string name, const Layout& use,
                     PatchRule rule) {
  const Layout inputLayout = list.values()[x].layout;
  if (inputLayout.hasHalos() && holdsAllOf(inputLayout, use))
    return addUse(list, x, std::move(name), use, /*anyStrides=*/true);
  const ValueId plain = addUse(list, x, name + "'", use.withoutHalos(), /*anyStrides=*/true),
                filled = list.value(std::move(name), use);
  list.applyLinks(std::move(rule), /*transposed=*/false, plain, filled);
  return filled;
}

// The value that the kernel call of a strip reads.
ValueId addStrip(MapList& list, ValueId x, std::string name, const Layout& use, const Form& form) {
  return use.hasLinkedHalos() ? addLinkedUse(list, x, std::move(name), use, *form.links)
                              : list.convert(std::move(name), x, use);
}

} // namespace

ValueId addUse(MapList& list, ValueId x, std::string name, const Layout& use, bool anyStrides) {
  const Layout inputLayout = list.values()[x].layout;
  const Layouts stops = stopsBetween(inputLayout, use);
  if (stops.empty())
    return anyStrides ? x : list.staged(x);
  // Halos that are filled already are only cut to size, or refilled outside the domain: another
  // exchange would send elements that every rank has.
  if (stops.size() == 1 && inputLayout.hasHalos() && use.hasHalos()) {
    if (holdsAllOf(inputLayout, use))
      return list.convert(std::move(name), x, use, OperatorKind::Crop);
    if (canRefill(inputLayout, use))
      return list.convert(std::move(name), x, use, OperatorKind::Refill);
  }
  // A conversion between two grids can have several intermediate layouts. Each gives a value, whose
  // name has one prime for each conversion that remains.
  // `stops` are these layouts and then `use`.
  for (std::size_t remaining = stops.size(); remaining-- > 0;)
    x = list.convert(name + std::string(remaining, '\''), x, stops[stops.size() - 1 - remaining]);
  return x;
}

void addParameterSources(MapList& list, const Form& form, const Layouts& storage,
                         KernelEntry& kernel) {
  for (std::size_t p = 0; p < form.parameters.size(); ++p) {
    const ParameterForm& parameter = form.parameters[p];
    // A parameter that is stored in its use layout is read in place.
    if (!haveSameMemory(storage[p], parameter.use))
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

  // The exchanges of the strips come first, to overlap with the computation of the interior.
  std::vector<ValueId> strips;
  for (std::size_t k = 1; k < form.pieces.size(); ++k)
    strips.push_back(addStrip(list, x, fmt::format("u{}", k - 1), form.pieces[k].use, form));
  std::vector<ValueId> uses;
  for (std::size_t i = 0; i < inputs; ++i) {
    const ValueId input = list.inputs()[i];
    const std::string name = numbered("u", i, inputs);
    uses.push_back(i == 0 && form.links && form.uses[i].hasLinkedHalos()
                       ? addLinkedUse(list, input, name, form.uses[i], *form.links)
                       : addUse(list, input, name, form.uses[i], entry.anyStrides));
  }
  // If x is used in its own layout, no element is outside the domain.
  if (boundary != kNoValue && !haveSameMemory(form.inputs.front(), form.uses.front()))
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
