// SPDX-License-Identifier: BSD-2-Clause
// Counts the messages that a movement sends and the buffers that it holds, for any rank and without
// communication. The counts are those of the operators of linop: tests/linop/movement_run_test.cpp
// compares them message by message and byte by byte. For example, a program with the arrays
// 1000 -> 250 -> 250 -> 1000 elements holds two buffers of 1000, in which they alternate, and the
// message buffers of its three steps. The functions are members of class Movement (movement.hpp).
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/traffic.hpp"
#include "reduction/movement/movement.hpp"

#include <algorithm>

namespace tenon {

bool Movement::has(By kind) const {
  return by == kind ||
         std::ranges::any_of(parts, [&](const Movement& part) { return part.has(kind); });
}

Traffic Movement::sent(int rank, Role role) const {
  if (!parts.empty()) {
    Traffic sum;
    for (const Movement& part : parts)
      sum += part.sent(rank, role);
    return sum;
  }
  if (by == By::Exchange)
    return countFlow(from(), to(), rank, role).others;
  if (by == By::Program) {
    const SumChange change = sumBetween(from(), to()).value();
    return sentInSteps(scheduledSteps(program, from(), to(), change, elementBytes, rank), change,
                       rank, role);
  }
  if (by == By::Vendor) { // one call of the library, with the rank's block of the source
    const Layout& source = role == Role::Source ? from() : to();
    const Index block =
        collectivePieces(ends, rank).takesPart ? elements(source.boxOfRank(rank)) : 0;
    return {.messages = block > 0, .elements = block};
  }
  return sentOnRoute(role == Role::Source ? Route{ends} : adjointOf(Route{ends}), rank);
}

Traffic Movement::mostSent(Role role) const {
  Traffic most;
  if (!parts.empty()) {
    for (const Movement& part : parts)
      most += part.mostSent(role);
    return most;
  }
  // Exact for an exchange on one grid. Otherwise ranks are sampled, the first one among them: ranks
  // of a collective or a program differ by one element of a piece, and the first have the largest.
  const Grid& grid = (role == Role::Source ? from() : to()).grid();
  const bool isOnOneGrid = by == By::Exchange && from().grid() == to().grid();
  for (const int position :
       isOnOneGrid ? unlikePositions(from(), to()) : sampledPositions(grid, Sampling::Sampled)) {
    const Traffic one = sent(grid.rank(position), role);
    most.messages = std::max(most.messages, one.messages);
    most.elements = std::max(most.elements, one.elements);
  }
  return most;
}

namespace {

// Sent data are packed, and received data are combined from their buffer. Buffers and lanes of both
// directions are created with the operator, so those of the adjoint always count.
Index exchangeBytes(const Schedule& schedule, Index elementBytes, int rank,
                    const SharedByNode& shared) {
  Index sum = 0;
  for (const std::vector<Transfer>* transfers : {&schedule.sends, &schedule.receives}) {
    Index byLanes = 0;
    for (const Transfer& transfer : *transfers)
      if (transfer.peer != rank && shared.joins(rank, transfer.peer))
        byLanes += elementBytes * transfer.elements;
    for (const Transfer& transfer : *transfers)
      if (const Index bytes = elementBytes * transfer.elements; transfer.peer != rank)
        sum += shared.joins(rank, transfer.peer) ? shared.laneBytes(bytes, byLanes) : bytes;
  }
  return sum;
}

// The whole tensor, and, for a sum, the larger of these: a partial sum of the own piece from each
// process, or, along a tree, the whole tensor of another process.
Index collectiveElements(const RouteStep& step, int rank) {
  const CollectivePieces pieces = collectivePieces(step, rank);
  if (!pieces.takesPart)
    return 0;
  return pieces.elements +
         std::max(pieces.elements, pieces.ranks * pieces.piece(pieces.coordinate));
}

// The library needs the pieces of the ranks one after the other; only an array in which they are
// not is packed.
Index vendorElements(const RouteStep& step, int rank) {
  const CollectivePieces pieces = collectivePieces(step, rank);
  return pieces.takesPart && !pieces.areInOrder ? pieces.elements : 0;
}

// The arrays before and after the steps alternate between two buffers.
Index programBytes(const Movement& movement, int rank, const SharedByNode& shared) {
  Index largest[2] = {0, 0}, sum = 0;
  std::size_t arrays = 0;
  const auto add = [&](const Shape& extent) {
    Index& most = largest[arrays++ % 2];
    most = std::max(most, elements(extent));
  };
  for (const ScheduledStep& step : scheduledSteps(
           movement.program, movement.from(), movement.to(),
           sumBetween(movement.from(), movement.to()).value(), movement.elementBytes, rank)) {
    if (arrays == 0)
      add(step.schedule.sourceExtent);
    add(step.schedule.targetExtent);
    sum += exchangeBytes(step.schedule, movement.elementBytes, rank, shared);
  }
  return sum + (largest[0] + largest[1]) * movement.elementBytes;
}

} // namespace

double Movement::bufferBytes(int rank, const SharedByNode& shared, bool bothWays) const {
  if (parts.empty())
    switch (by) {
    case By::Exchange:
      return double(exchangeBytes(makeSchedule(from(), to(), rank), elementBytes, rank, shared));
    case By::Collective:
    case By::Steps:
      return double(elementBytes * collectiveElements(ends, rank));
    case By::Program:
      return double(programBytes(*this, rank, shared));
    case By::Vendor:
      return double(elementBytes * vendorElements(ends, rank));
    }
  double sum = 0;
  for (const Movement& part : parts) {
    sum += part.bufferBytes(rank, shared, bothWays);
    // Between the steps there are tensors, and further ones for the adjoint.
    if (&part != &parts.back())
      sum += (bothWays ? 2 : 1) * double(elementBytes * elements(part.to().boxOfRank(rank)));
  }
  return sum;
}

} // namespace tenon
