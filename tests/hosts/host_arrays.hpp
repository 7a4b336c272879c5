// SPDX-License-Identifier: BSD-2-Clause
// For the tests of strided arrays of hosts: a field [2, ny, nx] with ghost cells in an array that
// placed(x, ghosts) puts into a tensor [1, 2, ny, nx].
#pragma once
#include "capi/thrown.hpp"

#include <array>

namespace hosts {

constexpr TenonInt kChannels = 2, kRows = 3, kColumns = 5, kBefore = 1, kBehind = 2;
constexpr TenonInt kWide = kColumns + kBefore + kBehind, kHigh = kRows + kBefore + kBehind;

inline tenon::DTensor field() {
  const tenon::Partition grid(MPI_COMM_SELF, {1});
  return tenon::DTensor(tenon::Layout(grid, {1, kChannels, kRows, kColumns}, "B"), TENON_FLOAT64);
}

// The tensor writes 7 to its elements of the array, and to no other; an array of other extents is
// refused. `at` returns an element of the array, which is 0 everywhere.
template <class Array, class Place, class At>
void checkInPlace(const Array& array, Place place, At at) {
  tenon::DTensor x = field();
  const std::array<TenonInt, 3> low{0, kBefore, kBefore}, high{0, kBehind, kBehind};
  {
    const auto placed = place(x, array, low, high);
    x.fill(7);
  }
  for (TenonInt c = 0; c < kChannels; ++c)
    for (TenonInt j = 0; j < kHigh; ++j)
      for (TenonInt i = 0; i < kWide; ++i) {
        const bool isOwned =
            j >= kBefore && j < kBefore + kRows && i >= kBefore && i < kBefore + kColumns;
        CHECK(at(c, j, i) == (isOwned ? 7 : 0));
      }
  CHECK(isOfWrongLength([&] { (void)place(x, array, low, {0, 0, 0}); }));
}

} // namespace hosts
