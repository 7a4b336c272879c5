// SPDX-License-Identifier: BSD-2-Clause
// CollectiveStep: one step of a conversion by a non-blocking MPI collective along grid axes, such
// as P -> B by an AllReduce. doBegin() starts the collective, doEnd() completes it. A line is the
// set of ranks along the axes; a rank has a coordinate in its line, and each rank owns a piece of
// the array.
//
// MPI moves elements but never adds them: each element is summed on one rank, in the order of
// coordinates or along a fixed tree, and the sum is then copied. All copies are therefore bitwise
// identical:
//
//     AllReduce   MPI_Ialltoallv (each rank gets all contributions to its piece), sum,
//                 MPI_Iallgatherv
//                 or for short arrays: sums along a tree to coordinate 0, MPI_Ibcast
#include "linop/collectives/collective_step.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "comm/partition.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "machine/line.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <type_traits>

namespace tenon {

namespace {

// One tag suffices: messages between two ranks of a line arrive in the order of sending, and all
// ranks run the actions in the same order.
constexpr int kTag = 0;

MPI_Datatype mpiType(TenonDataType type) {
  return visitDataType(type, []<class T>(T) {
    if constexpr (std::is_same_v<T, float>)
      return MPI_FLOAT;
    else if constexpr (std::is_same_v<T, double>)
      return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, std::int32_t>)
      return MPI_INT32_T;
    else
      return MPI_INT64_T;
  });
}

// The region of a whole array.
Region regionOf(const Shape& extent) {
  Region region;
  std::copy(extent.begin(), extent.end(), region.extent.begin());
  region.step.fill(1);
  region.elements = 1;
  for (Index width : extent)
    region.elements *= width;
  return region;
}

Shape wholeExtent(const CollectivePieces& pieces, int rank) {
  return extents(pieces.whole.boxOfRank(rank));
}

// The piece of the rank at a coordinate of the line, as a region of the whole array.
Region regionOfPiece(const CollectivePieces& pieces, int coordinate, int rank) {
  Shape extent = wholeExtent(pieces, rank);
  const Index begin = pieces.cut(coordinate);
  extent[pieces.dim] = pieces.cut(coordinate + 1) - begin;
  Region region = regionOf(extent);
  region.begin[pieces.dim] = begin;
  return region;
}

// The pieces of the whole array as regions of it, in the order of coordinates; a single region if
// they are consecutive.
std::vector<Region> regionsOf(const CollectivePieces& pieces, int rank) {
  if (pieces.areInOrder)
    return {regionOf(wholeExtent(pieces, rank))};
  std::vector<Region> regions;
  for (int c = 0; c < pieces.ranks; ++c)
    regions.push_back(regionOfPiece(pieces, c, rank));
  return regions;
}

} // namespace

CollectiveRegions collectiveRegions(const CollectivePieces& pieces, int rank) {
  CollectiveRegions regions{.whole = regionsOf(pieces, rank), .own = {}};
  if (pieces.dim >= 0) {
    regions.own = regionOfPiece(pieces, pieces.coordinate, rank);
    regions.own.begin = {}; // in the array that contains only this piece
  }
  return regions;
}

// A rank outside the grid, or in a line whose array is empty, does nothing. Whether a line takes
// part follows from the layouts, so all ranks of a line decide alike.
void CollectiveStep::doBegin(const Action& action) {
  if (!pieces_.takesPart)
    return;
  const DTensor& x = *action.x;
  const bool root = pieces_.coordinate == 0;
  wires_ = &wires(x.space());
  wires_->whole.open();
  wires_->parts.open();
  switch (kindOf(action.sense)) {
  case CollectiveKind::AllGather:
    target_ = addressOfWhole(action);
    return startAllGather(packed(wires_->parts, x, {&regions_.own, 1}, /*inPlace=*/true), target_);
  case CollectiveKind::Broadcast:
    // MPI_Ibcast has one buffer argument for all ranks, which it only reads on the root.
    target_ = root ? const_cast<std::byte*>(packedWhole(x)) : addressOfWhole(action);
    return startBroadcast(target_);
  case CollectiveKind::ReduceScatter:
    return startScatterOfContributions(packedWhole(x));
  case CollectiveKind::Reduce:
  case CollectiveKind::AllReduce:
    break;
  }
  // In a tree sum a rank first waits for other ranks, so doBegin() only packs x. It packs x even if
  // MPI could read the array in place, since doEnd() adds the received sums to the packed copy. A
  // staged wire copies a device array to the host anyway, so only its order can require packing.
  if (tree_)
    packed(wires_->whole, x, regions_.whole, wires_->whole.isStaged() && pieces_.areInOrder);
  else
    startScatterOfContributions(packedWhole(x));
}

void CollectiveStep::doEnd(const Action& action) {
  if (!pieces_.takesPart)
    return;
  const CollectiveKind kind = kindOf(action.sense);
  action.y->changed(); // Counts the change, since MPI can write directly into the array.
  wait();
  if (kind == CollectiveKind::AllGather || kind == CollectiveKind::Broadcast)
    return unpackWhole(action, target_);
  if (kind == CollectiveKind::ReduceScatter)
    return unpack(wires_->parts, action, sumOfContributions(), {&regions_.own, 1});
  const bool all = kind == CollectiveKind::AllReduce;
  const std::byte* sum = wires_->whole.bytes();
  if (tree_) {
    sumAlongTree();
    if (all)
      startBroadcast(wires_->whole.bytes());
  } else if (all) {
    target_ = addressOfWhole(action);
    startAllGather(sumOfContributions(), target_);
    sum = target_;
  } else {
    startGatherToRoot(sumOfContributions());
  }
  wait();
  // After a Reduce only coordinate 0 holds the result.
  if (all || pieces_.coordinate == 0)
    unpackWhole(action, sum);
}

// Returns the address at which MPI and the host can read the elements of the regions, one region
// after the other: the array of x itself if it is contiguous and inPlace is true, otherwise the
// buffer. A staged wire copies elements from the device to the host; the host waits for the copy,
// since MPI reads at once.
const std::byte* CollectiveStep::packed(Wire& wire, const DTensor& x,
                                        std::span<const Region> regions, bool inPlace) {
  const std::byte* elements = wire.elements();
  if (inPlace && x.isContiguous())
    elements = static_cast<const std::byte*>(arrayOf(x));
  else
    packRegions(x, regions, wire.elements());
  if (!wire.isStaged())
    return elements;
  wire.packed();
  wire.send(0, elements, x.localElements() * elementBytes_, ready_);
  ready_.synchronise();
  return wire.bytes();
}

const std::byte* CollectiveStep::packedWhole(const DTensor& x) {
  return packed(wires_->whole, x, regions_.whole, pieces_.areInOrder);
}

// Returns the address at which the whole array is received: the array of y if MPI can write it
// directly. Otherwise it is the buffer, which is combined with y later: for factors other than
// alpha = 1 and beta = 0, for arrays that are not contiguous, and for device arrays.
std::byte* CollectiveStep::addressOfWhole(const Action& action) {
  DTensor& y = *action.y;
  if (!action.isPlain() || wires_->whole.isStaged() || !y.isContiguous() || !pieces_.areInOrder)
    return wires_->whole.bytes();
  return visitDataType(
      domainType(), [&]<class T>(T) { return reinterpret_cast<std::byte*>(y.mutableData<T>()); });
}

// Combines with y the received data: the bytes of a staged wire, or else those at `from`.
void CollectiveStep::unpack(Wire& wire, const Action& action, const std::byte* from,
                            std::span<const Region> regions) {
  const DTensor& y = *action.y;
  if (y.localElements() == 0)
    return;
  if (wire.isStaged()) {
    wire.receive(0, y.localElements() * elementBytes_);
    wire.received();
    from = wire.elements();
  }
  combineRegions(action, regions, from);
  wire.unpacked();
}

void CollectiveStep::unpackWhole(const Action& action, const std::byte* from) {
  if (from != arrayOf(*action.y))
    unpack(wires_->whole, action, from, regions_.whole);
}

// The log counts the elements passed to MPI, since the messages of its algorithm are unknown.
void CollectiveStep::logElements(Index elements) const {
  if (elements > 0)
    logMessage(elements * elementBytes_);
}

// to <- to + from, or to <- from, for `elements` elements, by op.
void CollectiveStep::combine(Combine op, Index elements, const std::byte* from, std::byte* to) {
  visitDataType(domainType(), [&]<class T>(T) {
    arrayCombine(*context_, op, elements, reinterpret_cast<const T*>(from),
                 reinterpret_cast<T*>(to));
  });
}

// The sizes and offsets of all pieces, in elements; borrowed until the MPI call that reads them has
// completed.
RankLists& CollectiveStep::lists() {
  lists_ = line_->lendLists();
  lists_->sizes.clear();
  lists_->offsets.clear();
  for (int c = 0; c < pieces_.ranks; ++c) {
    lists_->sizes.push_back(static_cast<int>(pieces_.piece(c)));
    lists_->offsets.push_back(static_cast<int>(pieces_.offset(c)));
  }
  return *lists_;
}

// Starts the all-gather of the pieces into the array `whole`.
void CollectiveStep::startAllGather(const std::byte* piece, std::byte* whole) {
  const RankLists& pieceLists = lists();
  checkMpi(MPI_Iallgatherv(piece, ownElements_, mpiType_, whole, pieceLists.sizes.data(),
                           pieceLists.offsets.data(), mpiType_, line_->mpi(), &request_),
           "MPI_Iallgatherv");
  logElements(ownElements_);
}

// Starts the exchange of contributions: each rank receives the contributions to its own piece into
// the buffer `parts`, in the order of the senders' coordinates. The rank copies its own
// contribution to its place there without MPI.
void CollectiveStep::startScatterOfContributions(const std::byte* whole) {
  const int me = pieces_.coordinate, own = ownElements_;
  std::byte* parts = wires_->parts.bytes();
  RankLists& pieceLists = lists();
  pieceLists.sizes[me] = 0;
  pieceLists.arrivalSizes.assign(pieces_.ranks, own);
  pieceLists.arrivalSizes[me] = 0;
  pieceLists.arrivalOffsets.resize(pieces_.ranks);
  for (int c = 0; c < pieces_.ranks; ++c)
    pieceLists.arrivalOffsets[c] = c * own;
  checkMpi(MPI_Ialltoallv(whole, pieceLists.sizes.data(), pieceLists.offsets.data(), mpiType_,
                          parts, pieceLists.arrivalSizes.data(), pieceLists.arrivalOffsets.data(),
                          mpiType_, line_->mpi(), &request_),
           "MPI_Ialltoallv");
  logElements(pieces_.elements - own);
  combine(Combine::Copy, own, whole + pieces_.offset(me) * elementBytes_,
          parts + Index(me) * own * elementBytes_);
}

// Adds the contributions in the order of coordinates, not of arrival, which makes the sum bitwise
// reproducible.
const std::byte* CollectiveStep::sumOfContributions() {
  std::byte* contributions = wires_->parts.bytes();
  for (Index c = 1; c < pieces_.ranks; ++c)
    combine(Combine::Add, ownElements_, contributions + c * ownElements_ * elementBytes_,
            contributions);
  return contributions;
}

// Binomial tree in log2(ranks) rounds: in each round every second remaining rank sends its partial
// sum to the remaining rank before it and is finished. With 4 ranks: 1 -> 0 and 3 -> 2, then 2 ->
// 0, which computes (x0 + x1) + (x2 + x3). The order depends on coordinates only.
void CollectiveStep::sumAlongTree() {
  const int me = pieces_.coordinate, elements = static_cast<int>(pieces_.elements);
  std::byte *whole = wires_->whole.bytes(), *received = wires_->parts.bytes();
  for (int step = 1; step < pieces_.ranks; step *= 2) {
    if (me % (2 * step) != 0) {
      checkMpi(MPI_Isend(whole, elements, mpiType_, me - step, kTag, line_->mpi(), &request_),
               "MPI_Isend");
      wait(me - step);
      return logElements(elements);
    }
    if (me + step >= pieces_.ranks)
      continue;
    checkMpi(MPI_Irecv(received, elements, mpiType_, me + step, kTag, line_->mpi(), &request_),
             "MPI_Irecv");
    wait(me + step);
    combine(Combine::Add, elements, received, whole);
  }
}

// Starts the gather of the summed pieces on coordinate 0.
void CollectiveStep::startGatherToRoot(const std::byte* piece) {
  const RankLists& pieceLists = lists();
  checkMpi(MPI_Igatherv(piece, ownElements_, mpiType_, wires_->whole.bytes(),
                        pieceLists.sizes.data(), pieceLists.offsets.data(), mpiType_, 0,
                        line_->mpi(), &request_),
           "MPI_Igatherv");
  logElements(pieces_.coordinate == 0 ? 0 : ownElements_);
}

// Starts the broadcast of the whole array from coordinate 0.
void CollectiveStep::startBroadcast(std::byte* whole) {
  const int elements = static_cast<int>(pieces_.elements);
  checkMpi(MPI_Ibcast(whole, elements, mpiType_, 0, line_->mpi(), &request_), "MPI_Ibcast");
  logElements(pieces_.coordinate == 0 ? elements : 0);
}

// Waits for the request. The warning of a long wait names the rank at the coordinate, or, without
// one, all other ranks of the line.
void CollectiveStep::wait(int coordinate) {
  waitFor(*comm(), &request_, 1, [&] {
    const Grid& grid = domain().grid();
    std::vector<int> peers = lineOf(grid, axes_, grid.position(comm()->rank()));
    if (coordinate >= 0)
      return ranksText({peers[coordinate]});
    peers.erase(peers.begin() + pieces_.coordinate);
    return someOfText(peers);
  });
  if (lists_)
    line_->takeBack(std::move(lists_));
}

namespace {

CollectiveKind collectiveOf(const RouteStep& step) {
  if (!step.collective)
    throw Error(TENON_ERR_INTERNAL, "a collective step was made of an exchange");
  return *step.collective;
}

} // namespace

CollectiveStep::CollectiveStep(const CommPtr& comm, const RouteStep& step, TenonDataType type,
                               Space space)
    : LinearOp(comm, step.from, step.to, type),
      line_(lineComm(*comm, step.from.gridPtr(), step.axes, AxisUse::Library)),
      kind_(collectiveOf(step)), tree_(step.tree), axes_(step.axes),
      pieces_(collectivePieces(step, comm->rank())), elementBytes_(dataTypeSize(type)),
      mpiType_(mpiType(type)) {
  if (!pieces_.takesPart)
    return;
  const int me = pieces_.coordinate;
  regions_ = collectiveRegions(pieces_, comm->rank());
  ownElements_ = static_cast<int>(pieces_.piece(me));
  // The buffer `parts` has space for the contributions of all ranks to this rank's piece and, for
  // the tree, for the whole array of another rank.
  maxContributions_ = std::max(pieces_.elements, static_cast<Index>(pieces_.ranks) * ownElements_);
  line_->takeBack(line_->lendLists()); // The first action then allocates no lists.
  // The wires are created now, so the first action allocates no buffers.
  wires(space);
}

CollectiveStep::Wires& CollectiveStep::wires(Space space) {
  return bySpace_.of(space, [&] {
    const KernelContextPtr context = contextOf(comm(), space);
    return std::unique_ptr<Wires>(
        new Wires{.whole = {pieces_.elements * elementBytes_, title() + " whole", context},
                  .parts = {maxContributions_ * elementBytes_, title() + " parts", context}});
  });
}

Index CollectiveStep::bufferBytes() const {
  Index bytes = 0;
  bySpace_.visit(
      [&](const Wires& wires) { bytes += wires.whole.heldBytes() + wires.parts.heldBytes(); });
  return bytes;
}

CollectiveKind CollectiveStep::kindOf(Sense sense) const {
  return sense == Sense::Forward ? kind_ : adjointOf(kind_);
}

} // namespace tenon
