// SPDX-License-Identifier: BSD-2-Clause
// A sum over grid axes by a program of the reduction language (reduction/program.hpp): a list of
// steps, each of which is a communication schedule that runs on a ScheduleExecutor, by any
// transport. P -> B leaves the whole sum on each rank, P -> S a share, and P -> R the whole sum on
// the first rank. Copies are bitwise equal, because every step adds in the order of the members.
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

  // The data of this rank between steps, in one memory space; steps alternate between two buffers.
  // A row is the contiguous array of the data before a step.
  struct Rows {
    Buffer even, odd;
    std::vector<Ref<DTensor>> held;
    Ref<DTensor> userFirst, userLast; // rows that are placed on the user's arrays
  };

  // Layouts at the two ends of the sum, independent of the direction in which its program runs. A
  // layout and its dual have the same boxes.
  const Layout& contributions() const { return change_.isTransposed ? range() : domain(); }
  const Layout& sums() const { return change_.isTransposed ? domain() : range(); }
  bool isForward(Sense sense) const { return (sense == Sense::Forward) != change_.isTransposed; }
  void checkPlan() const;
  std::vector<ScheduledStep> stepsOf(int rank) const;
  void makeStages();
  Rows& rows(Space space);
  std::unique_ptr<Rows> makeRows(Space space);
  // Set the first and last row of the action in progress: the user's array if it is contiguous,
  // otherwise a row of the buffers.
  void takeSource(const Action& action);
  void takeTarget(const Action& action);
  Action actionOf(Sense sense, std::size_t step) const;
  ScheduleExecutor& stageOf(Sense sense, std::size_t step) const {
    return *stages_[isForward(sense) ? step : stages_.size() - 1 - step].executor;
  }
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;

  ReductionPlan plan_;
  CarrierPolicy policy_;
  SumChange change_;                             // change_.axes is empty if there is no sum
  Strides packedContributions_{}, packedSums_{}; // strides of the local arrays, row-major
  // Shapes of the rows before each step of the sum, and after the last one.
  std::vector<Shape> held_;
  PerSpace<Rows> bySpace_;
  Rows* rows_ = nullptr; // rows of the action in progress; x_ and y_ are its first and last
  Ref<DTensor> x_, y_;
  bool isInPlace_ = false; // the last step writes directly to the user's y
  std::vector<Stage> stages_;
};

} // namespace tenon
