// SPDX-License-Identifier: BSD-2-Clause
// Two-ended parallelizations on a fine grid. A fine grid has one axis per prime factor of the
// number of processes, in the order of the machine's levels (8 processes: 2 x 2 x 2), and all
// layers of a plan use this grid. A parallelization assigns to each axis the dimension that the
// axis splits. It is two-ended because the batch is split from the first axis inward and space from
// the last axis inward. Channels are split by the axes between, first those of the output and then
// those of the input:
//
//     n n n n | o o | i | h h h       text: "n4,o2,i,h3-"
//
// Spatial dimensions alternate, beginning at the last axis, which makes the slowest split of the
// first spatial dimension: "dhw4-" is d, h, w, d, read from the last axis. If one layer splits the
// batch over n axes and another over m > n, the blocks of the second are parts of the blocks of the
// first; the same is true of space. So a rank keeps the data that it has under both
// parallelizations.
#pragma once

#include "geometry/layout/grid.hpp"
#include "geometry/schedule/schedule.hpp"
#include "sys/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// A parallelization on a fine grid, by the numbers of axes that split each kind of dimension.
struct Parallelization {
  // Numbers of axes. The text has o for output channels, or g if they are groups of both, and i for
  // input channels.
  int batch = 0, outputs = 0, inputs = 0, space = 0;

  int channels() const { return outputs + inputs; }
  bool operator==(const Parallelization&) const = default;
};

// The numbers of parts of batch, channels and space under a parallelization; space in total and by
// dimension.
struct Parts {
  Index batch = 1, channels = 1, space = 1;
  Index inputs = 1; // parts of the input's channels, a factor of `channels`
  std::vector<Index> spatial = {};
};

// A fine grid, and the parallelizations on it.
class FineGrid {
public:
  // A grid for the levels of a machine, the outermost first; their sizes multiply to the number of
  // processes.
  explicit FineGrid(const std::vector<Index>& levels);

  // The same processes with the axes in reverse order: the batch is then innermost.
  FineGrid reversed() const;
  bool isReversed() const noexcept { return reversed_; }
  // The same processes with the axes in each possible order, beginning with the order of this grid.
  // Axes of the same level and extent are interchangeable. Together the orders can place batch,
  // channels and space on the levels of the machine in every way, since the first axes split the
  // batch and the last ones space. Throws TENON_ERR_SUPPORT with the number of orders if there are
  // too many.
  std::vector<FineGrid> orders() const;
  bool hasFewOrders() const; // whether orders() does not throw
  // The level of each axis; 0 is the outermost.
  const std::vector<int>& levels() const noexcept { return levels_; }
  // The grid without its last axes. In each group of processes along these axes, the first process
  // remains and the others are idle.
  FineGrid withoutLast(int axes) const;

  Index processes() const noexcept { return processes_; }
  // The process grid, with the rank at each position.
  GridPtr grid() const { return Grid::make(extents_, ranks_); }
  const std::vector<int>& extents() const noexcept { return extents_; }
  int axes() const noexcept { return static_cast<int>(extents_.size()); }

  // All parallelizations: first those without input channels, the largest splits of the batch
  // first; then those with input channels, first without output channels and then with both.
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

// The labels of the leading `split` of `dims` spatial dimensions: "h" for 1 of 2, "dhw" for 3 of 3.
std::string spatialLabels(int dims, int split);
// Describes the parts in words: "rows over 4, channels in over 2". `spatial` contains the labels of
// the spatial parts, and `label` is the label of output channels.
std::string meaningOf(const Parts& parts, const std::string& spatial, char label);
// `label` is the label of output channels: internally 'o' for every layer; a layer with groups
// shows 'g'.
std::string textOf(const Parallelization& parallelization, const std::string& spatial,
                   char label = 'o');
// Reads runs such as "n4,o2,h3-", or single labels "n,n,o"; "s" abbreviates the spatial labels.
// Throws TENON_ERR_OPTION, with the fault and the name `who`, unless it is a two-ended
// parallelization whose output channels have the label.
Parallelization parseParallelization(std::string_view text, const FineGrid& grid,
                                     const std::string& spatial, const std::string& who,
                                     char label = 'o');

} // namespace tenon
