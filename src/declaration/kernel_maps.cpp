// SPDX-License-Identifier: BSD-2-Clause
// The maps of a type that is one local kernel between conversions. A type says its layouts and its
// kernel; everything distributed follows, with the input x, parameters p and the output y:
//
//   pUse = C(storage -> use) p,  xUse = C(x -> use) x [+ M v],  y = kernel(xUse, pUse)
//
// Parts of the output may have kernels of their own, each with its own conversion of x, which travels
// while the first kernel computes the rest (strips). What the caller supplies at the input's boundary
// is v, a second input or a constant: a tensor in the use layout, or one number.
#include "declaration/declaration.hpp"
#include "declaration/window_layout.hpp"
#include "geometry/callers_cells.hpp"
#include "geometry/holding.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// kNoValue where there is none, or a constant is for no cell.
ValueId addBoundaryInput(MapList& list, const Form& form) {
  if (!form.callers)
    return kNoValue;
  if (!form.callers->constant)
    return list.input("v", form.inputs[1]);
  const Layout& use = form.uses.front();
  return hasCallersSide(use) ? list.constant("c", boundaryScalar(use), *form.callers->constant)
                             : kNoValue;
}

// use <- use + M v, with v in the use layout or a number, which is moved beside the cells.
void addBoundary(MapList& list, ValueId v, ValueId use) {
  const Layout to = list.values()[use].layout, given = list.values()[v].layout;
  if (!hasCallersSide(to))
    return;
  if (!isNumber(given)) {
    list.apply(OperatorKind::BoundaryValues, v, use);
    return;
  }
  const Layout number = boundaryScalar(to);
  list.apply(OperatorKind::BoundaryNumber, given == number ? v : list.convert("n", v, number), use);
}

// Halos that the caller has filled are not exchanged again.
ValueId addUse(MapList& list, ValueId x, const Layout& use) {
  const Layout given = list.values()[x].layout;
  const bool isFilled = given.hasMargins() && use.hasMargins() && holdsAllOf(given, use);
  return list.convert("u", x, use, isFilled ? OperatorKind::Crop : OperatorKind::Conversion);
}

} // namespace

MapList Declaration::maps(const Form& form, const Layouts& storage) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  const ValueId boundary = addBoundaryInput(list, form);
  const ValueId output = list.output("y", form.output);
  KernelEntry entry = kernel(form);
  for (std::size_t p = 0; p < form.parameters.size(); ++p) {
    const ParameterForm& parameter = form.parameters[p];
    if (!sameHolding(storage[p], parameter.use))
      entry.sources.push_back(list.source({.name = parameter.name,
                                           .use = parameter.use,
                                           .parameter = static_cast<int>(p),
                                           .storage = storage[p]}));
  }

  // What travels is named first, so that it travels while the rest is computed.
  std::vector<ValueId> strips;
  for (std::size_t k = 1; k < form.pieces.size(); ++k)
    strips.push_back(list.convert(fmt::format("u{}", k - 1), x, form.pieces[k].use));
  const bool asItIs = sameHolding(form.inputs.front(), form.uses.front());
  const ValueId use =
      asItIs ? (entry.anyStrides ? x : list.staged(x)) : addUse(list, x, form.uses.front());
  if (boundary != kNoValue && !asItIs) // else no cell lies outside the domain
    addBoundary(list, boundary, use);

  const ValueId y = entry.anyStrides ? output : list.stagedOutput();
  if (strips.empty())
    list.run(entry, {use}, y);
  else
    list.runPart(entry, {use}, y);
  for (ValueId strip : strips)
    list.runPart(entry, {strip}, y);
  if (y != output)
    list.unstage(y);
  return list;
}

} // namespace tenon
