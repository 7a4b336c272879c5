// SPDX-License-Identifier: BSD-2-Clause
// The definition of a conversion, cell by cell and axis by axis, with nothing precomputed: the
// independent reference that schedules and operators are compared with.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon::test {

// Calls f with every index of a box of the given extents.
template <class F>
void forEach(const Shape& extent, F f) {
  std::vector<Index> index(extent.size(), 0);
  for (Index n = elements(extent); n > 0; --n) {
    f(index);
    for (int d = static_cast<int>(extent.size()) - 1; d >= 0 && ++index[d] == extent[d]; --d)
      index[d] = 0;
  }
}

// The boundary modes of a halo at a cell of the box that is held.
struct Modes {
  Boundary low, high;
};

inline Modes modesAt(const Halo& halo, const Box& held, const std::vector<Index>& local) {
  if (halo.bands.empty())
    return {halo.low, halo.high};
  const Index channel = held[1].begin + local[1];
  std::size_t band = 0;
  while (channel >= halo.bands[band].end)
    ++band;
  return {halo.bands[band].low, halo.bands[band].high};
}

// Whether a cell of the box that is held is supplied by the user (Boundary::Values), and not filled
// by a conversion.
inline bool isUserCell(const Layout& layout, const Box& held, const std::vector<Index>& local) {
  for (int d = 0; d < layout.ndim(); ++d) {
    const auto& halo = layout.halo(d);
    const Index index = held[d].begin + local[d];
    if (halo &&
        ((index < 0 && modesAt(*halo, held, local).low == Boundary::Values) ||
         (index >= layout.shape()[d] && modesAt(*halo, held, local).high == Boundary::Values)))
      return true;
  }
  return false;
}

// Whether an index is beyond a side with a pole mode.
inline bool isBeyondPole(Index index, Index extent, const Modes& modes) {
  return (index < 0 && isPole(modes.low)) || (index >= extent && isPole(modes.high));
}

// Crosses poles from an index outside until it is a row, and returns how often. With poles between
// rows (Boundary::Pole), for example, row -1 is row 0 and row -2 is row 1, after one crossing; if
// the first row is the pole (PolePoint), row -1 is row 1. A halo can be wider than the globe has
// rows, and then crosses both sides in turn; a side that is not a pole is crossed as if it were the
// other one.
inline int crossPoles(Index& row, Index extent, const Modes& modes) {
  int crossings = 0;
  for (; row < 0 || row >= extent; ++crossings) {
    Boundary mode = row < 0 ? modes.low : modes.high;
    if (!isPole(mode))
      mode = row < 0 ? modes.high : modes.low;
    const bool isOn = mode == Boundary::PolePoint || mode == Boundary::PolePointVector;
    if (isOn && extent == 1)
      row = 0; // a single row on the pole: mirroring about it would never end
    else if (row < 0)
      row = isOn ? -row : -1 - row;
    else
      row = (isOn ? 2 * extent - 2 : 2 * extent - 1) - row;
  }
  return crossings;
}

// The global index that a local cell stands for when the layout is the source of a conversion
// (asSource) or its target; nothing if the conversion ignores the cell, or the cell is a zero.
// Cells beyond the owned ones count in one of the two roles only. A halo of copies (G) is filled by
// a conversion to it, and ignored by one from it, which reads owned cells. A halo of contributions
// (G*, isPartial) is added to the owners by a conversion from it, and ignored by one to it.
// With replicated ends, for example, cell -1 of a target G stands for element 0; so does cell -1 of
// a source G*.
inline std::optional<std::vector<Index>> globalOf(const Layout& layout, int position,
                                                  const std::vector<Index>& local, bool asSource) {
  std::vector<Index> global(local.size());
  int longitudes = -1, crossings = 0;
  for (int d = 0; d < layout.ndim(); ++d) {
    const int part = layout.part(position, d);
    const Index index = layout.box(d, part).begin + local[d];
    const auto& halo = layout.halo(d);
    const Interval owned = layout.owned(d, part);
    std::optional<Index> value = index; // of this dimension in `global`
    if (halo && asSource == halo->isPartial) {
      const Modes modes = modesAt(*halo, layout.box(position), local);
      if (isBeyondPole(index, layout.shape()[d], modes)) {
        longitudes = halo->longitudes; // one dimension at most has poles
        if (layout.shape()[d] == 0)
          return std::nullopt; // a globe without rows has nothing to copy
        crossings = crossPoles(*value, layout.shape()[d], modes);
      } else // all other modes mirror or repeat within this dimension (boundary.hpp)
        value = extensionSource(index, layout.shape()[d], modes.low, modes.high);
    } else if (index < owned.begin || index >= owned.end)
      value = std::nullopt;
    if (!value)
      return std::nullopt;
    global[d] = *value;
  }
  // Beyond a pole, a row continues on the opposite meridian, half of the longitudes away.
  if (crossings % 2 != 0) {
    const Index all = layout.shape()[longitudes];
    global[longitudes] = (global[longitudes] + all / 2) % all;
  }
  return global;
}

// The sign, 1 or -1, with which the cell has the value of the element globalOf(); -1 beyond odd
// ends, and for components of vectors, which turn round at a pole, after an odd number of poles.
inline int signOf(const Layout& layout, int position, const std::vector<Index>& local,
                  bool asSource) {
  int sign = 1;
  for (int d = 0; d < layout.ndim(); ++d)
    if (const auto& halo = layout.halo(d); halo && asSource == halo->isPartial) {
      const Modes modes = modesAt(*halo, layout.box(position), local);
      Index index = layout.box(d, layout.part(position, d)).begin + local[d];
      const Index extent = layout.shape()[d];
      if (!isBeyondPole(index, extent, modes)) {
        sign *= extensionSign(index, extent, modes.low, modes.high);
        continue;
      }
      const Boundary mode = index < 0 ? modes.low : modes.high;
      const bool isVector = mode == Boundary::PoleVector || mode == Boundary::PolePointVector;
      sign *= extent > 0 && isVector && crossPoles(index, extent, modes) % 2 != 0 ? -1 : 1;
    }
  return sign;
}

// Whether r may send to s: the definition, written axis by axis. On an axis where the source is
// replicated (B) or the target is partial (P), data stay at their coordinate: a copy is there
// already, and a sum must get each contribution once. If both hold, only coordinate 0 sends, since
// the sum over the copies would otherwise be a multiple of the value. Between two grids,
// coordinates do not correspond, so one coordinate, 0, sends the copy or receives the contribution.
inline bool mayTalk(const Layout& a, int r, const Layout& b, int s) {
  const bool sameGrid = a.grid() == b.grid();
  if (sameGrid) {
    for (int axis = 0; axis < a.grid().axes(); ++axis) {
      const bool fromB = a.property(axis).isBroadcast(), toP = b.property(axis).isPartial();
      const int cr = a.grid().coordinate(r, axis), cs = b.grid().coordinate(s, axis);
      if ((fromB || toP) && cr != cs)
        return false;
      if (fromB && toP && cr != 0)
        return false;
    }
    return true;
  }
  for (int axis = 0; axis < a.grid().axes(); ++axis)
    if (a.property(axis).isBroadcast() && a.grid().coordinate(r, axis) != 0)
      return false;
  for (int axis = 0; axis < b.grid().axes(); ++axis)
    if (b.property(axis).isPartial() && b.grid().coordinate(s, axis) != 0)
      return false;
  return true;
}

} // namespace tenon::test
