// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a communicator arranged as a Cartesian process grid. Ranks outside the grid have the
// object too and take part in its collective calls.
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

  // The communicator of an axis, by lineComm(). The caller can communicate on it for as long as the
  // partition lives.
  MPI_Comm axisComm(int axis);
  std::string describe() const override;

private:
  CommPtr comm_;
  GridPtr grid_;
  std::vector<SubCommPtr> lines_; // by axis, each made when it is requested
};

// The user of a communicator: collectives of the library must not meet those of a caller on one.
enum class AxisUse { User, Library };

// The ranks that differ from this one along these axes alone, ordered by coordinates, the first
// axis slowest, the rank itself among them; none if it is outside the grid.
std::vector<int> ranksOfLine(const Grid& grid, const std::vector<int>& axes, int rank);

// The communicator of these ranks, in this order; MPI_COMM_NULL outside the grid. Collective over
// comm where it keeps none for the grid, axes and use.
SubCommPtr lineComm(Communicator& comm, const GridPtr& grid, const std::vector<int>& axes,
                    AxisUse use);
// The library's communicator of these ranks with their devices as a group (devices()). Collective
// over comm, also within a batched agreement. Throws TENON_ERR_SUPPORT on all ranks if one of them
// has no device or cannot open the library of groups.
SubCommPtr lineDevices(Communicator& comm, const GridPtr& grid, const std::vector<int>& axes);

} // namespace tenon
