// SPDX-License-Identifier: BSD-2-Clause
// TenonPartition, a Cartesian process grid over ranks of a communicator:
//   Create, CreateFromRanks, CreatePlaced   grids in rank order, from a list, or from a placement
//   GetAxes, GetExtents, GetCoordinates     its shape, and this rank's coordinates in it
//   GetAxisComm                             the communicator of the ranks along an axis
//   ShareMemory, UnshareMemory              arrays that other ranks of the node read in place
//   SetStream, ResetStream                  the CUDA stream of the grid's communicator
// Positions in a grid are row-major: the last axis varies fastest. The grid 2 x 3 in rank order:
//           axis 1 ->
//   axis 0   0 1 2
//     |      3 4 5       rank 4 has the coordinates (1, 1)
// The creation and GetAxisComm are collective, the other calls are local. A grid can be smaller
// than its communicator, not larger. The size is checked before a list of that length is allocated,
// since the product of the user's extents can be arbitrarily large. The calls are declared in
// tenon/partition.h.
#include "comm/partition.hpp"

#include "capi/collective.hpp"
#include "dtensor/kernel_context.hpp"
#include "placement/placement.hpp"
#include "sys/device.hpp"
#include "sys/errors/guard.hpp"
#include "sys/text/view.hpp"

#include <tenon/partition.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

using namespace tenon;

namespace {

std::vector<int> extentsOf(const int* extents, int axes) {
  if (axes < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("axes is {}; a process grid needs at least 1 axis", axes));
  return listOf(extents, axes, "extents");
}

// Number of ranks of the grid; 0 if an extent is below 1, which Grid::make() reports.
int sizeOf(const std::vector<int>& extents, const Communicator& comm) {
  Index size = 1;
  for (int extent : extents) {
    size *= std::max(extent, 0);
    // Checked after each factor, so the product cannot overflow.
    if (size > comm.size())
      throw Error(TENON_ERR_ARG,
                  fmt::format("a process grid of {} does not fit into a communicator of {} ranks",
                              fmt::join(extents, "x"), comm.size()));
  }
  return static_cast<int>(size);
}

// Converts a matrix [axes, levels] that the user passes as one array to its rows.
std::vector<std::vector<Index>> rowsOf(const TenonInt* matrix, int axes, int levels) {
  if (axes < 1 || levels < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("axes is {} and levels is {}; both must be >= 1", axes, levels));
  required(matrix, "matrix");
  std::vector<std::vector<Index>> rows;
  for (int axis = 0; axis < axes; ++axis)
    rows.push_back(listOf(matrix + std::size_t(axis) * levels, levels, "matrix"));
  return rows;
}

// Returns the process grid of a placement, which says how the axes of the grid are split over the
// levels of a machine (placement/placement.hpp). Rank r uses device r of the machine, and is at the
// row-major position of the device's coordinates.
GridPtr gridOf(const Placement& placement, const Communicator& comm) {
  std::vector<int> extents;
  for (const std::vector<Index>& row : placement.matrix())
    extents.push_back(deviceCount(row));
  std::vector<int> ranks(sizeOf(extents, comm));
  for (int device = 0; device < placement.devices(); ++device) {
    const std::vector<Index> coordinates = placement.coordinates(device);
    Index position = 0;
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      position = position * extents[axis] + coordinates[axis];
    ranks[position] = device;
  }
  return Grid::make(std::move(extents), std::move(ranks));
}

// Creates a partition from extents, collectively: ranksOf(size) returns the ranks in row-major
// order.
template <class RanksOf>
void create(MPI_Comm comm, int axes, const int* extents, RanksOf ranksOf,
            TenonPartition* partition) {
  checkInitialized();
  const CommPtr communicator = Communicator::of(comm);
  createCollectively(
      *communicator, partition, "partition", "the process grid",
      [&] {
        std::vector<int> sides = extentsOf(extents, axes);
        std::vector<int> ranks = ranksOf(sizeOf(sides, *communicator));
        return makeRef<Partition>(communicator, Grid::make(std::move(sides), std::move(ranks)));
      },
      [](const Ref<Partition>& object) { return object->grid().describe(); });
}

// Returns the shared memory of the ranks of this node, or NULL on a rank that is alone on its node,
// for which sharing has no effect. Throws TENON_ERR_SUPPORT if the node has none.
SharedArena* arenaOf(const Partition& partition) {
  checkInitialized();
  const Communicator& comm = *partition.comm();
  if (!comm.arena() && !comm.isAloneOnNode())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the ranks of this node do not share memory: {}", comm.whyNoArena()));
  return comm.arena().get();
}

} // namespace

TenonErrorCode TenonPartitionCreate(MPI_Comm comm, int axes, const int extents[],
                                    TenonPartition* partition) noexcept {
  return guard(__func__, [&] {
    const auto inOrder = [](int size) {
      std::vector<int> ranks(size);
      std::iota(ranks.begin(), ranks.end(), 0);
      return ranks;
    };
    create(comm, axes, extents, inOrder, partition);
  });
}

TenonErrorCode TenonPartitionCreateFromRanks(MPI_Comm comm, int axes, const int extents[],
                                             const int ranks[],
                                             TenonPartition* partition) noexcept {
  return guard(__func__, [&] {
    create(
        comm, axes, extents, [&](int size) { return listOf(ranks, size, "ranks"); }, partition);
  });
}

TenonErrorCode TenonPartitionCreatePlaced(MPI_Comm comm, int axes, int levels,
                                          const TenonInt matrix[],
                                          TenonPartition* partition) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createCollectively(
        *communicator, partition, "partition", "the placed process grid",
        [&] {
          return makeRef<Partition>(communicator,
                                    gridOf(Placement(rowsOf(matrix, axes, levels)), *communicator));
        },
        [](const Ref<Partition>& object) { return object->grid().describe(); });
  });
}

TenonErrorCode TenonPartitionGetAxes(TenonPartition partition, int* axes) noexcept {
  return guard(__func__,
               [&] { required(axes, "axes") = deref(partition, "partition").grid().axes(); });
}

TenonErrorCode TenonPartitionGetExtents(TenonPartition partition, int extents[]) noexcept {
  return guard(__func__, [&] {
    copyList(deref(partition, "partition").grid().extents(), extents, "extents");
  });
}

TenonErrorCode TenonPartitionGetCoordinates(TenonPartition partition, int coordinates[]) noexcept {
  return guard(__func__, [&] {
    const Partition& grid = deref(partition, "partition");
    // A rank outside the grid has the coordinates -1.
    const int position = grid.position();
    copyList(position < 0 ? std::vector<int>(grid.grid().axes(), -1)
                          : grid.grid().coordinates(position),
             coordinates, "coordinates");
  });
}

TenonErrorCode TenonPartitionGetAxisComm(TenonPartition partition, int axis,
                                         MPI_Comm* comm) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    Partition& grid = deref(partition, "partition");
    collectively(
        *grid.comm(), "the axis",
        [&] {
          required(comm, "comm");
          if (axis < 0 || axis >= grid.grid().axes())
            throw Error(TENON_ERR_ARG,
                        fmt::format("axis {} is out of range; process grid {} has axes 0 to {}",
                                    axis, grid.grid().describe(), grid.grid().axes() - 1));
          return axis;
        },
        [](int checked) { return fmt::format("{}", checked); });
    // The communicator is made at the first request for this axis, collectively.
    *comm = grid.axisComm(axis);
  });
}

TenonErrorCode TenonPartitionShareMemory(TenonPartition partition, void* memory,
                                         size_t bytes) noexcept {
  return guard(__func__, [&] {
    SharedArena* arena = arenaOf(deref(partition, "partition"));
    if (bytes == 0)
      return;
    required(static_cast<std::byte*>(memory), "memory");
    if (arena)
      arena->share(memory, static_cast<Index>(bytes));
  });
}

TenonErrorCode TenonPartitionUnshareMemory(TenonPartition partition, void* memory) noexcept {
  return guard(__func__, [&] {
    SharedArena* arena = arenaOf(deref(partition, "partition"));
    if (arena && memory)
      arena->unshare(memory);
  });
}

TenonErrorCode TenonPartitionSetStream(TenonPartition partition, void* stream) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr& comm = deref(partition, "partition").comm();
    Device::get().checkUserStream(stream);
    setStream(comm, stream);
  });
}

TenonErrorCode TenonPartitionResetStream(TenonPartition partition) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    setStream(deref(partition, "partition").comm(), std::nullopt);
  });
}

TenonErrorCode TenonPartitionDestroy(TenonPartition* partition) noexcept {
  return guard(__func__, [&] { destroy(partition, "partition"); });
}
