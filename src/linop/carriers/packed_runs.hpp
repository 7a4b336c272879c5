// SPDX-License-Identifier: BSD-2-Clause
// PackedRuns: a small part of an array as runs of contiguous bytes, found once for the strides of
// the array. To pack the part again is then a loop of copies, and to combine a received part with
// the array is a loop of copies or of sums. Examples are rows of nodes that follow each other on
// the border of a mesh, and the rows of a plane of a grid. A part of several fields has runs for
// each of them.
#pragma once

#include "dtensor/dtensor.hpp"
#include "linop/exchange/part.hpp"
#include "linop/exchange/region_run.hpp"

#include <span>
#include <vector>

namespace tenon {

class PackedRuns {
public:
  // Of elements of this size in bytes, for which it reserves the memory. From kLargePart on there
  // are none: kernels pack these elements, past the caches and with several threads.
  explicit PackedRuns(Index bytes);

  // Finds the runs of these regions in the array of x on the host, unless they are known for its
  // strides, those of the last call. Returns false if there are none, or if they are short on
  // average, for which a kernel is faster. The regions must be the same in each call.
  bool find(const DTensor& x, std::span<const Region> regions);

  // With the runs of the last find():

  // Copies the runs of the array to contiguous memory; returns the end of the copy.
  std::byte* pack(const DTensor& x, std::byte* elements) const;
  // Copies contiguous elements to the runs of the array, or adds them; returns the end of the
  // elements.
  const std::byte* unpack(DTensor& y, const std::byte* elements, bool adds) const;
  // Copies the runs `from` of x to these of y, or adds them.
  void move(const DTensor& x, const PackedRuns& from, DTensor& y, bool adds) const;

private:
  struct Run {
    Index offset, bytes; // from the first element of the array
  };
  bool findRuns(const DTensor& x, std::span<const Region> regions);
  bool add(const Run& run);
  bool addRegion(const Region& region, int dim, Index offset);

  static constexpr Index kMinRun = 32; // Bytes of a run, on average.

  std::size_t maxRuns_;
  // Of arrays of these strides, after the first find(); none if they would be too many.
  Strides strides_{};
  std::vector<Run> runs_;
  bool isFound_ = false, hasRuns_ = false;
  // Of the array and the region in findRuns(): the bytes of an element; the first of the innermost
  // dimensions that are contiguous, and their bytes.
  Index elementBytes_ = 0, innerBytes_ = 0;
  int inner_ = 0;
};

// The runs of a part, by its fields.
using PartRuns = std::vector<PackedRuns>;
PartRuns runsOf(const Part& part);

// Packs a part of an action on the host; returns the end of the elements. Where a field has no
// runs, `way` says how kernels store its elements.
std::byte* packPart(const Action& action, const Part& part, PartRuns& runs, std::byte* elements,
                    StoreWay way);
// As combineChunks(), on the host, with the runs of the part.
const std::byte* combinePart(const Action& action, const Part& part, Interval chunks,
                             PartRuns& runs, const std::byte* elements, const Meeting& meeting);

// The runs of a small part that stays on the rank, in the arrays of x and y; none for a large part.
struct OwnRuns {
  PartRuns from, to;
};
// Combines such a part with y, on the host by runs where it has them.
void combineOwnPart(const Action& action, const Part& part, OwnRuns& runs, const Meeting& meeting);
// Combines a region of such a part with y, unless it is in place.
inline void combineOwnRegion(const Action& action, const Region& from, const Region& to,
                             const Meeting& meeting) {
  if (&to != meeting.inPlaceOf(to.field))
    combineRegion(action, to, viewOf(action.source(from.field), from), meeting);
}

} // namespace tenon
