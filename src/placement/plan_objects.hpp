// SPDX-License-Identifier: BSD-2-Clause
// The objects of two public handles, for users who choose the placement of a job's processes on a
// machine before they run it. A system is a list of level sizes, and a job a list of the extents of
// its process grid's axes: the system [2, 4] is 2 nodes of 4 GPUs, the job [4, 2] a grid of 4 x 2
// processes, and a placement says which axis is divided inside and which across nodes
// (placement.hpp). For this pair
//   PlacementList      (TenonPlacementList) has the placements [[1,4],[2,1]] and [[2,2],[1,2]], and
//                      compares them by the predicted time of the reductions (sums over grid axes)
//                      of one time step of the job
//   ReductionPrograms  (TenonReductionPrograms) has the programs by which one placement can reduce
//                      over some axes. A program is a list of steps, each a collective in groups of
//                      devices (program.hpp).
// Nothing here communicates.
#pragma once

#include "placement/placement_list.hpp"
#include "placement/simulation.hpp"
#include "placement/synthesis.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// The placements of a job on a system, and the reductions by which they are compared.
class PlacementList : public Object {
public:
  static constexpr const char* kClass = "PlacementList";

  PlacementList(const std::vector<Index>& system, const std::vector<Index>& axes)
      : Object(kClass), placements_(placementsOf(system, axes)) {}

  Index count() const noexcept { return static_cast<Index>(placements_.size()); }
  // Throws TENON_ERR_ARG if there is no such placement.
  const Placement& at(Index index) const;

  // Adds a reduction of the time step for which a placement is to be chosen, of `bytes` bytes on
  // each device. Throws TENON_ERR_ARG for an invalid or repeated axis, or negative bytes.
  void addReduction(std::vector<int> axes, double bytes);
  int reductions() const noexcept { return static_cast<int>(reductions_.size()); }
  // Returns, for each placement, the total time in seconds of all reductions, each by its fastest
  // program of at most sizeLimit steps. Throws TENON_ERR_STATE if there are no reductions, and
  // TENON_ERR_SHAPE unless the machine has the levels of the system.
  std::vector<double> seconds(const Machine& machine, ReductionAlgorithm algorithm,
                              int sizeLimit) const;

private:
  struct Reduction {
    std::vector<int> axes;
    double bytes;
  };

  std::vector<Placement> placements_;
  std::vector<Reduction> reductions_;
};

// The programs for a reduction over some axes of a placement.
class ReductionPrograms : public Object {
public:
  static constexpr const char* kClass = "ReductionPrograms";

  ReductionPrograms(Placement placement, std::vector<int> axes, int sizeLimit)
      : Object(kClass), placement_(std::move(placement)), axes_(std::move(axes)),
        hierarchy_(placement_.reductionHierarchy(axes_)),
        set_(reductionPrograms(static_cast<int>(hierarchy_.size()), sizeLimit)) {}

  const Placement& placement() const noexcept { return placement_; }
  const std::vector<int>& axes() const noexcept { return axes_; }
  const Hierarchy& hierarchy() const noexcept { return hierarchy_; }
  const ProgramSet& set() const noexcept { return *set_; }
  // Returns step number `step` of program number `program`, both counted from 0. Throws
  // TENON_ERR_ARG if the program or the step does not exist.
  Instruction step(Index program, int step) const;
  // Returns the groups in which the devices of the system run this step. groupsOf() numbers the
  // members of one reduction group; lowered() replaces these numbers by devices, for each reduction
  // group of the system.
  DeviceGroups groups(Index program, int step) const {
    return placement_.lowered(axes_, groupsOf(hierarchy_, this->step(program, step)));
  }

private:
  Placement placement_;
  std::vector<int> axes_;
  Hierarchy hierarchy_; // level sizes of one reduction group, without levels of size 1
  std::shared_ptr<const ProgramSet> set_;
};

} // namespace tenon
