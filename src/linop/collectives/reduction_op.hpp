// SPDX-License-Identifier: BSD-2-Clause
// A sum over grid axes by a program of the reduction language (reduction/program.hpp): a list of
// steps, each of which is a communication schedule that runs on a ScheduleExecutor, by any
// transport. On the summed axes the layout changes from P (each rank has a contribution) to B (each
// rank has the whole sum), S (each has a share of it) or R (the first rank has the whole sum).
// Copies are bitwise equal, because every step adds in the order of the members.
//
// The adjoint is derived step by step, in reverse order: AllReduce is its own adjoint, and
// ReduceScatter and AllGather, Reduce and Broadcast are each other's. P -> B as a whole is
// self-adjoint. The adjoints of the other two are S -> B and R -> B, which can also be created
// directly.
//
// The ranks that differ only in the summed axes form a reduction group. Members are numbered by
// their coordinates, equally in all groups, so groups with equal contributions get bitwise equal
// sums.
#pragma once

#include "linop/exchange/schedule_executor.hpp"
#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "reduction/reduction_step.hpp"

namespace tenon {

// begin() starts the first step; end() completes it and runs the others, each from the result of
// the step before.
class ReductionOp final : public LinearOp {
public:
  // Collective on comm. Throws TENON_ERR_LAYOUT if the conversion and its adjoint are not sums over
  // some axes, or if their goal is not the plan's; TENON_ERR_ARG if the hierarchy does not match
  // the groups, or the program does not reduce; TENON_ERR_COLLECTIVE if ranks pass different
  // programs.
  ReductionOp(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
              ReductionPlan plan, const CarrierPolicy& policy = {});

  std::string_view type() const noexcept override { return "reduction"; }
  std::string agreedText() const override;
  // Lists the hierarchy, the transport, and each step with the traffic that this rank sends.
  std::string describeMore() const override;
  Index bufferBytes() const override;

  const ReductionPlan& plan() const noexcept { return plan_; }
  // Returns the traffic that a rank sends in one Apply.
  std::optional<Traffic> trafficOf(int rank) const override;

private:
  // One step on this rank.
  struct Stage {
    int instruction;
    const char* collective;
    Traffic sent;
    std::unique_ptr<ScheduleExecutor> executor;
  };

  // The arrays of this rank between steps, in one memory space. Array i is contiguous and has the
  // data after i steps of the sum. Arrays 0, 2, 4, ... share one buffer, and arrays 1, 3, 5, ...
  // another.
  struct StepArrays {
    Buffer even, odd;
    std::vector<Ref<DTensor>> arrays; // array i, in `even` or `odd`
    // Tensors like the first and the last array, for use on the memory of the user's x and y.
    Ref<DTensor> firstOnUser, lastOnUser;
  };

  // Layouts at the two ends of the sum, independent of the direction in which its program runs. A
  // layout and its dual have the same boxes.
  const Layout& contributions() const { return change_.isTransposed ? range() : domain(); }
  const Layout& sums() const { return change_.isTransposed ? domain() : range(); }
  // Whether the steps run from the contributions to the sums. If this operator is S -> B or R -> B,
  // its own forward direction runs the steps backwards, and its adjoint runs them forward.
  bool runsForward(Sense sense) const { return (sense == Sense::Forward) != change_.isTransposed; }
  void checkPlan() const;
  std::vector<ScheduledStep> stepsOf(int rank) const;
  void makeStages();
  StepArrays& arraysIn(Space space);
  std::unique_ptr<StepArrays> makeArrays(Space space);
  // Set source_ and target_ of the action in progress: the user's array if it is contiguous,
  // otherwise an array of the buffers.
  void chooseSource(const Action& action);
  void chooseTarget(const Action& action);
  Action actionOf(Sense sense, std::size_t step) const;
  // The executor of the step-th step in the order of execution.
  ScheduleExecutor& stageOf(Sense sense, std::size_t step) const {
    return *stages_[runsForward(sense) ? step : stages_.size() - 1 - step].executor;
  }
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;

  ReductionPlan plan_;
  CarrierPolicy policy_;
  SumChange change_;                             // change_.axes is empty if there is no sum
  Strides packedContributions_{}, packedSums_{}; // strides of the local arrays, row-major
  // Shapes of arrays 0, 1, ..., by number of steps.
  std::vector<Shape> shapes_;
  PerSpace<StepArrays> arraysBySpace_;
  // Of the action in progress: its arrays, the array that the first executed step reads, and the
  // one that the last executed step writes.
  StepArrays* current_ = nullptr;
  Ref<DTensor> source_, target_;
  bool writesToUser_ = false; // target_ is the memory of the user's y
  std::vector<Stage> stages_;
};

} // namespace tenon
