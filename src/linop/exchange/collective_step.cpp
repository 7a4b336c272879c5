// SPDX-License-Identifier: BSD-2-Clause
// The two halves of a collective along a grid axis, and what is prepared for them. MPI moves
// elements here but never adds them: each is summed on one rank, in the order of coordinates or
// along a fixed tree, and the sum is copied, so that all copies have the same bits.
#include "linop/exchange/collective_step.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "comm/partition.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <type_traits>

namespace tenon {

namespace {

// One tag is enough: between two ranks of a line messages arrive in the order in which they are
// sent, and all ranks run the actions in one order.
constexpr int kTag = 0;

MPI_Datatype mpiType(TenonDataType type) {
  return visitDataType(type, []<class T>(T) {
    if constexpr (std::is_same_v<T, float>)
      return MPI_FLOAT;
    else if constexpr (std::is_same_v<T, double>)
      return MPI_DOUBLE;
    else
      return MPI_INT64_T;
  });
}

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

// Whether the pieces follow each other in a row-major array: they do if each dimension before the
// cut one has a single index, or if none is cut, so that they are runs of elements.
bool doFollow(const CollectivePieces& pieces, int rank) {
  const Shape whole = wholeExtent(pieces, rank);
  return std::all_of(whole.begin(), whole.begin() + std::max(pieces.dim, 0),
                     [](Index extent) { return extent == 1; });
}

Region regionOfPiece(const CollectivePieces& pieces, int coordinate, int rank) {
  Shape extent = wholeExtent(pieces, rank);
  const Index begin = pieces.cut(coordinate);
  extent[pieces.dim] = pieces.cut(coordinate + 1) - begin;
  Region region = regionOf(extent);
  region.begin[pieces.dim] = begin;
  return region;
}

// The pieces of the whole as regions of its array, in the order of coordinates: one where they
// follow each other.
std::vector<Region> regionsOf(const CollectivePieces& pieces, int rank) {
  if (doFollow(pieces, rank))
    return {regionOf(wholeExtent(pieces, rank))};
  std::vector<Region> regions;
  for (int c = 0; c < pieces.ranks; ++c)
    regions.push_back(regionOfPiece(pieces, c, rank));
  return regions;
}

} // namespace

CollectiveRegions collectiveRegions(const CollectivePieces& pieces, int rank) {
  CollectiveRegions regions{
      .whole = regionsOf(pieces, rank), .own = {}, .doFollow = doFollow(pieces, rank)};
  if (pieces.dim >= 0) {
    regions.own = regionOfPiece(pieces, pieces.coordinate, rank);
    regions.own.begin = {};
  }
  return regions;
}

// A rank outside the grid, or in a line whose whole is empty, has nothing to do, and the ranks of
// its line know that from the layouts too.
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
    target_ = landing(action);
    return startAllGather(packed(wires_->parts, x, {&regions_.own, 1}, true), target_);
  case CollectiveKind::Broadcast:
    // MPI takes one buffer for both ends of a broadcast, and only reads that of the root.
    target_ = root ? const_cast<std::byte*>(packedWhole(x)) : landing(action);
    return spread(target_);
  case CollectiveKind::ReduceScatter:
    return startScatterOfContributions(packedWhole(x));
  case CollectiveKind::Reduce:
  case CollectiveKind::AllReduce:
    break;
  }
  // Along a tree a rank first waits for others, so that this half only packs; it packs x even where
  // MPI could read it in place, since the sums are made in the copy.
  if (tree_)
    packed(wires_->whole, x, regions_.whole, wires_->whole.isStaged() && regions_.doFollow);
  else
    startScatterOfContributions(packedWhole(x));
}

void CollectiveStep::doEnd(const Action& action) {
  if (!pieces_.takesPart)
    return;
  const CollectiveKind kind = kindOf(action.sense);
  action.y->changed(); // where all arrives in the array, nothing else tells
  wait();
  if (kind == CollectiveKind::AllGather || kind == CollectiveKind::Broadcast)
    return unpackWhole(action, target_);
  if (kind == CollectiveKind::ReduceScatter)
    return unpack(wires_->parts, action, sumOfContributions(), {&regions_.own, 1});
  const bool all = kind == CollectiveKind::AllReduce;
  if (tree_) {
    sumAlongTree();
    if (all)
      spread(wires_->whole.bytes());
  } else if (all) {
    startAllGather(sumOfContributions(), wires_->whole.bytes());
  } else {
    gatherToRoot(sumOfContributions());
  }
  wait();
  // After a Reduce the others hold nothing of the result.
  if (all || pieces_.coordinate == 0)
    unpackWhole(action, wires_->whole.bytes());
}

// Returns where MPI and the host can read the elements of the regions, one region after the other:
// in the array itself if it holds them so and the caller lets them be read there. What kernels left
// for a staged wire is copied to the host, which waits for it, since MPI reads at once.
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
  return packed(wires_->whole, x, regions_.whole, regions_.doFollow);
}

// Returns where the whole arrives: in the output, if it may lie there as it comes. Factors and
// other strides need a pass from the buffer, and what is staged arrives on the host.
std::byte* CollectiveStep::landing(const Action& action) {
  DTensor& y = *action.y;
  if (!action.isPlain() || wires_->whole.isStaged() || !y.isContiguous() || !regions_.doFollow)
    return wires_->whole.bytes();
  return visitDataType(
      domainType(), [&]<class T>(T) { return reinterpret_cast<std::byte*>(y.mutableData<T>()); });
}

// Combines with y what MPI left in the bytes of the wire or, from elsewhere, at `from`.
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

// The log counts what MPI is given, since what its algorithm then sends is not known.
void CollectiveStep::count(Index elements) const {
  if (elements > 0)
    logMessage(elements * elementBytes_);
}

void CollectiveStep::combine(Combine op, Index elements, const std::byte* from, std::byte* to) {
  visitDataType(domainType(), [&]<class T>(T) {
    arrayCombine(*context_, op, elements, reinterpret_cast<const T*>(from),
                 reinterpret_cast<T*>(to));
  });
}

// The sizes and offsets of all pieces, in elements, lent until the call that takes them is
// complete.
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

void CollectiveStep::startAllGather(const std::byte* piece, std::byte* whole) {
  const RankLists& all = lists();
  checkMpi(MPI_Iallgatherv(piece, ownElements_, mpiType_, whole, all.sizes.data(),
                           all.offsets.data(), mpiType_, line_->mpi(), &request_),
           "MPI_Iallgatherv");
  count(ownElements_);
}

// Starts to bring the contributions of the rank's own piece to the parts, by coordinate. The rank's
// own contribution is copied there, past MPI, so that the sum finds all in one order.
void CollectiveStep::startScatterOfContributions(const std::byte* whole) {
  const int me = pieces_.coordinate, own = ownElements_;
  std::byte* parts = wires_->parts.bytes();
  RankLists& all = lists();
  all.sizes[me] = 0;
  all.arrivalSizes.assign(pieces_.ranks, own);
  all.arrivalSizes[me] = 0;
  all.arrivalOffsets.resize(pieces_.ranks);
  for (int c = 0; c < pieces_.ranks; ++c)
    all.arrivalOffsets[c] = c * own;
  checkMpi(MPI_Ialltoallv(whole, all.sizes.data(), all.offsets.data(), mpiType_, parts,
                          all.arrivalSizes.data(), all.arrivalOffsets.data(), mpiType_,
                          line_->mpi(), &request_),
           "MPI_Ialltoallv");
  count(pieces_.elements - own);
  combine(Combine::Copy, own, whole + pieces_.offset(me) * elementBytes_,
          parts + Index(me) * own * elementBytes_);
}

// Adds in the order of coordinates, whichever contribution came first: this fixes the bits of the
// sum.
const std::byte* CollectiveStep::sumOfContributions() {
  std::byte* contributions = wires_->parts.bytes();
  for (Index c = 1; c < pieces_.ranks; ++c)
    combine(Combine::Add, ownElements_, contributions + c * ownElements_ * elementBytes_,
            contributions);
  return contributions;
}

// Sums in rounds: among the ranks that are left, each with an odd number gives its sum to the one
// before it and is done. Who adds what depends on coordinates alone.
void CollectiveStep::sumAlongTree() {
  const int me = pieces_.coordinate, elements = static_cast<int>(pieces_.elements);
  std::byte *whole = wires_->whole.bytes(), *other = wires_->parts.bytes();
  for (int step = 1; step < pieces_.ranks; step *= 2) {
    if (me % (2 * step) != 0) {
      checkMpi(MPI_Isend(whole, elements, mpiType_, me - step, kTag, line_->mpi(), &request_),
               "MPI_Isend");
      wait(me - step);
      return count(elements);
    }
    if (me + step >= pieces_.ranks)
      continue;
    checkMpi(MPI_Irecv(other, elements, mpiType_, me + step, kTag, line_->mpi(), &request_),
             "MPI_Irecv");
    wait(me + step);
    combine(Combine::Add, elements, other, whole);
  }
}

void CollectiveStep::gatherToRoot(const std::byte* piece) {
  const RankLists& all = lists();
  checkMpi(MPI_Igatherv(piece, ownElements_, mpiType_, wires_->whole.bytes(), all.sizes.data(),
                        all.offsets.data(), mpiType_, 0, line_->mpi(), &request_),
           "MPI_Igatherv");
  count(pieces_.coordinate == 0 ? 0 : ownElements_);
}

void CollectiveStep::spread(std::byte* whole) {
  const int elements = static_cast<int>(pieces_.elements);
  checkMpi(MPI_Ibcast(whole, elements, mpiType_, 0, line_->mpi(), &request_), "MPI_Ibcast");
  count(pieces_.coordinate == 0 ? elements : 0);
}

// Waits for the request. If that takes long, the rank at the coordinate is named, or without one
// all others of the line.
void CollectiveStep::wait(int coordinate) {
  waitFor(*comm(), &request_, 1, [&] {
    std::vector<int> peers = ranksOfLine(domain().grid(), axes_, comm()->rank());
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
  // parts() holds the contributions of the own piece from all ranks, or along a tree one whole
  // array of another rank.
  mostContributions_ = std::max(pieces_.elements, static_cast<Index>(pieces_.ranks) * ownElements_);
  line_->takeBack(line_->lendLists()); // so that the first action need not make them
  // The wires are made now, so that the first action allocates nothing.
  wires(space);
}

CollectiveStep::Wires& CollectiveStep::wires(Space space) {
  return bySpace_.of(space, [&] {
    const KernelContextPtr context = contextOf(comm(), space);
    return std::unique_ptr<Wires>(
        new Wires{.whole = {pieces_.elements * elementBytes_, title() + " whole", context},
                  .parts = {mostContributions_ * elementBytes_, title() + " parts", context}});
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
