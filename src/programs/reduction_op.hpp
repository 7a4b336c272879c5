// SPDX-License-Identifier: BSD-2-Clause
// The sum over grid axes as a program of the reduction language (reduction/program.hpp): a list of
// steps, each of which runs on a ScheduleExecutor by any transport. P -> B leaves all of the sum on
// each rank, P -> S a share, and P -> R all on the first rank. Copies end equal bit by bit, as
// every step adds in the order of the members.
//
// The adjoint is derived step by step, backwards: AllReduce is its own, ReduceScatter and AllGather
// are a pair, and so are Reduce and Broadcast. P -> B is symmetric as a whole: its adjoint sums
// over the same axes. The adjoints of the other two are S -> B and R -> B, which are made as such.
//
// The ranks that differ in the summed axes alone are a reduction group. Its members are numbered by
// their coordinates, and alike in all groups, so that groups with the same contributions end with
// the same bits.
#pragma once

#include "linop/exchange/schedule_executor.hpp"
#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "reduction/reduction_step.hpp"

namespace tenon {

class ReductionOp final : public LinearOp {
public:
  // Collective. Throws TENON_ERR_LAYOUT if the conversion or its adjoint is no sum over some axes,
  // or one with another goal than the plan's, TENON_ERR_ARG if the hierarchy does not make up the
  // groups or the program does not reduce, TENON_ERR_COLLECTIVE if ranks pass different programs.
  ReductionOp(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
              ReductionPlan plan, const CarrierPolicy& policy = {});

  std::string_view type() const noexcept override { return "reduction"; }
  std::string agreedText() const override;
  // Lists the hierarchy, the transport, and each step with what this rank sends in it.
  std::string describeMore() const override;
  Index bufferBytes() const override;

  const ReductionPlan& plan() const noexcept { return plan_; }
  // What a rank sends in one Apply.
  std::optional<Traffic> trafficOf(int rank) const override;

private:
  // A step on this rank.
  struct Stage {
    int instruction;
    const char* collective;
    Traffic sent;
    std::unique_ptr<ScheduleExecutor> executor;
  };

  // What the rank holds between the steps of the sum, in two buffers by turns, in one space.
  struct Rows {
    Buffer even, odd;
    std::vector<Ref<DTensor>> held;
    Ref<DTensor> userFirst, userLast; // rows that are placed on the caller's arrays
  };

  // The sides of the sum whose program is run, forwards or backwards; boxes of a layout and of its
  // dual are the same.
  const Layout& contributions() const { return change_.isTransposed ? range() : domain(); }
  const Layout& sums() const { return change_.isTransposed ? domain() : range(); }
  bool isForward(Sense sense) const { return (sense == Sense::Forward) != change_.isTransposed; }
  void checkPlan() const;
  std::vector<ScheduledStep> stepsOf(int rank) const;
  void makeStages();
  Rows& rows(Space space);
  std::unique_ptr<Rows> makeRows(Space space);
  // Set the rows at the ends of the action in flight: the caller's array where its elements lie
  // like a row, else a row of the buffers.
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
  SumChange change_;                             // without axes: none
  Strides packedContributions_{}, packedSums_{}; // of the local arrays, row-major
  std::vector<Shape> held_;                      // before each step of the sum, and after the last
  PerSpace<Rows> bySpace_;
  Rows* rows_ = nullptr; // of the action in flight, with x and y among them
  Ref<DTensor> x_, y_;
  bool isInPlace_ = false; // the last step writes the caller's y
  std::vector<Stage> stages_;
};

} // namespace tenon
