// SPDX-License-Identifier: BSD-2-Clause
// The two halves of a collective along a grid axis, and what is prepared for them. MPI moves
// elements here but never adds them: each is summed on one rank, in the order of coordinates or
// along a fixed tree, and the sum is copied, so that all copies have the same bits.
#include "linop/exchange/collective_step.hpp"

#include "comm/agreement/patience.hpp"
#include "comm/partition.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <array>

namespace tenon {

namespace {

// One tag is enough: between two ranks of a line messages arrive in the order in which they are
// sent, and all ranks run the actions in one order.
constexpr int kTag = 0;

template <class T>
MPI_Datatype mpiType() {
  if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else
    return MPI_INT64_T;
}

Strides packedStrides(const Index* extent, int rank) {
  Strides strides{};
  Index stride = 1;
  for (int d = rank; d-- > 0;) {
    strides[d] = stride;
    stride *= extent[d];
  }
  return strides;
}
Strides packedStrides(const DTensor& x) {
  return packedStrides(x.extent().data(), x.rank());
}

// The log counts what MPI is given, since what its algorithm then sends is not known.
template <class T>
void count(Index cells) {
  if (cells > 0)
    logMessage(cells * static_cast<Index>(sizeof(T)));
}

// The extents of a piece in the whole array. Where no dimension is cut (dim is -1) pieces are runs
// of elements, and the array is treated as one.
std::array<Index, kMaxRank> extentOfPiece(const Shape& whole, const CollectivePieces& pieces,
                                          int coordinate) {
  std::array<Index, kMaxRank> extent{};
  std::copy(whole.begin(), whole.end(), extent.begin());
  if (pieces.dim >= 0)
    extent[pieces.dim] = pieces.cuts[coordinate + 1] - pieces.cuts[coordinate];
  return extent;
}

// Whether the pieces follow each other in a row-major array: they do if each dimension before the
// cut one has a single index.
bool piecesFollow(const Shape& extent, const CollectivePieces& pieces) {
  for (int d = 0; d < pieces.dim; ++d)
    if (extent[d] != 1)
      return false;
  return true;
}

} // namespace

// A rank outside the grid, or in a line whose whole is empty, has nothing to do, and the ranks of
// its line know that from the layouts too.
void CollectiveStep::doBegin(const Action& action) {
  if (pieces_.takesPart)
    visitDataType(domainType(), [&]<class T>(T) { begin<T>(action); });
}

void CollectiveStep::doEnd(const Action& action) {
  if (pieces_.takesPart)
    visitDataType(domainType(), [&]<class T>(T) { end<T>(action); });
}

template <class T>
void CollectiveStep::begin(const Action& action) {
  const DTensor& x = *action.x;
  const bool root = pieces_.coordinate == 0;
  wires_ = &wires(x.space());
  wires_->whole.open();
  wires_->parts.open();
  switch (kindOf(action.sense)) {
  case CollectiveKind::AllGather:
    target_ = landing<T>(action);
    return startAllGather<T>(packedPiece<T>(x), static_cast<T*>(target_));
  case CollectiveKind::Broadcast:
    // MPI takes one buffer for both ends of a broadcast, and only reads that of the root.
    target_ = root ? const_cast<T*>(packedWhole<T>(x, false)) : landing<T>(action);
    return spread<T>(static_cast<T*>(target_));
  case CollectiveKind::ReduceScatter:
    return startScatterOfAddends<T>(packedWhole<T>(x, false));
  case CollectiveKind::Reduce:
  case CollectiveKind::AllReduce:
    break;
  }
  // Along a tree a rank first waits for others, so that this half only packs; it packs x even where
  // MPI could read it in place, since the sums are made in the copy.
  if (tree_)
    packedWhole<T>(x, true);
  else
    startScatterOfAddends<T>(packedWhole<T>(x, false));
}

template <class T>
void CollectiveStep::end(const Action& action) {
  const CollectiveKind kind = kindOf(action.sense);
  action.y->changed(); // where all arrives in the array, nothing else tells
  wait();
  if (kind == CollectiveKind::AllGather || kind == CollectiveKind::Broadcast)
    return unpackWhole<T>(action, static_cast<const T*>(target_));
  if (kind == CollectiveKind::ReduceScatter)
    return unpackPiece<T>(action, sumOfAddends<T>());
  const bool all = kind == CollectiveKind::AllReduce;
  if (tree_) {
    sumAlongTree<T>();
    if (all)
      spread<T>(whole<T>());
  } else if (all) {
    startAllGather<T>(sumOfAddends<T>(), whole<T>());
  } else {
    gatherToRoot<T>(sumOfAddends<T>());
  }
  wait();
  // After a Reduce the others hold nothing of the result.
  if (all || pieces_.coordinate == 0)
    unpackWhole<T>(action, whole<T>());
}

// Returns where MPI and the host can read what kernels left in `cells`, which lie in the buffer or
// in an array. The host waits for the copy, since MPI reads at once.
template <class T>
const T* CollectiveStep::sent(Wire& wire, const T* cells, Index count) {
  if (!wire.isStaged())
    return cells;
  wire.packed();
  wire.send(0, cells, count * static_cast<Index>(sizeof(T)), ready_);
  ready_.synchronise();
  return reinterpret_cast<const T*>(wire.bytes());
}

// Returns where kernels can read what MPI left in the bytes of the buffer.
template <class T>
const T* CollectiveStep::arrived(Wire& wire, const T* bytes, Index count) {
  if (!wire.isStaged())
    return bytes;
  wire.receive(0, count * static_cast<Index>(sizeof(T)));
  wire.received();
  return reinterpret_cast<const T*>(wire.cells());
}

// Returns the elements of the whole piece by piece, each piece row-major: in the array itself, if
// they lie there so and stay as they are. Through a staged wire they are copied to the host in any
// case, and that copy may change.
template <class T>
const T* CollectiveStep::packedWhole(const DTensor& x, bool mayChange) {
  Wire& wire = wires_->whole;
  if ((!mayChange || wire.isStaged()) && x.isContiguous() && piecesFollow(x.extent(), pieces_))
    return sent(wire, x.data<T>(), pieces_.cells);
  auto* buffer = reinterpret_cast<T*>(wire.cells());
  for (int c = 0; c < (pieces_.dim < 0 ? 1 : ranks_); ++c) {
    const auto extent = extentOfPiece(x.extent(), pieces_, c);
    const Index before = pieces_.dim < 0 ? 0 : pieces_.cuts[c] * x.strides()[pieces_.dim];
    blockCombine(x.context(), Combine::Copy, x.rank(), extent.data(), x.data<T>() + before,
                 x.strides().data(), buffer + offsets_[c],
                 packedStrides(extent.data(), x.rank()).data());
  }
  return sent(wire, static_cast<const T*>(buffer), pieces_.cells);
}

template <class T>
const T* CollectiveStep::packedPiece(const DTensor& x) {
  Wire& wire = wires_->parts;
  if (x.isContiguous())
    return sent(wire, x.data<T>(), x.localElements());
  auto* buffer = reinterpret_cast<T*>(wire.cells());
  blockCombine(x.context(), Combine::Copy, x.rank(), x.extent().data(), x.data<T>(),
               x.strides().data(), buffer, packedStrides(x).data());
  return sent(wire, static_cast<const T*>(buffer), x.localElements());
}

// Returns where the whole arrives: in the output, if it may lie there as it comes. Factors and
// other strides need a pass from the buffer, and what is staged arrives on the host.
template <class T>
T* CollectiveStep::landing(const Action& action) {
  DTensor& y = *action.y;
  const bool direct = action.isPlain() && !wires_->whole.isStaged() && y.isContiguous() &&
                      piecesFollow(y.extent(), pieces_);
  return direct ? y.mutableData<T>() : whole<T>();
}

template <class T>
void CollectiveStep::unpackWhole(const Action& action, const T* from) {
  DTensor& y = *action.y;
  if (y.localElements() == 0 || from == y.mutableData<T>())
    return;
  from = arrived(wires_->whole, from, pieces_.cells);
  for (int c = 0; c < (pieces_.dim < 0 ? 1 : ranks_); ++c) {
    const auto extent = extentOfPiece(y.extent(), pieces_, c);
    const Index before = pieces_.dim < 0 ? 0 : pieces_.cuts[c] * y.strides()[pieces_.dim];
    blockAxpby(y.context(), y.rank(), extent.data(), static_cast<T>(action.alpha),
               from + offsets_[c], packedStrides(extent.data(), y.rank()).data(),
               static_cast<T>(action.beta), y.mutableData<T>() + before, y.strides().data());
  }
  wires_->whole.unpacked();
}

template <class T>
void CollectiveStep::unpackPiece(const Action& action, const T* from) {
  DTensor& y = *action.y;
  if (y.localElements() == 0)
    return;
  from = arrived(wires_->parts, from, y.localElements());
  blockAxpby(y.context(), y.rank(), y.extent().data(), static_cast<T>(action.alpha), from,
             packedStrides(y).data(), static_cast<T>(action.beta), y.mutableData<T>(),
             y.strides().data());
  wires_->parts.unpacked();
}

template <class T>
void CollectiveStep::startAllGather(const void* piece, T* whole) {
  const int own = counts_[pieces_.coordinate];
  checkMpi(MPI_Iallgatherv(piece, own, mpiType<T>(), whole, counts_.data(), offsets_.data(),
                           mpiType<T>(), line_->mpi(), &request_),
           "MPI_Iallgatherv");
  count<T>(own);
}

// Starts to bring the addends of the rank's own piece to parts(), by coordinate. The rank's own
// addend is copied there, past MPI, so that the sum finds all in one order.
template <class T>
void CollectiveStep::startScatterOfAddends(const T* whole) {
  const int me = pieces_.coordinate;
  checkMpi(MPI_Ialltoallv(whole, toOthers_.data(), offsets_.data(), mpiType<T>(), parts<T>(),
                          arrivalCounts_.data(), arrivalOffsets_.data(), mpiType<T>(), line_->mpi(),
                          &request_),
           "MPI_Ialltoallv");
  count<T>(pieces_.cells - counts_[me]);
  arrayCombine(*context_, Combine::Copy, counts_[me], whole + offsets_[me],
               parts<T>() + arrivalOffsets_[me]);
}

// Adds in the order of coordinates, whichever addend came first: this fixes the bits of the sum.
template <class T>
const T* CollectiveStep::sumOfAddends() {
  T* addends = parts<T>();
  for (int c = 1; c < ranks_; ++c)
    arrayCombine(*context_, Combine::Add, counts_[pieces_.coordinate], addends + arrivalOffsets_[c],
                 addends);
  return addends;
}

// Sums in rounds: among the ranks that are left, each with an odd number gives its sum to the one
// before it and is done. Who adds what depends on coordinates alone.
template <class T>
void CollectiveStep::sumAlongTree() {
  const int me = pieces_.coordinate, cells = static_cast<int>(pieces_.cells);
  for (int step = 1; step < ranks_; step *= 2) {
    if (me % (2 * step) != 0) {
      checkMpi(MPI_Isend(whole<T>(), cells, mpiType<T>(), me - step, kTag, line_->mpi(), &request_),
               "MPI_Isend");
      wait(me - step);
      return count<T>(cells);
    }
    if (me + step >= ranks_)
      continue;
    checkMpi(MPI_Irecv(parts<T>(), cells, mpiType<T>(), me + step, kTag, line_->mpi(), &request_),
             "MPI_Irecv");
    wait(me + step);
    arrayCombine(*context_, Combine::Add, cells, parts<T>(), whole<T>());
  }
}

template <class T>
void CollectiveStep::gatherToRoot(const T* piece) {
  const int own = counts_[pieces_.coordinate];
  checkMpi(MPI_Igatherv(piece, own, mpiType<T>(), whole<T>(), counts_.data(), offsets_.data(),
                        mpiType<T>(), 0, line_->mpi(), &request_),
           "MPI_Igatherv");
  count<T>(pieces_.coordinate == 0 ? 0 : own);
}

template <class T>
void CollectiveStep::spread(T* whole) {
  checkMpi(
      MPI_Ibcast(whole, static_cast<int>(pieces_.cells), mpiType<T>(), 0, line_->mpi(), &request_),
      "MPI_Ibcast");
  count<T>(pieces_.coordinate == 0 ? pieces_.cells : 0);
}

// Waits for the request. If that takes long, the rank at the coordinate is named, or without one
// all others of the line.
void CollectiveStep::wait(int coordinate) {
  waitFor(*comm(), &request_, 1, [&] {
    if (coordinate >= 0)
      return ranksText({peers_[coordinate]});
    std::vector<int> others = peers_;
    others.erase(others.begin() + pieces_.coordinate);
    return someOfText(others);
  });
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
      line_(lineComm(*comm, step.from.grid(), step.axes, AxisUse::Library)),
      kind_(collectiveOf(step)), tree_(step.tree), pieces_(collectivePieces(step, comm->rank())),
      ranks_(step.from.grid().extentOf(step.axes)) {
  if (!pieces_.takesPart)
    return;
  peers_ = ranksOfLine(step.from.grid(), step.axes, comm->rank());
  const int me = pieces_.coordinate;
  const int own = static_cast<int>(pieces_.piece(me));
  int offset = 0;
  for (int c = 0; c < ranks_; ++c) {
    counts_.push_back(static_cast<int>(pieces_.piece(c)));
    toOthers_.push_back(c == me ? 0 : counts_.back());
    offsets_.push_back(offset);
    offset += counts_.back();
    arrivalCounts_.push_back(c == me ? 0 : own);
    arrivalOffsets_.push_back(c * own);
  }
  // parts() holds the addends of the own piece from all ranks, or along a tree one whole array of
  // another rank.
  mostAddends_ = std::max(pieces_.cells, static_cast<Index>(ranks_) * own);
  // The wires are made now, so that the first action allocates nothing.
  wires(space);
}

CollectiveStep::Wires& CollectiveStep::wires(Space space) {
  return bySpace_.of(space, [&] {
    const Index size = dataTypeSize(domainType());
    const KernelContextPtr context = contextOf(comm(), space);
    return std::unique_ptr<Wires>(
        new Wires{.whole = {pieces_.cells * size, title() + " whole", context},
                  .parts = {mostAddends_ * size, title() + " parts", context}});
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
