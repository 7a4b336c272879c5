// SPDX-License-Identifier: BSD-2-Clause
#include "linop/datatype_carrier.hpp"

#include "comm/exchange.hpp"
#include "comm/patience.hpp"
#include "dtensor/arithmetic.hpp"
#include "sys/error.hpp"
#include "sys/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon {

namespace {

void* targetArray(DTensor& y) {
  return visitDataType(y.dataType(),
                       [&]<class T>(T) { return static_cast<void*>(y.mutableData<T>()); });
}

} // namespace

DatatypeCarrier::DatatypeCarrier(const CarrierSetup& setup)
    : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction), cellBytes_(setup.cellBytes),
      wireOf_(direction_.unpacks.size(), -1) {
  const auto any = [](int) { return true; };
  for (std::size_t i : direction_.others(direction_.packs, any))
    out_.push_back({.part = i, .bytes = bytesOf(direction_.packs[i])});
  for (std::size_t i : direction_.others(direction_.unpacks, any)) {
    wireOf_[i] = static_cast<int>(in_.size());
    in_.push_back({.part = i, .bytes = bytesOf(direction_.unpacks[i])});
  }
}

int DatatypeCarrier::bytesOf(const Part& part) const {
  const Index bytes = part.cells * cellBytes_;
  if (bytes > Exchange::kPieceBytes)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("the transport datatypes carries at most {} bytes from rank to rank, but "
                    "{} go to or come from rank {}; use auto or messages",
                    Exchange::kPieceBytes, bytes, part.peer));
  return static_cast<int>(bytes);
}

Index DatatypeCarrier::receiveBytes() const {
  Index bytes = 0;
  for (const Wire& wire : in_)
    bytes += wire.bytes;
  return bytes;
}

void DatatypeCarrier::useBuffers(std::byte*, std::byte* receive) {
  for (Wire& wire : in_)
    wire.cells = std::exchange(receive, receive + wire.bytes);
}

void DatatypeCarrier::begin(const Action& action) {
  const DTensor& x = *action.x;
  straight_ = !direction_.sums && action.isPlain();
  for (Wire& wire : in_) {
    const Part& part = direction_.unpacks[wire.part];
    void* target = wire.cells;
    int count = wire.bytes;
    MPI_Datatype type = MPI_BYTE;
    if (straight_) {
      target = targetArray(*action.y);
      count = 1;
      type = wire.type.of(part.to, action.y->strides(), x.rank(), cellBytes_);
    }
    checkMpi(MPI_Irecv(target, count, type, part.peer, tag_, comm_->mpi(), &wire.request),
             "MPI_Irecv");
  }
  for (Wire& wire : out_) {
    const Part& part = direction_.packs[wire.part];
    checkMpi(MPI_Isend(arrayOf(x), 1, wire.type.of(part.from, x.strides(), x.rank(), cellBytes_),
                       part.peer, tag_, comm_->mpi(), &wire.request),
             "MPI_Isend");
    logMessage(wire.bytes);
  }
}

void DatatypeCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                              const Meeting& meeting) {
  Wire& wire = in_[wireOf_[part]];
  if (chunks.begin == 0) {
    const auto missing = [&] { return ranksText({direction_.unpacks[part].peer}); };
    waitFor(*comm_, &wire.request, 1, missing);
    wire.next = wire.cells;
  }
  if (!straight_)
    direction_.unpacks[part].visit(chunks, [&](const Region&, const Region& to) {
      combineRegion(action, to, packedView(wire.next, to, action.y->rank()), meeting);
      wire.next += to.cells * cellBytes_;
    });
}

void DatatypeCarrier::end(const Action&) {
  for (Wire& wire : out_)
    waitFor(*comm_, &wire.request, 1,
            [&] { return ranksText({direction_.packs[wire.part].peer}); });
}

} // namespace tenon
