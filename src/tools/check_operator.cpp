// SPDX-License-Identifier: BSD-2-Clause
#include "tools/check_operator.hpp"

#include "tools/field.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::tools {

namespace {

enum class Use { Plain, Factors, Halves, Bound };

struct Call {
  Use use = Use::Plain;
  double alpha = 1, beta = 0;
  bool isAdjoint = false;

  std::string text() const {
    const std::string map = isAdjoint ? "adjoint" : "forward";
    switch (use) {
    case Use::Plain:
      return map;
    case Use::Factors:
      return fmt::format("{} with alpha {} and beta {}", map, alpha, beta);
    case Use::Halves:
      return fmt::format("{} in halves with alpha {} and beta {}", map, alpha, beta);
    case Use::Bound:
      return map + " on bound arrays";
    }
    return map;
  }
};

Call drawCall(Draw& draw, bool isAdjoint) {
  Call call{.use = static_cast<Use>(draw.upTo(3)), .isAdjoint = isAdjoint};
  if (call.use == Use::Factors || call.use == Use::Halves) {
    call.alpha = draw.of<double>({1, 1, -2, 3, 0});
    call.beta = draw.of<double>({0, 1, -3});
  }
  return call;
}

void apply(TenonLinearOp op, const Call& call, TenonDTensor x, TenonDTensor y) {
  const bool adjoint = call.isAdjoint;
  const double alpha = call.alpha, beta = call.beta;
  if (call.use == Use::Factors)
    return require(adjoint ? TenonLinearOpApplyAdjointAdd(op, alpha, x, beta, y)
                           : TenonLinearOpApplyAdd(op, alpha, x, beta, y));
  if (call.use == Use::Halves) {
    require(adjoint ? TenonLinearOpApplyAdjointBegin(op, alpha, x, beta, y)
                    : TenonLinearOpApplyBegin(op, alpha, x, beta, y));
    return require(adjoint ? TenonLinearOpApplyAdjointEnd(op) : TenonLinearOpApplyEnd(op));
  }
  if (call.use == Use::Bound)
    require(adjoint ? TenonLinearOpBindAdjoint(op, x, y) : TenonLinearOpBind(op, x, y));
  for (int round = 0; round < (call.use == Use::Bound ? 2 : 1); ++round)
    require(adjoint ? TenonLinearOpApplyAdjoint(op, x, y) : TenonLinearOpApply(op, x, y));
}

// The cells of all ranks, on each.
std::vector<Values> allCells(const Case& c, const Values& mine) {
  std::vector<int> counts(c.ranks), starts(c.ranks, 0);
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, c.comm);
  for (int r = 1; r < c.ranks; ++r)
    starts[r] = starts[r - 1] + counts[r - 1];
  Values all(starts.back() + counts.back());
  MPI_Allgatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), starts.data(),
                 MPI_DOUBLE, c.comm);
  std::vector<Values> cells;
  for (int r = 0; r < c.ranks; ++r)
    cells.emplace_back(all.begin() + starts[r], all.begin() + starts[r] + counts[r]);
  return cells;
}

// The position with the given coordinate on all axes of a property.
int sibling(const LayoutSpec& spec, int position, char letter, const std::vector<int>& at) {
  int result = 0;
  for (int axis = 0; axis < spec.mesh.axes(); ++axis)
    result =
        result * spec.mesh.extents[axis] +
        (spec.properties[axis].letter == letter ? at[axis] : spec.mesh.coordinate(position, axis));
  return result;
}

// The sum of what the positions along the P axes hold, cell by cell.
Values summedOverAxes(const LayoutSpec& spec, int position,
                      const std::function<Values(int)>& held) {
  Values sum(cellsOf(spec.box(position)));
  for (int p = 0; position >= 0 && p < spec.mesh.size(); ++p) {
    std::vector<int> at;
    for (int axis = 0; axis < spec.mesh.axes(); ++axis)
      at.push_back(spec.mesh.coordinate(p, axis));
    if (sibling(spec, position, 'P', at) != p)
      continue;
    const Values addend = held(p);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += addend[i];
  }
  return sum;
}

bool hasMarginAddends(const LayoutSpec& spec) {
  for (const auto& margin : spec.margins)
    if (margin && margin->addends)
      return true;
  return false;
}

Values combined(const Values& moved, double beta, const Values& before) {
  Values sum = moved;
  for (std::size_t i = 0; beta != 0 && i < sum.size(); ++i)
    sum[i] += beta * before[i];
  return sum;
}

// moved: the value that came; before: what y was filled with.
void compareOutput(Case& c, const LayoutSpec& to, const Field& y, const Values& moved, double beta,
                   const Filling& before, const std::string& what) {
  const int position = c.position(to.mesh);
  const std::vector<Values> cells = allCells(c, y.read());
  const auto held = [&](int p) { return cells[to.mesh.ranks[p]]; };
  if (hasMarginAddends(to))
    c.found(what + ", summed over the ranks,",
            difference(valueOf(to, held), combined(kept(to, moved), beta, valueOf(to, before)),
                       boxOf(to.shape), 0));
  else
    c.found(what + (to.has('P') ? ", summed over the ranks," : ""),
            difference(
                summedOverAxes(to, position, held),
                combined(heldOf(to, position, moved), beta,
                         summedOverAxes(to, position, [&](int p) { return fill(to, p, before); })),
                to.box(position), 0));
  const std::vector<int> origin(to.mesh.axes(), 0);
  if (position >= 0)
    c.found(what + ", copies compared,",
            difference(held(position), held(sibling(to, position, 'B', origin)), y.box(), 0));
}

// What comes of the input's value by definition.
Values movedValue(const Subject& s, double alpha, const Filling& ofX) {
  if (alpha * s.factor == 0)
    return Values(cellsOf(s.to.shape));
  Values value = valueOf(s.from, ofX);
  for (const LayoutSpec& layout : s.between)
    value = kept(layout, std::move(value));
  for (double& cell : value)
    cell *= alpha * s.factor;
  return value;
}

// subject: of this direction; op: the operator or the one whose adjoint it is.
void checkDirection(Case& c, const Subject& s, TenonLinearOp op, const Call& call) {
  const Filling ofX{c.draw.number(), true}, ofY{c.draw.number(), true};
  const bool callersX = c.draw.chance(40), callersY = c.draw.chance(40);
  const std::string what =
      call.text() + (callersX ? ", caller's x" : "") + (callersY ? ", caller's y" : "");
  Field x(makeLayout(c.comm, s.from), s.fromType, callersX, c.draw);
  Field y(makeLayout(c.comm, s.to), s.toType, callersY, c.draw);
  const Values given = fill(s.from, c.position(s.from.mesh), ofX);
  if (call.alpha == 0)
    x.spoil();
  else
    x.write(given);
  if (call.beta == 0)
    y.spoil();
  else
    y.write(fill(s.to, c.position(s.to.mesh), ofY));
  apply(op, call, x, y);
  compareOutput(c, s.to, y, movedValue(s, call.alpha, ofX), call.beta, ofY, what + ": output");
  if (call.alpha != 0)
    c.found(what + ": input changed", difference(x.read(), given, x.box(), 0));
  c.found(what, x.isGuardIntact() && y.isGuardIntact() ? "" : ": cells around the box changed");
}

void checkIdentity(Case& c, const Subject& s) {
  const TenonInt seed = c.draw.upTo(1 << 20);
  double forward = 0, adjoint = 0, relative = 0;
  require(TenonLinearOpTestAdjoint(s.op, seed, TENON_TRUE, &forward, &adjoint, nullptr));
  if (forward != adjoint)
    c.found("adjoint identity on integers",
            fmt::format(": <F x, y> is {}, <x, F* y> is {}", forward, adjoint));
  if (s.factor == 0)
    return; // what is left of terms that cancel is rounding alone
  require(TenonLinearOpTestAdjoint(s.op, seed, TENON_FALSE, &forward, &adjoint, &relative));
  const bool single = s.fromType == TENON_FLOAT32 || s.toType == TENON_FLOAT32;
  if (!(relative <= (single ? 1e-5 : 1e-13)))
    c.found("adjoint identity",
            fmt::format(": <F x, y> is {:.17g}, <x, F* y> is {:.17g}", forward, adjoint));
}

} // namespace

Subject Subject::adjoint() const {
  Subject result{.from = to.dual(),
                 .to = from.dual(),
                 .fromType = toType,
                 .toType = fromType,
                 .factor = factor};
  for (auto layout = between.rbegin(); layout != between.rend(); ++layout)
    result.between.push_back(layout->dual());
  return result;
}

void checkOperator(Case& c, const Subject& subject) {
  checkDirection(c, subject, subject.op, drawCall(c.draw, false));
  checkDirection(c, subject.adjoint(), subject.op, drawCall(c.draw, true));
  if (subject.fromType != TENON_INT64)
    checkIdentity(c, subject);
}

} // namespace tenon::tools
