// SPDX-License-Identifier: BSD-2-Clause
// Process grids and the communicators along their axes. A communicator is identified by grid, axes
// and use, not by a partition, so all partitions and reductions on equal grids share it.
#include "comm/partition.hpp"

#include "comm/agreement/batched.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

Partition::Partition(CommPtr comm, GridPtr grid)
    : Object(kClass), comm_(std::move(comm)), grid_(std::move(grid)), lines_(grid_->axes()) {
  for (int rank : grid_->ranks())
    if (rank >= comm_->size())
      throw Error(
          TENON_ERR_ARG,
          fmt::format(
              "the process grid {} contains rank {}, but the communicator has ranks 0 to {}",
              grid_->describe(), rank, comm_->size() - 1));
}

std::string Partition::describe() const {
  return fmt::format("{}: process grid {} in a communicator of size {}", headingOf(*this),
                     grid_->describe(), comm_->size());
}

MPI_Comm Partition::axisComm(int axis) {
  if (!lines_[axis])
    lines_[axis] =
        collectively(*comm_, [&] { return lineComm(*comm_, grid_, {axis}, AxisUse::User); });
  return lines_[axis]->mpi();
}

SubCommPtr lineComm(Communicator& comm, const GridPtr& ofGrid, const std::vector<int>& axes,
                    AxisUse use) {
  const Grid& grid = *ofGrid;
  const Communicator::SplitName name{static_cast<int>(use), axes, ofGrid};
  // MPI_Comm_split is collective over the whole communicator, so ranks outside the grid take part.
  const int position = grid.position(comm.rank());
  if (position < 0)
    return comm.split(name, MPI_UNDEFINED, 0);
  // Ranks of one line differ only in the coordinates of these axes; their colour is the position
  // with those coordinates set to 0.
  std::vector<int> origin = grid.coordinates(position);
  for (int axis : axes)
    origin[axis] = 0;
  return comm.split(name, grid.positionAt(origin), grid.coordinateOn(position, axes));
}

namespace {

// The first rank of the line creates the name of the group, or tells the others that it failed.
std::unique_ptr<DeviceGroup> makeDevices(MPI_Comm line) {
  struct {
    DeviceGroup::Name name{};
    bool isMade = false;
  } broadcast;
  std::optional<Error> error;
  int members = 0, member = 0;
  MPI_Comm_size(line, &members);
  MPI_Comm_rank(line, &member);
  if (member == 0)
    try {
      broadcast = {DeviceGroup::makeName(), true};
    } catch (...) {
      error = caughtError();
    }
  checkMpi(MPI_Bcast(&broadcast, sizeof broadcast, MPI_BYTE, 0, line), "MPI_Bcast");
  if (error)
    throw Error(*error);
  if (!broadcast.isMade)
    throw Error(TENON_ERR_LIBRARY, "another rank could not begin a group of devices");
  return std::make_unique<DeviceGroup>(broadcast.name, members, member);
}

} // namespace

SubCommPtr lineDevices(Communicator& comm, const GridPtr& grid, const std::vector<int>& axes) {
  // The communicator is used at once, so it cannot wait for a batch.
  const UnbatchedAgreements unbatched(comm);
  collectively(comm, [] { // The calls that follow have no time limit.
    Device::get();
    return DeviceGroup::library();
  });
  SubCommPtr line = lineComm(comm, grid, axes, AxisUse::Library);
  if (!line->hasDevices())
    line->takeDevices(collectively(comm, [&] {
      Communicator::keepToEnd(line);
      return line->mpi() == MPI_COMM_NULL ? nullptr : makeDevices(line->mpi());
    }));
  return line;
}

} // namespace tenon
