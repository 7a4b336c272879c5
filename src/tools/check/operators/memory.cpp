// SPDX-License-Identifier: BSD-2-Clause
// Checks the memory operators, which act on boxes of each rank's local array without communication.
// F changes x into y as follows, where x[S] is the source box and x[T] the target box of the same
// extents; elements outside of both stay unchanged:
//    clear  y[S] = 0                    F* is the same
//    add    y[T] = x[T] + x[S]          F*: y[S] = x[S] + x[T]
//    copy   y[T] = x[S]                 F*: y[S] = x[S] + x[T], y[T] = 0
//    move   y[T] = x[S], y[S] = 0       F*: y[S] = x[T], y[T] = 0
// The results are compared with a loop over the elements (resultByDefinition()). Each rank draws
// other boxes, because the operators must not depend on other ranks. checkMemory() is declared in
// kinds.hpp.
#include "tools/check/field.hpp"
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"

#include <fmt/format.h>

#include <tenon/ext/linearop.h>

#include <algorithm>

namespace tenon::tools {

namespace {

enum Action { Clear, Add, Copy, Move };

// A source box of a local array, [low, high) in each dimension, and the start of the target box.
struct Boxes {
  Indices low, high, to;
};

// Whether source and target box have common elements.
bool overlap(const Boxes& b) {
  for (std::size_t d = 0; d < b.low.size(); ++d) {
    const Index size = b.high[d] - b.low[d], shift = std::abs(b.to[d] - b.low[d]);
    if (size == 0 || shift >= size)
      return false;
  }
  return true;
}

// Draws boxes in an array of the given extents. If `isAlone` the target box is not used.
Boxes drawBoxes(Draw& draw, const Indices& extents, bool isAlone) {
  Boxes b;
  for (const Index extent : extents) {
    // A box can be empty, and can be the whole array.
    const int size = draw.upTo(static_cast<int>(extent));
    b.low.push_back(draw.upTo(static_cast<int>(extent) - size));
    b.high.push_back(b.low.back() + size);
    b.to.push_back(draw.upTo(static_cast<int>(extent) - size));
  }
  // Overlapping boxes are not allowed unless they are empty.
  if (!isAlone && overlap(b))
    b.high = b.low;
  return b;
}

Indices extentsOf(const Box& box) {
  Indices extents;
  for (const Interval& i : box)
    extents.push_back(i.size());
  return extents;
}

// The result y for x by the table above.
Values resultByDefinition(Action action, const Boxes& b, const Indices& extents, const Values& x,
                          bool isAdjoint) {
  Values y = x;
  Box box;
  for (std::size_t d = 0; d < b.low.size(); ++d)
    box.push_back({b.low[d], b.high[d]});
  forEachCell(box, [&](const Indices& cell) {
    Indices other(cell.size());
    for (std::size_t d = 0; d < cell.size(); ++d)
      other[d] = cell[d] - b.low[d] + b.to[d];
    const Index source = rowMajorOffset(cell, extents), target = rowMajorOffset(other, extents);
    if (action == Clear)
      y[source] = 0;
    else if (isAdjoint)
      y[source] = action == Move ? x[target] : x[source] + x[target];
    else
      y[target] = action == Add ? x[target] + x[source] : x[source];
    if (action == Move)
      y[isAdjoint ? target : source] = 0;
    if (action == Copy && isAdjoint)
      y[target] = 0;
  });
  return y;
}

void compareMaps(Case& c, TenonLinearOp op, const LayoutSpec& spec, TenonDataType type,
                 Action action, const Boxes& boxes) {
  for (const bool isAdjoint : {false, true}) {
    const Layout layout = makeLayout(c.comm, isAdjoint ? spec.dual() : spec);
    Field x(layout, type, c.draw.chance(40), c.draw, c.space),
        y(layout, type, c.draw.chance(40), c.draw, c.space);
    // Integers, for which the sums are exact; y must be overwritten.
    x.fillByPosition({c.draw.number() + static_cast<std::uint64_t>(c.rank), Numbers::Integers});
    y.spoil();
    require(isAdjoint ? TenonLinearOpApplyAdjoint(op, x, y) : TenonLinearOpApply(op, x, y));
    c.computed(y.read());
    const Values expected =
        resultByDefinition(action, boxes, extentsOf(x.box()), x.read(), isAdjoint);
    c.found(isAdjoint ? "adjoint" : "forward", difference(y.read(), expected, y.box(), 0));
    c.found("forward or adjoint",
            x.isGuardIntact() && y.isGuardIntact() ? "" : ": elements around the box changed");
  }
}

void checkAdjointIdentity(Case& c, TenonLinearOp op) {
  double forward = 0, adjoint = 0;
  require(
      TenonLinearOpTestAdjoint(op, c.draw.upTo(1 << 20), TENON_TRUE, &forward, &adjoint, nullptr));
  // For small integers both pairings are exact.
  if (forward != adjoint)
    c.found("adjoint identity", fmt::format(": <F x, y> is {}, <x, F* y> is {}", forward, adjoint));
}

} // namespace

void checkMemory(Case& c) {
  constexpr const char* kNames[] = {"clear", "add", "copy", "move"};
  const Action action = static_cast<Action>(c.draw.upTo(3));
  const TenonDataType type = drawFloating(c.draw);
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  const LayoutSpec spec = drawAnyLayout(c.draw, drawShape(c.draw, 1, 3, 9), grid);
  Draw ownDraw(c.draw.number(), c.rank); // different boxes on each rank
  const Boxes boxes = drawBoxes(ownDraw, extentsOf(spec.box(c.position(grid))),
                                /*isAlone=*/action == Clear);
  c.text += fmt::format(" {} {} on {}", typeText(type), kNames[action], spec.text());
  LinearOp op;
  require(TenonLinearOpCreateMemory(makeLayout(c.comm, spec), kNames[action], boxes.low.data(),
                                    boxes.high.data(), action == Clear ? nullptr : boxes.to.data(),
                                    type, op.out()));
  compareMaps(c, op, spec, type, action, boxes);
  checkAdjointIdentity(c, op);
}

} // namespace tenon::tools
