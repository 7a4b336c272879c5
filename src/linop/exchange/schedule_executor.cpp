// SPDX-License-Identifier: BSD-2-Clause
// Executes y <- alpha C x + beta y for a schedule C, the messages of a conversion. A carrier (MPI
// messages or shared memory) transfers the parts, one per sending rank; this file prepares y and
// combines the parts with y: in the order of the schedule where they are summed, otherwise the
// rank's own part first, while messages travel, and then each as it arrives. beta must be applied
// exactly once per element:
//
//   each element gets at most one part     that part applies beta; elements without one are scaled
//   sums, the first part covers all of y   the first part applies beta, the others use beta = 1
//   other sums                             prepareTarget() scales y, all parts use beta = 1
//
// Each of several fields is one of these cases (Region::Role), whatever the others are.
#include "linop/exchange/schedule_executor.hpp"

#include "comm/memory/lane.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_queue.hpp"
#include "linop/exchange/part.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// True if the two regions, each in its array, are the same memory.
bool sameElements(const Region& from, const DTensor& x, const Region& to, const DTensor& y) {
  if (from.list || to.list || to.sign != 1)
    return false;
  const RegionView source = viewOf(x, from), target = viewOf(y, to);
  for (int d = 0; d < x.ndim(); ++d)
    if (from.extent[d] > 1 && source.steps[d] != target.steps[d])
      return false;
  return source.first == target.first;
}

// The region of y in a field that already has its values because x and y are the same memory there,
// or NULL. Arrays that the library allocates never share memory, so only arrays placed by the user
// are compared.
const Region* regionInPlace(const Direction& direction, const DTensor& x, const DTensor& y,
                            int field) {
  if (!x.isPlaced() || !y.isPlaced())
    return nullptr;
  for (const Part& part : direction.unpacks)
    for (std::size_t i = 0; direction.isOwn(part) && i < part.to.size(); ++i)
      if (part.to[i].field == field && sameElements(part.from[i], x, part.to[i], y))
        return &part.to[i];
  return nullptr;
}

// Scales by beta the elements of y to which no part applies beta. If a field is in place, neither
// the region in place nor the elements whose values the user sets are written.
void prepareTarget(const Direction::Target& target, double beta, DTensor& y, const Region* inPlace,
                   BlockQueue& queue) {
  if (!target.sums) {
    for (const Region& region : target.zeros)
      scaleRegion(beta, region, y, &queue);
    for (std::size_t i = 0; !inPlace && i < target.userValues.size(); ++i)
      scaleRegion(beta, target.userValues[i], y, &queue);
  } else if (inPlace) {
    clearAround(*inPlace, y);
  } else if (!target.isCovered) {
    // No part is known to be the first for all elements.
    scaleArray(beta, y);
  }
}

// The runs of the part that stays on the rank, if there is a small one.
OwnRuns ownRunsOf(const Direction& direction) {
  OwnRuns runs;
  for (const Part& part : direction.unpacks)
    if (direction.isOwn(part) && part.bytes < kLargePart)
      runs = {runsOf(part), runsOf(part)};
  return runs;
}

// Combines the part that stays on this rank, which is read from x.
void combineOwn(const Action& action, const Part& part, Interval chunks, OwnRuns& runs,
                const Meeting& meeting) {
  if (!runs.from.empty() && chunks == part.chunks.all())
    return combineOwnPart(action, part, runs, meeting);
  part.visit(chunks, [&](const Region& from, const Region& to) {
    combineOwnRegion(action, from, to, meeting);
  });
}

// Adds all parts to y in the order of the schedule.
//
// If all parts are added to the same elements on the host, the loop over chunks is the outer loop:
// all contributions to one chunk are added while the chunk is in the cache, which reads y once from
// memory instead of once per rank.
template <class Peers>
void sumParts(const Direction& direction, const Action& action, const Meeting& meeting,
              OwnRuns& runs, Peers&& peers) {
  // The field of this box; other fields have no elements on this rank.
  const auto isInPlace = [&] {
    return meeting.inPlaceOf(direction.unpacks[0].to.front().field) != nullptr;
  };
  const bool chunkwise = direction.sameTarget && !isInPlace() && action.y->space() == Space::Host;
  const Index passes = chunkwise ? direction.unpacks[0].chunks.count() : 1;
  for (Index pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < direction.unpacks.size(); ++i) {
      const Part& part = direction.unpacks[i];
      const Interval chunks = chunkwise ? Interval{pass, pass + 1} : part.chunks.all();
      if (direction.isOwn(part))
        combineOwn(action, part, chunks, runs, meeting);
      else
        peers.receive(action, i, chunks, meeting);
    }
}

// Combines all parts of an action with y; `peers` has receive() and receiveAll() of a carrier.
template <class Peers>
void combineParts(const Direction& direction, const Action& action,
                  std::span<const Region* const> inPlace, Combine combine, OwnRuns& runs,
                  Peers&& peers) {
  // If each element gets one value, the sum is also the maximum, and it can apply beta.
  if (!direction.sums)
    combine = Combine::Add;
  BlockQueue queue(action.y->context());
  const Meeting meeting{combine, &queue, inPlace};
  for (int field = 0; field < action.fields(); ++field) {
    DTensor& y = action.target(field);
    y.changed(); // MPI can write directly into the array.
    if (combine == Combine::Max)
      fillWithLowest(y);
    else
      prepareTarget(direction.targets[field], action.beta, y, meeting.inPlaceOf(field), queue);
  }
  if (direction.sums) {
    sumParts(direction, action, meeting, runs, peers);
  } else {
    for (const Part& part : direction.unpacks)
      if (direction.isOwn(part))
        combineOwn(action, part, part.chunks.all(), runs, meeting);
    peers.receiveAll(action, meeting);
  }
  queue.flush();
}

// For combineParts() of a rank that has no others.
struct NoPeers {
  void receive(const Action&, std::size_t, Interval, const Meeting&) const {
    throw Error(TENON_ERR_INTERNAL,
                "a schedule of a rank's own elements has a part of another rank");
  }
  void receiveAll(const Action&, const Meeting&) const {}
};

bool hasPeers(const Direction& direction) {
  const auto isOfPeer = [&](const Part& part) { return !direction.isOwn(part); };
  return std::ranges::any_of(direction.packs, isOfPeer) ||
         std::ranges::any_of(direction.unpacks, isOfPeer);
}

// Runs begin() or end() of an action. If it fails, the carrier stops reading x, since the caller
// can free x once the error has been reported.
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

// The two directions share two message buffers, since only one action is in flight: the forward
// action sends from sourceSide, and the adjoint receives into it.
ScheduleExecutor::Carriage::Carriage(const ScheduleExecutor& executor, Space space)
    : carriers{executor.makeCarrierFor(Sense::Forward, space),
               executor.makeCarrierFor(Sense::Adjoint, space)},
      reach(executor.reachIn(space)),
      sourceSide(std::max(carriers[0]->sendBytes(), carriers[1]->receiveBytes()),
                 executor.owner_ + " source buffer", contextOf(executor.comm_, space), reach),
      targetSide(std::max(carriers[0]->receiveBytes(), carriers[1]->sendBytes()),
                 executor.owner_ + " target buffer", contextOf(executor.comm_, space), reach) {
  carriers[0]->useWires(sourceSide, targetSide);
  carriers[1]->useWires(targetSide, sourceSide);
}

// The communicator numbers its tags, so all ranks must create their executors in the same order.
// The carriers of the expected memory space are created here, so the first action allocates
// nothing.
ScheduleExecutor::ScheduleExecutor(const CommPtr& comm, std::span<const FieldSchedule> fields,
                                   const std::string& owner, const CarrierPolicy& policy)
    : comm_(comm), tag_(comm->nextTag()), owner_(owner), policy_(policy) {
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    directions_[static_cast<std::size_t>(sense)] =
        makeDirection(fields, sense == Sense::Forward, comm->rank());
    ownRuns_[static_cast<std::size_t>(sense)] = ownRunsOf(directionOf(sense));
    InPlace& inPlace = inPlace_[static_cast<std::size_t>(sense)];
    inPlace.tensors.resize(fields.size());
    inPlace.regions.resize(fields.size());
  }
  // With this transport a rank can pass on messages of others.
  isWithinRank_ = (comm->size() == 1 || policy.transport != Transport::NodeAware) &&
                  std::ranges::none_of(directions_, hasPeers);
  carriage(policy.space);
}

std::unique_ptr<Carrier> ScheduleExecutor::makeCarrierFor(Sense sense, Space space) const {
  return makeCarrier({comm_, tag_, directionOf(sense), policy_, owner_}, space);
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

// Copies the lists of element positions to device memory, for kernels there, and merges those that
// are added.
void ScheduleExecutor::showListsToDevice() {
  KernelContext& context = *contextOf(comm_, Space::Device);
  const auto show = [&](Region& region) {
    if (!region.list)
      return;
    const auto [entry, isNew] = deviceLists_.try_emplace(region.list.get());
    if (isNew)
      entry->second = {{context, region.list->positions}, {context, region.list->weights}};
    region.devicePositions = entry->second.positions.data();
    region.deviceWeights = entry->second.weights.data();
  };
  for (Direction& direction : directions_)
    for (std::vector<Part>* parts : {&direction.packs, &direction.unpacks})
      for (Part& part : *parts)
        for (std::vector<Region>* regions : {&part.from, &part.to})
          std::ranges::for_each(*regions, show);
  for (std::size_t sense = 0; sense < directions_.size(); ++sense)
    mergedLists_[sense] = mergeLists(context, directions_[sense]);
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
  // The reason why "auto" uses messages is only visible in views, since it is not an error.
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
  return regionsInPlace(action).front() != nullptr;
}

std::span<const Region* const> ScheduleExecutor::regionsInPlace(const Action& action) const {
  InPlace& last = inPlace_[static_cast<std::size_t>(action.sense)];
  for (int field = 0; field < action.fields(); ++field) {
    const DTensor &x = action.source(field), &y = action.target(field);
    InPlace::Tensors& tensors = last.tensors[static_cast<std::size_t>(field)];
    if (tensors.x == x.placement() && tensors.y == y.placement())
      continue;
    tensors = {x.placement(), y.placement()};
    last.regions[static_cast<std::size_t>(field)] =
        regionInPlace(directionOf(action.sense), x, y, field);
  }
  return last.regions;
}

Sent ScheduleExecutor::sent(Sense sense) const {
  Sent sent;
  for (const Part& part : directionOf(sense).packs)
    if (!directionOf(sense).isOwn(part))
      sent += {1, part.bytes};
  return sent;
}

void ScheduleExecutor::begin(const Action& action) {
  Carrier& carrier = carrierOf(action.sense, action.x->space());
  if (watch)
    watch->begins(*this, action);
  if (!isWithinRank_)
    orAbandon(carrier, [&] { carrier.begin(action); });
}

void ScheduleExecutor::end(const Action& action, Combine combine) {
  Carrier& carrier = carrierOf(action.sense, action.x->space());
  if (watch)
    watch->looks(*this, action);
  if (isWithinRank_)
    combineParts(directionOf(action.sense), action, regionsInPlace(action), combine,
                 ownRunsFor(action), NoPeers());
  else
    orAbandon(carrier, [&] { combineAll(carrier, action, combine); });
  if (watch)
    watch->ended(*this, action);
}

void ScheduleExecutor::combineAll(Carrier& carrier, const Action& action, Combine combine) {
  combineParts(directionOf(action.sense), action, regionsInPlace(action), combine,
               ownRunsFor(action), carrier);
  carrier.end(action);
}

OwnScheduleExecutor::OwnScheduleExecutor(const Schedule& schedule, TenonDataType type, int rank) {
  const FieldSchedule field{schedule, type};
  for (const Sense sense : {Sense::Forward, Sense::Adjoint})
    directions_[static_cast<std::size_t>(sense)] =
        makeDirection(std::span(&field, 1), sense == Sense::Forward, rank);
  for (std::size_t i = 0; i < directions_.size(); ++i)
    ownRuns_[i] = ownRunsOf(directions_[i]);
}

void OwnScheduleExecutor::run(const Action& action) {
  OwnRuns& runs = ownRuns_[static_cast<std::size_t>(action.sense)];
  const Direction& direction = directions_[static_cast<std::size_t>(action.sense)];
  const Region* const inPlace = regionInPlace(direction, *action.x, *action.y, 0);
  combineParts(direction, action, std::span(&inPlace, 1), Combine::Add, runs, NoPeers());
}

} // namespace tenon
