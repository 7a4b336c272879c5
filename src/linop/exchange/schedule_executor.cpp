// SPDX-License-Identifier: BSD-2-Clause
// Runs a schedule: prepares the target, and combines the parts in the order of the schedule as the
// carrier brings them. The question to keep in mind is who brings beta: the first contribution to
// an element does where one is known to come first, and prepareTarget() does it for all other
// elements.
#include "linop/exchange/schedule_executor.hpp"

#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_queue.hpp"
#include "linop/exchange/part.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Whether the two regions, each seen in its array, are the same memory.
bool sameElements(const Region& from, const DTensor& x, const Region& to, const DTensor& y) {
  if (from.list || to.list || to.sign != 1)
    return false;
  const RegionView source = viewOf(x, from), target = viewOf(y, to);
  for (int d = 0; d < x.rank(); ++d)
    if (from.extent[d] > 1 && source.steps[d] != target.steps[d])
      return false;
  return source.first == target.first;
}

// The region of y whose values are there already, if the action is in place; else NULL. Arrays of
// the library's own never share memory, so that only placed ones are compared.
const Region* keptRegion(const Direction& direction, const Action& action) {
  if (!action.x->isPlaced() || !action.y->isPlaced())
    return nullptr;
  for (const Part& part : direction.unpacks)
    for (std::size_t i = 0; direction.isOwn(part) && i < part.to.size(); ++i)
      if (sameElements(part.from[i], *action.x, part.to[i], *action.y))
        return &part.to[i];
  return nullptr;
}

// Scales by beta the elements to which no part brings it; returns whether the first part can bring
// it to its own. In place, the caller's elements stay as they are, like the kept ones.
bool prepareTarget(const Direction& direction, const Action& action, const Region* kept,
                   Combine combine, BlockQueue& queue) {
  DTensor& y = *action.y;
  if (combine == Combine::Max) {
    fillWithLowest(y);
    return false;
  }
  if (!direction.sums) {
    for (const Region& region : direction.zeros)
      scaleRegion(action.beta, region, y, &queue);
    for (std::size_t i = 0; !kept && i < direction.userValues.size(); ++i)
      scaleRegion(action.beta, direction.userValues[i], y, &queue);
    return true;
  }
  if (kept) {
    clearAround(*kept, y);
    return false;
  }
  // With sums, no part is known to be the first everywhere but one that covers the target.
  if (direction.coversTarget)
    return true;
  scaleArray(action.beta, y);
  return false;
}

// Combines all parts of an action, the rank's own at its turn, which is read in x; receive(i,
// chunks, meeting) brings those of others.
//
// Where all parts are added to the same elements, on the host all contributions to a few elements
// come first, then those to the next: one pass over the target, which its caches keep, instead of
// one for each rank.
template <class Receive>
void combineParts(const Direction& direction, const Action& action, Combine combine,
                  Receive receive) {
  action.y->changed(); // where all arrives in the array, nothing else tells
  const Region* kept = keptRegion(direction, action);
  // Where each element gets one value this is also the largest, and it brings beta along.
  if (!direction.sums)
    combine = Combine::Add;
  BlockQueue queue(action.y->context());
  const bool sole = prepareTarget(direction, action, kept, combine, queue);
  const bool chunkwise = direction.sameTarget && !kept && action.y->space() == Space::Host;
  const Index passes = chunkwise ? direction.unpacks[0].chunks.count() : 1;
  for (Index pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < direction.unpacks.size(); ++i) {
      const Part& part = direction.unpacks[i];
      const Interval chunks = chunkwise ? Interval{pass, pass + 1} : part.chunks.all();
      const bool first = sole && (i == 0 || !direction.sums);
      const Meeting meeting{first ? Combine::Copy : combine, first ? action.beta : 1, &queue};
      if (!direction.isOwn(part))
        receive(i, chunks, meeting);
      else
        part.visit(chunks, [&](const Region& from, const Region& to) {
          if (&to != kept)
            combineRegion(action, to, viewOf(*action.x, from), meeting);
        });
    }
  queue.flush();
}

// Does part of an action. If that fails the carrier lets go of x, which its owner may free once the
// error has reached him.
template <class Work>
void orAbandon(Carrier& carrier, Work work) {
  try {
    work();
  } catch (...) {
    carrier.abandon();
    throw;
  }
}

} // namespace

// The directions share two wires, since one action is in flight at a time: what the forward action
// sends from, the adjoint receives into.
ScheduleExecutor::Carriage::Carriage(const ScheduleExecutor& of, Space space)
    : carriers{of.makeCarrierFor(Sense::Forward, space), of.makeCarrierFor(Sense::Adjoint, space)},
      reach(of.reachIn(space)),
      sourceSide(std::max(carriers[0]->sendBytes(), carriers[1]->receiveBytes()),
                 of.owner_ + " source buffer", contextOf(of.comm_, space), reach),
      targetSide(std::max(carriers[0]->receiveBytes(), carriers[1]->sendBytes()),
                 of.owner_ + " target buffer", contextOf(of.comm_, space), reach) {
  carriers[0]->useWires(sourceSide, targetSide);
  carriers[1]->useWires(targetSide, sourceSide);
}

// Tags are counted on the communicator, so ranks make their executors in one order. The carriers of
// the expected space are made now, so that the first action allocates nothing.
ScheduleExecutor::ScheduleExecutor(const CommPtr& comm, const Schedule& schedule,
                                   TenonDataType type, const std::string& owner,
                                   const CarrierPolicy& policy)
    : comm_(comm), tag_(comm->nextTag()), elementBytes_(dataTypeSize(type)), owner_(owner),
      policy_(policy) {
  for (const Sense sense : {Sense::Forward, Sense::Adjoint})
    directions_[static_cast<std::size_t>(sense)] =
        makeDirection(schedule, sense == Sense::Forward, comm->rank(), elementBytes_);
  carriage(policy.space);
}

std::unique_ptr<Carrier> ScheduleExecutor::makeCarrierFor(Sense sense, Space space) const {
  return makeCarrier({comm_, tag_, directionOf(sense), elementBytes_, policy_, owner_}, space);
}

Wire::Reach ScheduleExecutor::reachIn(Space space) const {
  return space == Space::Device && isGpuAware(policy_.gpuAware, comm_) ? Wire::Reach::Device
                                                                       : Wire::Reach::Host;
}

ScheduleExecutor::Carriage& ScheduleExecutor::carriage(Space space) {
  return carriages_.of(space, [&] {
    if (space == Space::Device)
      showListsToDevice();
    return std::make_unique<Carriage>(*this, space);
  });
}

void ScheduleExecutor::showListsToDevice() {
  KernelContext& context = *contextOf(comm_, Space::Device);
  const auto show = [&](Region& region) {
    if (!region.list)
      return;
    const auto [at, isNew] = deviceLists_.try_emplace(region.list.get());
    if (isNew)
      at->second = {{context, region.list->positions}, {context, region.list->weights}};
    region.devicePositions = at->second.positions.data();
    region.deviceWeights = at->second.weights.data();
  };
  for (Direction& direction : directions_)
    for (std::vector<Part>* parts : {&direction.packs, &direction.unpacks})
      for (Part& part : *parts)
        for (std::vector<Region>* regions : {&part.from, &part.to})
          std::ranges::for_each(*regions, show);
}

void ScheduleExecutor::unbind() {
  carriages_.visit([](Carriage& carriage) {
    for (const auto& carrier : carriage.carriers)
      carrier->unbind();
  });
}

Index ScheduleExecutor::bufferBytes() const noexcept {
  Index bytes = 0;
  carriages_.visit([&](const Carriage& carriage) {
    bytes += carriage.sourceSide.heldBytes() + carriage.targetSide.heldBytes();
    for (const auto& carrier : carriage.carriers)
      bytes += carrier->ownBytes();
  });
  return bytes;
}

std::string ScheduleExecutor::describeTransport() const {
  // A view says why auto has fallen back on messages, since nothing fails then.
  std::string text = carriages_.find(policy_.space)->carriers[0]->describe();
  if (policy_.space == Space::Device) {
    if (policy_.transport != Transport::Messages && comm_->size() > 1 &&
        !comm_->deviceArena().reason.empty())
      text += fmt::format(" (no shared device memory: {})", comm_->deviceArena().reason);
    return text;
  }
  if (policy_.transport == Transport::Auto && !comm_->arena() && comm_->size() > 1)
    text += fmt::format(" (no shared memory: {})", comm_->whyNoArena());
  if (comm_->arena() && policy_.transport != Transport::Messages && !comm_->whySmallArena().empty())
    text += fmt::format(" (little shared memory: {})", comm_->whySmallArena());
  return text;
}

bool ScheduleExecutor::isInPlace(const Action& action) const {
  return keptRegion(directionOf(action.sense), action) != nullptr;
}

void ScheduleExecutor::begin(const Action& action) {
  Carrier& carrier = carrierOf(action.sense, action.x->space());
  orAbandon(carrier, [&] { carrier.begin(action); });
  if (watch)
    watch->began(*this);
}

void ScheduleExecutor::end(const Action& action, Combine combine) {
  Carrier& carrier = carrierOf(action.sense, action.x->space());
  orAbandon(carrier, [&] { combineAll(carrier, action, combine); });
}

void ScheduleExecutor::combineAll(Carrier& carrier, const Action& action, Combine combine) {
  if (watch)
    watch->looks(*this);
  combineParts(directionOf(action.sense), action, combine,
               [&](std::size_t part, Interval chunks, const Meeting& meeting) {
                 carrier.receive(action, part, chunks, meeting);
               });
  carrier.end(action);
}

OwnScheduleExecutor::OwnScheduleExecutor(const Schedule& schedule, TenonDataType type, int rank) {
  for (const Sense sense : {Sense::Forward, Sense::Adjoint})
    directions_[static_cast<std::size_t>(sense)] =
        makeDirection(schedule, sense == Sense::Forward, rank, dataTypeSize(type));
}

void OwnScheduleExecutor::run(const Action& action) const {
  combineParts(directions_[static_cast<std::size_t>(action.sense)], action, Combine::Add,
               [](std::size_t, Interval, const Meeting&) {
                 throw Error(TENON_ERR_INTERNAL,
                             "a schedule of a rank's own elements has a part of another rank");
               });
}

} // namespace tenon
