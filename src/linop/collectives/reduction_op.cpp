// SPDX-License-Identifier: BSD-2-Clause
// Runs a reduction program: a list of steps, each a collective in groups of ranks, executed as the
// point-to-point messages of a schedule. Array i is the data of this rank after i steps of the sum;
// arrays with even i share one buffer, those with odd i another:
//
//   contributions = array 0 -> step 0 -> array 1 -> step 1 -> array 2 ... -> last array = sums
//
// Steps run in this direction ("forward") if the operator is the sum and is applied, or if it is
// the transpose of a sum (S -> B, R -> B) and its adjoint is applied. In the two other cases the
// transposed steps run from the last array to array 0 (runsForward()).
//
// A contiguous x is read in place of the array at its end, without a copy (source_), and a
// contiguous y is written in place of the array at the other end if alpha = 1 and beta = 0
// (target_).
#include "linop/collectives/reduction_op.hpp"

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

// Returns a tensor of this rank only, without memory: it is later placed on a buffer or on the
// user's array.
Ref<DTensor> localTensor(const CommPtr& comm, const Shape& shape, TenonDataType type, Space space) {
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
        return 0; // batched() needs a result to pass to the next function
      },
      [this](int) { return agreedText(); });
  // The first and the last array have the elements of the local block in row-major order.
  const auto packed = [&](const Layout& layout, Strides& strides) {
    std::ranges::copy(rowMajorStrides(extents(layout.boxOfRank(comm->rank()))), strides.begin());
  };
  packed(contributions(), packedContributions_);
  packed(sums(), packedSums_);
  makeStages();
}

void ReductionOp::checkPlan() const {
  if (change_.axes.empty() || change_.goal != plan_.goal) {
    // By SumGoal: All, Share, First.
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
    if (shapes_.empty())
      shapes_.push_back(step.schedule.sourceExtent);
    shapes_.push_back(step.schedule.targetExtent);
    const FieldSchedule field{step.schedule, domainType()};
    stages_.push_back(
        {step.instruction, wordOf(step.kind), sentInSteps({step}, change_, me, Role::Source),
         std::make_unique<ScheduleExecutor>(comm(), std::span(&field, 1), title(), policy_)});
  }
  if (!stages_.empty())
    arraysIn(policy_.space);
}

ReductionOp::StepArrays& ReductionOp::arraysIn(Space space) {
  return arraysBySpace_.of(space, [&] { return makeArrays(space); });
}

std::unique_ptr<ReductionOp::StepArrays> ReductionOp::makeArrays(Space space) {
  auto made = std::make_unique<StepArrays>();
  // The two buffers have the size of their largest array. A step reads one and writes the other.
  Index largest[2] = {0, 0};
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    largest[i % 2] = std::max(largest[i % 2], elements(shapes_[i]));
  const Index size = dataTypeSize(domainType());
  const KernelContextPtr context = contextOf(comm(), space);
  made->even = readableBuffer(*comm(), *context, largest[0] * size, title() + " even steps");
  made->odd = readableBuffer(*comm(), *context, largest[1] * size, title() + " odd steps");
  const auto tensorOf = [&](const Shape& shape) {
    return localTensor(comm(), shape, domainType(), space);
  };
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    Buffer& buffer = i % 2 == 0 ? made->even : made->odd;
    made->arrays.push_back(tensorOf(shapes_[i]));
    const std::vector<Index> noGhosts(shapes_[i].size(), 0);
    made->arrays.back()->placeArray(buffer.data<void>(), rowMajorStrides(shapes_[i]), noGhosts,
                                    noGhosts,
                                    /*readOnly=*/false);
  }
  made->firstOnUser = tensorOf(shapes_.front());
  made->lastOnUser = tensorOf(shapes_.back());
  // The buffers never move, so each executor is bound to its two arrays, which lets it prepare
  // persistent MPI requests. A step on the user's array is not bound; it creates its requests at
  // each use.
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].executor->bind(Sense::Forward, *made->arrays[i], *made->arrays[i + 1]);
    stages_[i].executor->bind(Sense::Adjoint, *made->arrays[i + 1], *made->arrays[i]);
  }
  return made;
}

void ReductionOp::chooseSource(const Action& action) {
  const DTensor& x = *action.x;
  // The steps start at array 0 if they run forward, otherwise at the last array.
  const bool isFirst = runsForward(action.sense);
  if (x.isContiguous()) {
    source_ = isFirst ? current_->firstOnUser : current_->lastOnUser;
    source_->placeBox(const_cast<void*>(arrayOf(x)), /*readOnly=*/true);
    return;
  }
  source_ = isFirst ? current_->arrays.front() : current_->arrays.back();
  visitDataType(domainType(), [&]<class T>(T) {
    blockAxpby<T, T>(x.context(), x.ndim(), x.extent().data(), T(1), x.data<T>(),
                     x.strides().data(), T(0), source_->mutableData<T>(),
                     (isFirst ? packedContributions_ : packedSums_).data());
  });
}

// Sets target_, which the last executed step writes: the memory of y if alpha = 1, beta = 0 and y
// is contiguous. Otherwise it is an array of the buffers, which doEnd() combines with y. A tensor
// that is placed on the user's memory does not know whether y is writable, so this is checked here.
void ReductionOp::chooseTarget(const Action& action) {
  DTensor& y = *action.y;
  const bool isLast = runsForward(action.sense);
  writesToUser_ = action.isPlain() && y.isContiguous();
  target_ = isLast ? current_->arrays.back() : current_->arrays.front();
  if (!writesToUser_)
    return;
  y.checkWritable();
  target_ = isLast ? current_->lastOnUser : current_->firstOnUser;
  target_->placeBox(const_cast<void*>(arrayOf(y)), /*readOnly=*/false);
}

// Returns the action of the step-th executor in the order of execution: on the arrays before and
// after it, in the direction in which the steps run, which is not that of this operator's action if
// the operator is a transposed sum.
Action ReductionOp::actionOf(Sense sense, std::size_t step) const {
  const std::size_t last = stages_.size();
  const auto arrayAfter = [&](std::size_t i) {
    return current_->arrays[runsForward(sense) ? i : last - i];
  };
  return {.sense = runsForward(sense) ? Sense::Forward : Sense::Adjoint,
          .x = (step == 0 ? source_ : arrayAfter(step)).get(),
          .y = (step + 1 == last ? target_ : arrayAfter(step + 1)).get()};
}

void ReductionOp::doBegin(const Action& action) {
  if (stages_.empty())
    return;
  current_ = &arraysIn(action.x->space());
  chooseSource(action);
  chooseTarget(action);
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
  if (writesToUser_)
    return y.changed();
  visitDataType(domainType(), [&]<class T>(T) {
    blockAxpby<T, T>(y.context(), y.ndim(), y.extent().data(), static_cast<T>(action.alpha),
                     target_->data<T>(),
                     (runsForward(action.sense) ? packedSums_ : packedContributions_).data(),
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
  arraysBySpace_.visit(
      [&](const StepArrays& arrays) { bytes += arrays.even.bytes() + arrays.odd.bytes(); });
  for (const Stage& stage : stages_)
    bytes += stage.executor->bufferBytes();
  return bytes;
}

} // namespace tenon
