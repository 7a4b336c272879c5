// SPDX-License-Identifier: BSD-2-Clause
// PackedRuns: a small part of an array as runs of contiguous bytes, found once for the strides of
// the array. To pack the part again is then a loop of copies. Examples are rows of nodes that
// follow each other on the border of a mesh, and the rows of a plane of a grid.
#pragma once

#include "dtensor/dtensor.hpp"
#include "linop/exchange/part.hpp"

#include <span>
#include <vector>

namespace tenon {

class PackedRuns {
public:
  // Reserves the memory for a part of this size in bytes. Parts from kLargePart on have no runs:
  // kernels pack them, past the caches and with several threads.
  explicit PackedRuns(Index bytes);

  // Finds the runs of these regions in the array of x on the host, unless they are known for its
  // strides. Returns false if there are none, or if they are short on average, for which a kernel
  // is faster. The regions must be the same in each call.
  bool find(const DTensor& x, std::span<const Region> regions);
  // Copies the runs of the array to contiguous memory; returns the end of the copy.
  std::byte* pack(const DTensor& x, std::byte* elements) const;

private:
  struct Run {
    Index offset, bytes; // from the first element of the array
  };
  bool add(const Run& run);
  bool addRegion(const Region& region, int dim, Index offset);

  static constexpr Index kMinRun = 32; // Bytes of a run, on average.

  std::vector<Run> runs_;
  std::size_t maxRuns_;
  Strides strides_{};
  bool isKnown_ = false, hasRuns_ = false;
  // Of the array and the region in find(): the bytes of an element; the first of the innermost
  // dimensions that are contiguous, and their bytes.
  Index elementBytes_ = 0, innerBytes_ = 0;
  int inner_ = 0;
};

} // namespace tenon
