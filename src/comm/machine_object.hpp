// SPDX-License-Identifier: BSD-2-Clause
// The machine that a job runs on, and which processes or cores are its devices: what the handle
// TenonMachine points to.
//
// Each rank looks at its own node and binding (machine/local_topology.hpp), and one all-gather
// joins what they see, so that all know the same levels. This is why comm stands above machine:
// what a place is, and how places become levels, needs no MPI and is tested without it; only the
// all-gather does.
#pragma once

#include "comm/communicator.hpp"
#include "machine/local_topology.hpp"
#include "machine/places.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

class MachineObject : public Object {
public:
  static constexpr const char* kClass = "Machine";
  static constexpr const char* kNoSource = "written by TenonMachineSave(), which does not know it";
  // A machine by a description: device i is rank i.
  explicit MachineObject(Machine machine);
  // A machine as it was found; `comm` is that of the job, or NULL.
  MachineObject(JoinedPlaces found, CommPtr comm, std::string source = kNoSource);

  const CommPtr& comm() const noexcept { return comm_; }
  const Machine& machine() const noexcept { return found_.machine; }
  // The rank, or the core, that device i is.
  Index placed(Index device) const { return isInOrder_ ? device : found_.order[device]; }
  void addLink(Link link);
  std::string describe() const override;
  // The source of the numbers of the machine.
  const std::string& source() const noexcept { return source_; }

private:
  JoinedPlaces found_;
  CommPtr comm_;
  std::string source_ = kNoSource;
  bool isInOrder_;
};

// Finds the machine of a job. Device i is the rank order[i] of comm, such that ranks of one node,
// socket and so on have devices next to each other. With -tenon_machine_file the levels and links
// are those of the file, whose level 'node' is resized to the job. Otherwise the levels are found,
// and the links have assumed rates, those of LinkRates: a port for each rank, and a NIC for each
// node as fast as a port. Collective; on an error all ranks fail alike.
JoinedPlaces findJobMachine(Communicator& comm);

// Joins the places of all ranks, without links. The node and the place (of LocalTopology::levels())
// are arguments, so that a test can name them.
JoinedPlaces joinJob(Communicator& comm, const std::string& node, const std::vector<Index>& place);

// The machine of a file, for that many ranks. Throws TENON_ERR_ARG if it has another number of
// devices.
Machine machineForRanks(const std::string& file, Index ranks);

} // namespace tenon
