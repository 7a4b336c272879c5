// SPDX-License-Identifier: BSD-2-Clause
// Compares the output of an operator with the definition of its layout. Every rank gets the
// elements of all ranks: in a layout with partial sums only the sum over ranks is defined. Copies
// are compared bitwise with the first one: rounding can differ from the definition, but not between
// copies. All functions with a Case communicate, on all its ranks. The functions are declared in
// operator.hpp and case.hpp.
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace tenon::tools {

namespace {

// The elements of all ranks, on each rank.
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

// The position that has the coordinates `at` on all axes of the property `kind`, and those of
// `position` on the others.
int sibling(const LayoutSpec& spec, int position, char kind, const std::vector<int>& at) {
  int result = 0;
  for (int axis = 0; axis < spec.grid.axes(); ++axis)
    result = result * spec.grid.extents[axis] +
             (spec.properties[axis].kind == kind ? at[axis] : spec.grid.coordinate(position, axis));
  return result;
}

// The elementwise sum over the positions along the P axes.
Values summedOverAxes(const LayoutSpec& spec, int position,
                      const std::function<Values(int)>& held) {
  Values sum(elementsOf(spec.box(position)));
  for (int p = 0; position >= 0 && p < spec.grid.size(); ++p) {
    std::vector<int> at;
    for (int axis = 0; axis < spec.grid.axes(); ++axis)
      at.push_back(spec.grid.coordinate(p, axis));
    if (sibling(spec, position, 'P', at) != p)
      continue;
    const Values contribution = held(p);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += contribution[i];
  }
  return sum;
}

// The first element whose bits differ.
std::string differentBits(const Values& got, const Values& expected, const Box& box) {
  std::string found;
  std::size_t next = 0;
  forEachCell(box, [&](const Indices& cell) {
    const double g = got[next], e = expected.at(next);
    ++next;
    if (found.empty() && std::bit_cast<std::uint64_t>(g) != std::bit_cast<std::uint64_t>(e))
      found = fmt::format(" at {}: {:a}, got {:a}", listText(cell), e, g);
  });
  return found;
}

bool hasPartialHalos(const LayoutSpec& spec) {
  for (const auto& halo : spec.halos)
    if (halo && halo->isPartial)
      return true;
  return false;
}

// alpha F x + beta y, from `moved` = alpha F x and y = `before`.
Values combined(const Values& moved, double beta, const Values& before) {
  Values sum = moved;
  for (std::size_t i = 0; beta != 0 && i < sum.size(); ++i)
    sum[i] += beta * before[i];
  return sum;
}

} // namespace

double roundingOf(TenonDataType type, double magnitude) {
  // As large as 64 roundings of the sum; most elements have few contributions, hence few roundings.
  return 64 * magnitude * (type == TENON_FLOAT32 ? 0x1p-23 : 0x1p-52);
}

void compareCopies(Case& c, int number, const Values& mine, const Box& box,
                   const std::string& what) {
  std::vector<int> numbers(c.ranks);
  MPI_Allgather(&number, 1, MPI_INT, numbers.data(), 1, MPI_INT, c.comm);
  const auto first = std::find(numbers.begin(), numbers.end(), number) - numbers.begin();
  const Values other = allCells(c, mine)[first];
  const bool sameBits =
      mine.size() == other.size() &&
      (mine.empty() || std::memcmp(mine.data(), other.data(), mine.size() * sizeof(double)) == 0);
  if (number >= 0 && !sameBits)
    c.found(what + fmt::format(", beside the copy of rank {},", first),
            differentBits(mine, other, box));
}

void compareOutput(Case& c, const LayoutSpec& to, const Field& y, const Expected& expected,
                   const std::string& what) {
  const auto& [moved, beta, before, tolerance] = expected;
  const int position = c.position(to.grid);
  c.computed(y.read());
  const std::vector<Values> cells = allCells(c, y.read());
  const auto held = [&](int p) { return cells[to.grid.ranks[p]]; };
  const auto filled = [&, filling = before](int p) { return fill(to, p, filling); };
  // With contributions in halos only the tensor's value is defined; otherwise the elements of each
  // position are defined as well, after the sum over the P axes.
  if (hasPartialHalos(to))
    c.found(what + ", summed over the ranks,",
            difference(valueOf(to, held),
                       combined(afterRoundTrip(to, moved), beta, valueOf(to, filled)),
                       boxOf(to.shape), tolerance));
  else
    c.found(what + (to.has('P') ? ", summed over the ranks," : ""),
            difference(
                summedOverAxes(to, position, held),
                combined(heldOf(to, position, moved), beta, summedOverAxes(to, position, filled)),
                to.box(position), tolerance));
  // Positions that differ only on B axes have copies, and are numbered by the position at
  // coordinate 0.
  const std::vector<int> origin(to.grid.axes(), 0);
  compareCopies(c, to.isActive(position) ? sibling(to, position, 'B', origin) : -1, y.read(),
                y.box(), what);
}

} // namespace tenon::tools
