// SPDX-License-Identifier: BSD-2-Clause
// Two-ended parallelizations on a fine grid. The axes of a fine grid are the prime factors of the
// number of processes, in the order of the machine's levels, so that all layers of a plan lie on
// one grid. A parallelization gives each axis a label: the batch takes axes from the first inward,
// space from the last inward, and channels have those between, first the output's and then the
// input's,
//
//     n n n n | o o | i | h h h       text: "n4,o2,i,h3-"
//
// Spatial dimensions take turns from the last axis, which is the major one of the first dimension:
// "dhw4-" are d, h, w, d read from the last axis. Two such parallelizations are prefixes of each
// other in batch and space, so that each rank keeps what both give it.
#pragma once

#include "geometry/layout/grid.hpp"
#include "geometry/schedule/schedule.hpp"
#include "sys/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct Parallelization {
  // Axes. Output channels are o in texts, or g where they are groups of both; input channels are i.
  int batch = 0, outputs = 0, inputs = 0, space = 0;

  int channels() const { return outputs + inputs; }
  bool operator==(const Parallelization&) const = default;
};

// The numbers of parts into which a parallelization splits batch, channels and space; space both as
// a whole and by dimension.
struct Parts {
  Index batch = 1, channels = 1, space = 1;
  Index inputs = 1; // of the parts of channels, those of the input's
  std::vector<Index> spatial = {};
};

class FineGrid {
public:
  // A grid for the levels of a machine, from the outermost, whose sizes multiply to the number of
  // processes.
  explicit FineGrid(const std::vector<Index>& levels);

  // The same processes with the axes in the opposite order: parallelizations then have the batch
  // innermost.
  FineGrid reversed() const;
  bool isReversed() const noexcept { return reversed_; }
  // The same processes with the axes in each order, this one first; axes of one level and extent
  // are alike. So parallelizations can place batch, channels and space on the levels in every way:
  // each parallelism matrix has an order in which the batch's axes come first and those of space
  // last. Throws TENON_ERR_SUPPORT, saying how many there are, if these are too many.
  std::vector<FineGrid> orders() const;
  bool hasFewOrders() const; // then it does not throw
  // The level of each axis, 0 for the outermost.
  const std::vector<int>& levels() const noexcept { return levels_; }
  // The grid without its last axes: it has the first process of each group that they number, and
  // the others idle.
  FineGrid withoutLast(int axes) const;

  Index processes() const noexcept { return processes_; }
  // The processes at the positions of the grid.
  GridPtr grid() const { return Grid::make(extents_, ranks_); }
  const std::vector<int>& extents() const noexcept { return extents_; }
  int axes() const noexcept { return static_cast<int>(extents_.size()); }

  // All parallelizations. Those that split the batch most come first, and those of input channels
  // last: the parallelizations without output channels, and then those with both.
  std::vector<Parallelization> parallelizations(bool inputChannels) const;
  Parts parts(const Parallelization& parallelization, int splitDims) const;

private:
  std::vector<std::pair<int, int>> kinds() const; // level and extent of each axis
  double countOrders() const;
  Index product(int first, int last) const;
  FineGrid ordered(const std::vector<int>& order) const;

  std::vector<int> extents_, levels_, ranks_;
  Index processes_ = 1;
  bool reversed_ = false;
};

// The labels of the leading spatial dimensions of `dims` that may be split: "h" for 1 of 2, "dhw"
// for 3 of 3.
std::string spatialLabels(int dims, int split);
// What the parts are of, for a person: "rows over 4, channels in over 2". `spatial` are the labels
// of the spatial parts, and `label` that of output channels.
std::string meaningOf(const Parts& parts, const std::string& spatial, char label);
// `label` is that of output channels: inside, they are 'o' for every layer, and a layer with groups
// shows them as 'g'.
std::string textOf(const Parallelization& parallelization, const std::string& spatial,
                   char label = 'o');
// Reads runs such as "n4,o2,h3-", or single labels "n,n,o"; "s" stands for the spatial labels.
// Throws TENON_ERR_OPTION saying what is wrong with the text, for `who`, unless it is a two-ended
// parallelization whose output channels have the label.
Parallelization parseParallelization(std::string_view text, const FineGrid& grid,
                                     const std::string& spatial, const std::string& who,
                                     char label = 'o');

} // namespace tenon
