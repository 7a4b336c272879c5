// SPDX-License-Identifier: BSD-2-Clause
// Ranks of a communicator arranged as a Cartesian grid. Ranks outside the grid hold the object too
// and take part in its collective calls.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/grid.hpp"
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

  // See below; the caller may communicate on it as long as the partition lives.
  MPI_Comm axisComm(int axis);

private:
  CommPtr comm_;
  GridPtr grid_;
  std::vector<SubCommPtr> lines_; // by axis, once asked for
};

// The library's own collectives must not meet those of a caller on one communicator.
enum class AxisUse { Callers, Library };

// The ranks that differ from this one along these axes alone, by coordinates, the first axis slowest;
// MPI_COMM_NULL outside the grid. Collective over comm where it keeps none for the grid, axes and use.
SubCommPtr lineComm(Communicator& comm, const Grid& grid, const std::vector<int>& axes,
                    AxisUse use);

} // namespace tenon
