// SPDX-License-Identifier: BSD-2-Clause
// PackedRuns: a small part of an array as runs of contiguous bytes, found once for the strides of
// the array. To pack the part again is then a loop of copies, and to combine a received part with
// the array is a loop of copies or of sums. Examples are rows of nodes that follow each other on
// the border of a mesh, and the rows of a plane of a grid. A part of several fields, whose arrays
// can have different strides, has the runs of each of these strides.
#pragma once

#include "dtensor/dtensor.hpp"
#include "linop/exchange/part.hpp"
#include "linop/exchange/region_run.hpp"

#include <span>
#include <vector>

namespace tenon {

class PackedRuns {
public:
  // Of a part of this size in bytes, of which the runs of one field are found. Reserves the memory
  // for the first strides. Parts from kLargePart on have none: kernels pack them, past the caches
  // and with several threads.
  explicit PackedRuns(Index bytes, int fields = 1);

  // Finds the runs of these regions in the array of x on the host, unless they are known for its
  // strides; they remain known for as many strides as there are fields. Returns false if there are
  // none, or if they are short on average, for which a kernel is faster. The regions must be the
  // same in each call.
  bool find(const DTensor& x, std::span<const Region> regions);

  // With the runs of the last find():

  // Copies the runs of the array to contiguous memory; returns the end of the copy.
  std::byte* pack(const DTensor& x, std::byte* elements) const;
  // Copies contiguous elements to the runs of the array, or adds them; returns the end of the
  // elements.
  const std::byte* unpack(DTensor& y, const std::byte* elements, bool adds) const;

private:
  struct Run {
    Index offset, bytes; // from the first element of the array
  };
  // The runs of arrays of these strides; none if they would be too many.
  struct Found {
    Strides strides{};
    std::vector<Run> runs;
    bool hasRuns = false;
  };
  void findRuns(Found& found, const DTensor& x, std::span<const Region> regions);
  bool add(std::vector<Run>& runs, const Run& run) const;
  bool addRegion(Found& found, const Region& region, int dim, Index offset) const;

  static constexpr Index kMinRun = 32; // Bytes of a run, on average.

  std::size_t maxRuns_;
  std::vector<Found> found_; // At most one for each field.
  std::size_t used_ = 0;     // How many of them have strides.
  std::size_t at_ = 0;       // That of the last find().
  // Of the array and the region in findRuns(): the bytes of an element; the first of the innermost
  // dimensions that are contiguous, and their bytes.
  Index elementBytes_ = 0, innerBytes_ = 0;
  int inner_ = 0;
};

// Packs a part of an action on the host; returns the end of the elements. The runs are those of a
// field of the part; where it has none, `way` says how kernels store the elements.
std::byte* packPart(const Action& action, const Part& part, PackedRuns& runs, std::byte* elements,
                    StoreWay way);
// As combineChunks(), on the host, with the runs of a field of the part.
const std::byte* combinePart(const Action& action, const Part& part, Interval chunks,
                             PackedRuns& runs, const std::byte* elements, const Meeting& meeting);

} // namespace tenon
