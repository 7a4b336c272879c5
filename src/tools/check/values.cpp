// SPDX-License-Identifier: BSD-2-Clause
// Values of tensors by definition. fill() returns the elements of one position of a layout for a
// given numbering, valueOf() the dense tensor that the elements of all positions represent, and
// heldOf() the elements of one position for a given dense tensor. Every number is a hash of its
// global index and, in a layout with partial sums, of the position that contributes it, so a rank
// knows the elements of all others without a message.
#include "tools/check/values.hpp"

#include "tools/check/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::tools {

namespace {

// The element of the domain that a local element represents, with its sign.
struct DomainCell {
  Indices at;
  double sign = 1;
};

// Returns the element of the domain that element `cell` of a position's box represents, or none if
// it does not count. When a tensor's value is computed from the elements (shown = false), ghosts
// with contributions count for the element that they extend, and ghosts with values do not count.
// When the elements are computed from the value (shown = true), it is the opposite.
std::optional<DomainCell> domainCell(const LayoutSpec& spec, int position, const Indices& cell,
                                     bool shown) {
  DomainCell found{.at = Indices(cell.size())};
  int longitudes = -1; // of a cell that is beyond a pole
  for (int d = 0; d < spec.ndim(); ++d) {
    const auto& halo = spec.halos[d];
    std::optional<Shown> at = Shown{cell[d]};
    if (halo && halo->isPartial != shown)
      at = extension(cell[d], spec.shape[d], halo->low, halo->high);
    else if (!spec.owned(d, spec.part(position, d)).contains(cell[d]))
      at.reset();
    if (!at)
      return std::nullopt;
    found.at[d] = at->cell;
    found.sign *= at->sign;
    longitudes = at->crossed ? halo->longitudes : longitudes;
  }
  if (longitudes >= 0)
    toOppositeMeridian(found.at, spec.shape, longitudes);
  return found;
}

// Whether a position has elements, and is the first of those that have copies of them.
bool isFirstCopy(const LayoutSpec& spec, int position) {
  for (int axis = 0; axis < spec.grid.axes(); ++axis)
    // Only the first of several copies counts.
    if (spec.properties[axis].kind == 'B' && spec.grid.coordinate(position, axis) != 0)
      return false;
  return spec.isActive(position);
}

// The number that 64 random bits give: multiples of 1/64 in Fractions and Positives, which are
// exact in float32.
double numberOf(std::uint64_t drawn, Numbers numbers) {
  // 53 random bits as a number in [-1, 1).
  const double real = std::ldexp(static_cast<double>(drawn >> 11), -52) - 1;
  switch (numbers) {
  case Numbers::Integers:
    return static_cast<double>(drawn % 9) - 4;
  case Numbers::Fractions:
    return static_cast<double>(drawn % 128) / 64 - 1;
  case Numbers::Positives:
    return static_cast<double>(drawn % 128) / 64 + 0.5;
  case Numbers::Singles:
    return static_cast<double>(static_cast<float>(real));
  case Numbers::Doubles:
    break;
  }
  return real;
}

// The number of element `cell` of a position's box.
double filledCell(const LayoutSpec& spec, int position, const Indices& cell,
                  const Filling& filling) {
  std::uint64_t key = 0;
  double sign = 1;
  for (int axis = 0; axis < spec.grid.axes(); ++axis)
    // Contributions are independent: equal ones would hide many wrong sums.
    if (spec.properties[axis].kind == 'P')
      key = hash(key, spec.grid.coordinate(position, axis) + 1);
  const auto holdsContributions = [&](int d) { return spec.halos[d] && spec.halos[d]->isPartial; };
  Indices shown = cell;
  int longitudes = -1; // of a cell that is beyond a pole
  for (int d = 0; d < spec.ndim(); ++d) {
    const auto& halo = spec.halos[d];
    if (!halo || halo->isPartial)
      continue;
    const auto at = extension(cell[d], spec.shape[d], halo->low, halo->high);
    if (!at)
      return 0;
    shown[d] = at->cell;
    sign *= at->sign;
    longitudes = at->crossed ? halo->longitudes : longitudes;
  }
  if (longitudes >= 0)
    toOppositeMeridian(shown, spec.shape, longitudes);
  for (int d = 0; d < spec.ndim(); ++d) {
    // The contributions of a halo also differ from part to part.
    if (holdsContributions(d))
      key = hash(key, spec.part(position, d));
    key = hash(key, static_cast<std::uint64_t>(shown[d]));
  }
  return sign * filling.at(key);
}

} // namespace

double Filling::at(std::uint64_t position) const {
  const double number = numberOf(hash(key, position), numbers);
  return isPositive ? std::abs(number) : number;
}

Values fill(const LayoutSpec& spec, int position, const Filling& filling) {
  Values cells;
  forEachCell(spec.box(position), [&](const Indices& cell) {
    cells.push_back(filledCell(spec, position, cell, filling));
  });
  return cells;
}

Values valueOf(const LayoutSpec& spec, const std::function<Values(int)>& elements) {
  Values value(elementsOf(spec.shape), 0.0);
  for (int position = 0; position < spec.grid.size(); ++position) {
    if (!isFirstCopy(spec, position))
      continue;
    const Values held = elements(position);
    std::size_t next = 0;
    forEachCell(spec.box(position), [&](const Indices& cell) {
      const double contribution = held[next++];
      if (const auto at = domainCell(spec, position, cell, /*shown=*/false))
        value[rowMajorOffset(at->at, spec.shape)] += at->sign * contribution;
    });
  }
  return value;
}

Values valueOf(const LayoutSpec& spec, const Filling& filling) {
  return valueOf(spec, [&](int position) { return fill(spec, position, filling); });
}

Values heldOf(const LayoutSpec& spec, int position, const Values& value) {
  Values elements;
  forEachCell(spec.box(position), [&](const Indices& cell) {
    const auto at = domainCell(spec, position, cell, /*shown=*/true);
    elements.push_back(at ? at->sign * value[rowMajorOffset(at->at, spec.shape)] : 0);
  });
  return elements;
}

Values afterRoundTrip(const LayoutSpec& spec, Values value) {
  forEachCell(boxOf(spec.shape), [&](const Indices& cell) {
    for (int d = 0; d < spec.ndim(); ++d)
      if (spec.halos[d] && !spec.covers(d, cell[d]))
        value[rowMajorOffset(cell, spec.shape)] = 0;
  });
  return value;
}

double scaleOf(const Values& values) {
  double largest = 1;
  for (const double value : values)
    largest = std::max(largest, std::abs(value));
  return largest;
}

std::string difference(const Values& got, const Values& expected, const Box& box,
                       double tolerance) {
  if (got.size() != expected.size())
    return fmt::format(": expected {} elements, got {}", expected.size(), got.size());
  std::string found;
  std::size_t next = 0;
  forEachCell(box, [&](const Indices& cell) {
    const double g = got[next], e = expected[next];
    ++next;
    // The comparison fails for NaN, too.
    if (found.empty() && !(std::abs(g - e) <= tolerance))
      found = fmt::format(" at {}: expected {}, got {}", listText(cell), e, g);
  });
  return found;
}

} // namespace tenon::tools
