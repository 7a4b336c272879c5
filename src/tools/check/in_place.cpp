// SPDX-License-Identifier: BSD-2-Clause
// Checks halo exchanges in place: a halo exchange and its adjoint between two tensors that use the
// same user array. The inner tensor has the owned elements only, the outer one also the ghosts. The
// library must detect that the owned elements need not be copied, and may change only ghosts that
// it receives (forward) or owned elements that get contributions (adjoint).
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools {

namespace {

// Extends the boxes of a layout to contain the owned blocks, as an array around a block does.
LayoutSpec widened(LayoutSpec spec) {
  for (int d = 0; d < spec.ndim(); ++d) {
    if (!spec.halos[d])
      continue;
    spec.halos[d]->widths.reset();
    for (std::size_t part = 0; part < spec.halos[d]->boxes.size(); ++part) {
      const Interval owned = spec.owned(d, static_cast<int>(part));
      Interval& box = spec.halos[d]->boxes[part];
      if (box.size() == 0)
        box = owned;
      else if (owned.size() > 0)
        box = {std::min(box.begin, owned.begin), std::max(box.end, owned.end)};
    }
  }
  return spec;
}

// Whether an element is beyond a side whose values the user supplies (TENON_BOUNDARY_VALUES).
bool isUserSupplied(const LayoutSpec& spec, const Indices& cell) {
  for (int d = 0; d < spec.ndim(); ++d)
    if (const auto& halo = spec.halos[d])
      if ((cell[d] < 0 && halo->low == TENON_BOUNDARY_VALUES) ||
          (cell[d] >= spec.shape[d] && halo->high == TENON_BOUNDARY_VALUES))
        return true;
  return false;
}

// Initial value of the user's elements; no filling produces it.
constexpr double kMark = -77;

// Checks the elements that the user supplies. In place they must keep their mark; in a separate
// tensor a conversion sets them to zero. They are then set to 0, as in the definition.
void checkUserValues(Case& c, const LayoutSpec& spec, Field& y) {
  Values cells = y.read();
  std::size_t next = 0;
  forEachCell(y.box(), [&](const Indices& cell) {
    double& value = cells[next++];
    if (!y.isUserSupplied() || !isUserSupplied(spec, cell))
      return;
    if (value != kMark)
      c.found("the value of the user array",
              fmt::format(" at {} is now {}", listText(cell), value));
    value = 0;
  });
  y.write(cells);
}

} // namespace

void checkInPlace(Case& c) {
  const TenonDataType type = drawFloating(c.draw);
  const LayoutSpec plain =
      drawValues(c.draw, drawShape(c.draw, 1, 3, 7), drawGrid(c.draw, c.ranks));
  const LayoutSpec ghosted = widened(withHalos(c.draw, plain, 0));
  c.text += fmt::format(" {} halo into {}", typeText(type), ghosted.text());
  LinearOp op;
  require(TenonLinearOpCreateHalo(makeLayout(c.comm, plain), makeLayout(c.comm, ghosted), type,
                                  op.out()));
  LinearOp adjoint;
  require(TenonLinearOpCreateAdjoint(op, adjoint.out()));
  for (const bool isAdjoint : {false, true}) {
    const LayoutSpec wide = isAdjoint ? ghosted.dual() : ghosted,
                     narrow = isAdjoint ? plain.dual() : plain;
    Field outer(makeLayout(c.comm, wide), type, true, c.draw, c.space);
    Field inner(makeLayout(c.comm, narrow), type, outer);
    const LayoutSpec &from = isAdjoint ? wide : narrow, &to = isAdjoint ? narrow : wide;
    Field &x = isAdjoint ? outer : inner, &y = isAdjoint ? inner : outer;
    const bool isReal = c.draw.chance(50);
    const Filling filling = drawFilling(c.draw, type, isReal);
    outer.write(Values(elementsOf(outer.box()), kMark));
    x.write(fill(from, c.position(from.grid), filling));
    // Bound arrays use persistent requests of their own.
    if (c.draw.chance(30))
      require(TenonLinearOpBind(isAdjoint ? adjoint : op, x, y));
    require(isAdjoint ? TenonLinearOpApplyAdjoint(op, x, y) : TenonLinearOpApply(op, x, y));
    if (!isAdjoint)
      checkUserValues(c, wide, outer);
    const double magnitude = isReal ? scaleOf(valueOf(from, filling.magnitudes())) : 0;
    compareOutput(c, to, y, {valueOf(from, filling), 0, filling, roundingOf(type, magnitude)},
                  isAdjoint ? "adjoint: output" : "forward: output");
    c.found("array", outer.isGuardIntact() ? "" : ": elements around the box changed");
    require(TenonLinearOpUnbind(op));
  }
}

} // namespace tenon::tools
