// SPDX-License-Identifier: BSD-2-Clause
// The objects of two public handles: the placements of a job on a system (TenonPlacementList), and
// the programs that reduce over axes of one placement (TenonReductionPrograms).
#pragma once

#include "reduction/placement_list.hpp"
#include "reduction/simulation.hpp"
#include "reduction/synthesis.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// The placements of a job, and the reductions by which they are compared.
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
  // Throws TENON_ERR_ARG if the program does not have this step.
  Instruction step(Index index, int step) const;
  // Returns the groups of the system's devices that act in a step.
  DeviceGroups groups(Index index, int step) const {
    return placement_.lowered(axes_, groupsOf(hierarchy_, this->step(index, step)));
  }

private:
  Placement placement_;
  std::vector<int> axes_;
  Hierarchy hierarchy_;
  std::shared_ptr<const ProgramSet> set_;
};

} // namespace tenon
