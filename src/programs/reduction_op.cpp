// SPDX-License-Identifier: BSD-2-Clause
// Runs a reduction program: a list of steps, each a collective in groups of ranks, executed as
// point-to-point messages of a schedule. Row i is this rank's array after i steps; even rows are in
// one buffer, odd rows in another:
//
//   x -> row 0 -> step 0 -> row 1 -> step 1 -> row 2 ... -> last row -> y       (forward)
//
// The adjoint runs the transposed steps from the last row to row 0. A contiguous x replaces its row
// without a copy (x_), and so does a contiguous y if alpha = 1 and beta = 0 (y_).
#include "programs/reduction_op.hpp"

#include "comm/agreement/batched.hpp"
#include "dtensor/arithmetic.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "kernels/movement/block_copy.hpp"
#include "reduction/collective_rule.hpp"
#include "reduction/execution.hpp"
#include "reduction/reduction_groups.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// Returns a tensor of this rank only, without an array: it is later placed on a buffer.
Ref<DTensor> rowOf(const CommPtr& comm, const Shape& shape, TenonDataType type, Space space) {
  return makeRef<DTensor>(comm,
                          Layout({.shape = shape,
                                  .grid = Grid::make({1}, {comm->rank()}),
                                  .properties = {Property::broadcast()}}),
                          type, space);
}

} // namespace

ReductionOp::ReductionOp(const CommPtr& comm, const Layout& from, const Layout& to,
                         TenonDataType type, ReductionPlan plan, const CarrierPolicy& policy)
    : LinearOp(comm, from, to, type), plan_(std::move(plan)), policy_(policy),
      change_(sumBetween(from, to).value_or(SumChange{})) {
  // Creating executors is collective, so a program that is invalid, or differs between ranks, is
  // detected first.
  batched(
      *comm, "the program of a reduction",
      [this] {
        checkPlan();
        return 0;
      },
      [this](int) { return agreedText(); });
  // A row stores the elements of the local array in row-major order.
  const auto packed = [&](const Layout& layout, Strides& strides) {
    std::ranges::copy(rowMajorStrides(extents(layout.boxOfRank(comm->rank()))), strides.begin());
  };
  packed(contributions(), packedContributions_);
  packed(sums(), packedSums_);
  makeStages();
}

void ReductionOp::checkPlan() const {
  if (change_.axes.empty() || change_.goal != plan_.goal) {
    constexpr const char* kChanges[] = {"P -> B", "P -> S or S -> B", "P -> R or R -> B"};
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("this reduction program needs layouts without halos that differ only "
                            "by {} on some grid axes, but got {} -> {}",
                            kChanges[static_cast<int>(plan_.goal)], domain().describe(),
                            range().describe()));
  }
  const Index members = domain().grid().extentOf(change_.axes);
  // Programs do not use levels of size 1.
  if (std::find(plan_.hierarchy.begin(), plan_.hierarchy.end(), 1) != plan_.hierarchy.end() ||
      deviceCount(plan_.hierarchy) != members)
    throw Error(TENON_ERR_ARG,
                fmt::format("the hierarchy [{}] does not match the {} ranks of each sum; pass "
                            "level sizes >= 2 whose product is that number",
                            fmt::join(plan_.hierarchy, ","), members));
  if (!plan_.order.empty() && static_cast<Index>(plan_.order.size()) != members)
    throw Error(TENON_ERR_INTERNAL, fmt::format("{} of {} members of a reduction have a number",
                                                plan_.order.size(), members));
  checkReduces(plan_.program, static_cast<int>(plan_.hierarchy.size()),
               plan_.goal == SumGoal::Share);
}

std::vector<ScheduledStep> ReductionOp::stepsOf(int rank) const {
  return scheduledSteps(plan_, domain(), range(), change_, dataTypeSize(domainType()), rank);
}

void ReductionOp::makeStages() {
  const int me = comm()->rank();
  for (const ScheduledStep& step : stepsOf(me)) {
    if (held_.empty())
      held_.push_back(step.schedule.sourceExtent);
    held_.push_back(step.schedule.targetExtent);
    stages_.push_back({step.instruction, wordOf(step.kind),
                       sentInSteps({step}, change_, me, Role::Source),
                       std::make_unique<ScheduleExecutor>(comm(), step.schedule, domainType(),
                                                          title(), policy_)});
  }
  if (!stages_.empty())
    rows(policy_.space);
}

ReductionOp::Rows& ReductionOp::rows(Space space) {
  return bySpace_.of(space, [&] { return makeRows(space); });
}

std::unique_ptr<ReductionOp::Rows> ReductionOp::makeRows(Space space) {
  auto rows = std::make_unique<Rows>();
  // Rows 0, 2, 4, ... share one buffer, and the others the other: a step reads one and writes the
  // other.
  Index largest[2] = {0, 0};
  for (std::size_t i = 0; i < held_.size(); ++i)
    largest[i % 2] = std::max(largest[i % 2], elements(held_[i]));
  const Index size = dataTypeSize(domainType());
  const KernelContextPtr context = contextOf(comm(), space);
  rows->even = readableBuffer(*comm(), *context, largest[0] * size, title() + " even steps");
  rows->odd = readableBuffer(*comm(), *context, largest[1] * size, title() + " odd steps");
  const auto row = [&](const Shape& shape) { return rowOf(comm(), shape, domainType(), space); };
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Buffer& buffer = i % 2 == 0 ? rows->even : rows->odd;
    rows->held.push_back(row(held_[i]));
    const std::vector<Index> none(held_[i].size(), 0);
    rows->held.back()->placeArray(buffer.data<void>(), rowMajorStrides(held_[i]), none, none,
                                  false);
  }
  rows->userFirst = row(held_.front());
  rows->userLast = row(held_.back());
  // The buffers never move, so the executors are bound to them permanently. A first or last step
  // that works on the user's array runs unbound.
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].executor->bind(Sense::Forward, *rows->held[i], *rows->held[i + 1]);
    stages_[i].executor->bind(Sense::Adjoint, *rows->held[i + 1], *rows->held[i]);
  }
  return rows;
}

void ReductionOp::takeSource(const Action& action) {
  const DTensor& x = *action.x;
  const bool isFirst = isForward(action.sense);
  if (x.isContiguous()) {
    x_ = isFirst ? rows_->userFirst : rows_->userLast;
    x_->placeBox(const_cast<void*>(arrayOf(x)), true);
    return;
  }
  x_ = isFirst ? rows_->held.front() : rows_->held.back();
  visitDataType(domainType(), [&]<class T>(T) {
    blockAxpby<T, T>(x.context(), x.rank(), x.extent().data(), T(1), x.data<T>(),
                     x.strides().data(), T(0), x_->mutableData<T>(),
                     (isFirst ? packedContributions_ : packedSums_).data());
  });
}

// Sets y_, which the last step writes: y itself if alpha = 1, beta = 0 and y is contiguous.
// Otherwise it is the last row, which doEnd() combines with y. A row that is placed on the user's
// array cannot check whether y is writable, so this is checked here.
void ReductionOp::takeTarget(const Action& action) {
  DTensor& y = *action.y;
  const bool isLast = isForward(action.sense);
  isInPlace_ = action.isPlain() && y.isContiguous();
  y_ = isLast ? rows_->held.back() : rows_->held.front();
  if (!isInPlace_)
    return;
  y.checkWritable();
  y_ = isLast ? rows_->userLast : rows_->userFirst;
  y_->placeBox(const_cast<void*>(arrayOf(y)), false);
}

// Steps are counted in the order of execution; an adjoint begins at the last row.
Action ReductionOp::actionOf(Sense sense, std::size_t step) const {
  const std::size_t last = stages_.size();
  const auto row = [&](std::size_t i) { return rows_->held[isForward(sense) ? i : last - i]; };
  return {.sense = isForward(sense) ? Sense::Forward : Sense::Adjoint,
          .x = (step == 0 ? x_ : row(step)).get(),
          .y = (step + 1 == last ? y_ : row(step + 1)).get()};
}

void ReductionOp::doBegin(const Action& action) {
  if (stages_.empty())
    return;
  rows_ = &rows(action.x->space());
  takeSource(action);
  takeTarget(action);
  stageOf(action.sense, 0).begin(actionOf(action.sense, 0));
}

void ReductionOp::doEnd(const Action& action) {
  // A sum over groups of one rank has no steps.
  if (stages_.empty())
    return axpby(action.alpha, *action.x, action.beta, *action.y);
  for (std::size_t step = 0; step < stages_.size(); ++step) {
    // doBegin() began the first step; each later step reads the result of the step before.
    const Action stepAction = actionOf(action.sense, step);
    if (step > 0)
      stageOf(action.sense, step).begin(stepAction);
    stageOf(action.sense, step).end(stepAction);
  }
  DTensor& y = *action.y;
  // The executor wrote to y's memory, so y must record the change.
  if (isInPlace_)
    return y.changed();
  visitDataType(domainType(), [&]<class T>(T) {
    blockAxpby<T, T>(y.context(), y.rank(), y.extent().data(), static_cast<T>(action.alpha),
                     y_->data<T>(),
                     (isForward(action.sense) ? packedSums_ : packedContributions_).data(),
                     static_cast<T>(action.beta), y.mutableData<T>(), y.strides().data());
  });
}

std::optional<Traffic> ReductionOp::trafficOf(int rank) const {
  return sentInSteps(stepsOf(rank), change_, rank, Role::Source);
}

std::string ReductionOp::agreedText() const {
  const std::string rates =
      plan_.rates == LinkRates{} ? "" : fmt::format("; {}", plan_.rates.describe());
  const std::string order =
      plan_.order.empty() ? "" : fmt::format(" in the order {}", fmt::join(plan_.order, ","));
  return LinearOp::agreedText() +
         fmt::format("; hierarchy [{}]{}, program {}{}{}", fmt::join(plan_.hierarchy, ","), order,
                     tenon::describe(plan_.program), rates, policy_.agreedText());
}

std::string ReductionOp::describeMore() const {
  const int rank = comm()->rank();
  const Traffic sent = *trafficOf(rank);
  std::string text = fmt::format(
      "  reduction program on the hierarchy [{}]{}: rank {} sends {} "
      "messages, {}",
      fmt::join(plan_.hierarchy, ","), change_.isTransposed ? ", transposed and backwards" : "",
      rank, sent.messages, sizeText(sent.elements * dataTypeSize(domainType())));
  if (!stages_.empty())
    text += "; transport " + stages_.front().executor->describeTransport();
  text += '\n';
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[change_.isTransposed ? stages_.size() - 1 - i : i];
    const Instruction& instruction = plan_.program[stage.instruction];
    // The instruction is an AllReduce also if it runs as two steps.
    const std::string substitute = stage.collective == wordOf(instruction.collective)
                                       ? ""
                                       : fmt::format(" as {}", stage.collective);
    text += fmt::format("    {}{}: rank {} sends {}, {}\n", instruction.describe(), substitute,
                        rank, counted(stage.sent.messages, "message"),
                        sizeText(stage.sent.elements * dataTypeSize(domainType())));
  }
  return text;
}

Index ReductionOp::bufferBytes() const {
  Index bytes = 0;
  bySpace_.visit([&](const Rows& rows) { bytes += rows.even.bytes() + rows.odd.bytes(); });
  for (const Stage& stage : stages_)
    bytes += stage.executor->bufferBytes();
  return bytes;
}

} // namespace tenon
