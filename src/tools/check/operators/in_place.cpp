// SPDX-License-Identifier: BSD-2-Clause
// Checks halo exchanges in place: a halo exchange and its adjoint between two tensors that use the
// same user array. The inner tensor has the elements that this rank owns, the outer one has the
// ghosts as well. In one dimension, the array of a rank that owns 4 to 7 with a halo of width 2:
//
//     guard | 2  3 | 4  5  6  7 | 8  9 | guard
//                    --inner---                    x of the exchange, y of the adjoint
//             ----------outer---------             y of the exchange, x of the adjoint
//
// The exchange fills ghosts, and finds the owned elements in place. Its adjoint adds the ghosts to
// the owned elements of the ranks that they are copies of. Three properties are checked: the output
// has the values that the definition gives (compareOutput()), guard bytes around the outer box do
// not change, and ghosts whose values the user supplies keep them. Whether the library saved the
// copy of the owned elements cannot be seen from the values, and is not checked here.
// checkInPlace() is declared in kinds.hpp.
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools {

namespace {

// Extends the halo boxes of a layout to contain the owned blocks, since a random box can be smaller
// than the owned block, but an array with ghosts contains both.
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

// Whether an element is outside the domain, at a side with the boundary mode TENON_BOUNDARY_VALUES:
// there the user supplies the values of ghosts, and an exchange must not change them.
bool isUsersGhost(const LayoutSpec& spec, const Indices& cell) {
  for (int d = 0; d < spec.ndim(); ++d)
    if (const auto& halo = spec.halos[d])
      if ((cell[d] < 0 && halo->low == TENON_BOUNDARY_VALUES) ||
          (cell[d] >= spec.shape[d] && halo->high == TENON_BOUNDARY_VALUES))
        return true;
  return false;
}

// The value that users' ghosts have before an exchange. It is not among the random inputs, which
// are small integers or in [-1, 1).
constexpr double kMark = -77;

// Checks that users' ghosts still have the value kMark, and then sets them to 0, the value that
// compareOutput() expects there. On a rank that owns no elements the tensor is not on a user array
// (Field); there the library itself must have set them to 0.
void checkUserValues(Case& c, const LayoutSpec& spec, Field& y) {
  Values cells = y.read();
  std::size_t next = 0;
  forEachCell(y.box(), [&](const Indices& cell) {
    double& value = cells[next++];
    const bool isOnUserArray = y.isUserSupplied();
    if (!isOnUserArray || !isUsersGhost(spec, cell))
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
      drawValues(c.draw, drawShape(c.draw, /*minDims=*/1, /*maxDims=*/3, /*maxExtent=*/7),
                 drawGrid(c.draw, c.ranks));
  const LayoutSpec ghosted = widened(withHalos(c.draw, plain, /*partialPercent=*/0));
  c.text += fmt::format(" {} halo into {}", typeText(type), ghosted.text());
  LinearOp op;
  require(TenonLinearOpCreateHalo(makeLayout(c.comm, plain), makeLayout(c.comm, ghosted), type,
                                  op.out()));
  LinearOp adjoint;
  require(TenonLinearOpCreateAdjoint(op, adjoint.out()));
  for (const bool isAdjoint : {false, true}) {
    const LayoutSpec wide = isAdjoint ? ghosted.dual() : ghosted,
                     narrow = isAdjoint ? plain.dual() : plain;
    Field outer(makeLayout(c.comm, wide), type, /*isUserSupplied=*/true, c.draw, c.space);
    Field inner(makeLayout(c.comm, narrow), type, outer);
    const LayoutSpec &from = isAdjoint ? wide : narrow, &to = isAdjoint ? narrow : wide;
    Field &x = isAdjoint ? outer : inner, &y = isAdjoint ? inner : outer;
    const bool isReal = c.draw.chance(50);
    const Filling filling = drawFilling(c.draw, type, isReal);
    outer.write(Values(elementsOf(outer.box()), kMark));
    x.write(fill(from, c.position(from.grid), filling));
    // Arrays that are bound in advance use persistent MPI requests, another path in the library.
    // The handle `adjoint` shares its state with `op`: what is bound by the one is applied by the
    // other.
    if (c.draw.chance(30))
      require(TenonLinearOpBind(isAdjoint ? adjoint : op, x, y));
    require(isAdjoint ? TenonLinearOpApplyAdjoint(op, x, y) : TenonLinearOpApply(op, x, y));
    if (!isAdjoint)
      checkUserValues(c, wide, outer);
    const double magnitude = isReal ? scaleOf(valueOf(from, filling.magnitudes())) : 0;
    compareOutput(c, to, y,
                  {.moved = valueOf(from, filling),
                   .beta = 0,
                   .before = filling, // not used, since beta is 0
                   .tolerance = roundingOf(type, magnitude)},
                  isAdjoint ? "adjoint: output" : "forward: output");
    c.found("array", outer.isGuardIntact() ? "" : ": elements around the box changed");
    require(TenonLinearOpBind(op, nullptr, nullptr));
  }
}

} // namespace tenon::tools
