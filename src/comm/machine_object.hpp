// SPDX-License-Identifier: BSD-2-Clause
// MachineObject, the object of the handle TenonMachine: the machine that a job runs on, and the
// ranks or cores that are its devices. For example, if 4 ranks are started on two nodes in turn
// (ranks 0 and 2 on one node, 1 and 3 on the other), the machine has 2 nodes of 2 ranks, and its
// devices 0 to 3 are the ranks 0, 2, 1, 3.
//
// Each rank reads the name of its node and the cores to which it is bound
// (machine/local_topology.hpp). One all-gather gives the places of all ranks to all ranks, which
// compute the same levels from them. Only the all-gather needs MPI; the rest is code of the folder
// src/machine, which is tested without MPI.
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
  explicit MachineObject(Machine machine); // A machine from a description: device i is rank i.
  // A detected machine; `comm` is the communicator of the job, or NULL.
  MachineObject(JoinedPlaces found, CommPtr comm, std::string source = kNoSource);

  const CommPtr& comm() const noexcept { return comm_; }
  const Machine& machine() const noexcept { return found_.machine; }
  // The rank, or core, of device i.
  Index rankOrCore(Index device) const { return isInOrder_ ? device : found_.order[device]; }
  void addLink(Link link);
  std::string describe() const override;
  // The source of the machine's rates, as text.
  const std::string& source() const noexcept { return source_; }

private:
  JoinedPlaces found_;
  CommPtr comm_;
  std::string source_ = kNoSource;
  bool isInOrder_;
};

// Detects the machine of a job. Device i is the rank order[i] of comm, in an order in which ranks
// of one node, socket and so on are adjacent. The levels and links come from:
//   with -tenon_machine_file   the file; the size of its level 'node' is adapted to the job
//   otherwise                  detected levels, and links with the assumed rates of LinkRates: a
//                              port per rank, and a NIC per node of the same rate
// Collective; an error is the same on all ranks.
JoinedPlaces findJobMachine(Communicator& comm);

// Joins the places of all ranks, without links. The node and the place (see
// LocalTopology::levels()) are arguments to allow tests to choose them.
JoinedPlaces joinJob(Communicator& comm, const std::string& node, const std::vector<Index>& place);

} // namespace tenon
