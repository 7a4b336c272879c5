// SPDX-License-Identifier: BSD-2-Clause
// Partition: the ranks of a communicator arranged as a Cartesian process grid. Ranks outside the
// grid have the object too and take part in its collective calls.
//
// A line is the set of ranks that differ only in their coordinates on some axes. For example, on
// the 2 x 3 grid of the ranks 0 1 2 / 3 4 5 the lines of axis 1 are {0 1 2} and {3 4 5}, and those
// of axis 0 are {0 3}, {1 4} and {2 5}. Each line has a communicator, on which the collectives of a
// conversion run.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/layout/grid.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

class Partition : public Object {
public:
  static constexpr const char* kClass = "Partition";
  Partition(CommPtr comm, GridPtr grid);

  const CommPtr& comm() const noexcept { return comm_; }
  const GridPtr& gridPtr() const noexcept { return grid_; }
  const Grid& grid() const noexcept { return *grid_; }
  int position() const { return grid_->position(comm_->rank()); }

  // The communicator of an axis, by lineComm(). The caller can use it during the lifetime of the
  // partition.
  MPI_Comm axisComm(int axis);
  std::string describe() const override;

private:
  CommPtr comm_;
  GridPtr grid_;
  std::vector<SubCommPtr> lines_; // By axis; each is made when it is first requested.
};

// Who sends messages on a communicator: the user, who got it from Partition::axisComm(), or the
// library. They have different ones, so their messages do not mix.
enum class AxisUse { User, Library };

// The communicator of the calling rank's line along these axes (machine/line.hpp): the ranks that
// differ from it on these axes only, ordered by coordinates with the first axis slowest.
// MPI_COMM_NULL outside the grid. Collective over comm unless one for the grid, axes and use is
// cached.
SubCommPtr lineComm(Communicator& comm, const GridPtr& grid, const std::vector<int>& axes,
                    AxisUse use);
// The library's communicator of the line, with its devices as a group (devices()). Collective
// over comm, also within a batched agreement. Throws TENON_ERR_SUPPORT on all ranks if a rank has
// no device or cannot load the library of device groups.
SubCommPtr lineDevices(Communicator& comm, const GridPtr& grid, const std::vector<int>& axes);

} // namespace tenon
