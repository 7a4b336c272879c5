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
      messageOf_(direction_.unpacks.size(), -1) {
  const auto any = [](int) { return true; };
  for (std::size_t i : direction_.others(direction_.packs, any))
    out_.push_back({.part = i, .bytes = bytesOf(direction_.packs[i])});
  for (std::size_t i : direction_.others(direction_.unpacks, any)) {
    messageOf_[i] = static_cast<int>(in_.size());
    in_.push_back({.part = i, .bytes = bytesOf(direction_.unpacks[i])});
  }
}

int DatatypeCarrier::bytesOf(const Part& part) const {
  const Index bytes = part.cells * cellBytes_;
  if (bytes > Exchange::kMostPieceBytes)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("the transport datatypes carries at most {} bytes from rank to rank, but "
                    "{} go to or come from rank {}; use auto or messages",
                    Exchange::kMostPieceBytes, bytes, part.peer));
  return static_cast<int>(bytes);
}

Index DatatypeCarrier::receiveBytes() const {
  Index bytes = 0;
  for (const PartMessage& message : in_)
    bytes += message.bytes;
  return bytes;
}

void DatatypeCarrier::useWires(Wire&, Wire& receive) {
  std::byte* cells = receive.cells();
  for (PartMessage& message : in_)
    message.cells = std::exchange(cells, cells + message.bytes);
}

void DatatypeCarrier::begin(const Action& action) {
  const DTensor& x = *action.x;
  straight_ = !direction_.sums && action.isPlain();
  for (PartMessage& message : in_) {
    const Part& part = direction_.unpacks[message.part];
    void* target = message.cells;
    int count = message.bytes;
    MPI_Datatype type = MPI_BYTE;
    if (straight_) {
      target = targetArray(*action.y);
      count = 1;
      type = message.type.of(part.to, action.y->strides(), x.rank(), cellBytes_);
    }
    checkMpi(MPI_Irecv(target, count, type, part.peer, tag_, comm_->mpi(), &message.request),
             "MPI_Irecv");
  }
  for (PartMessage& message : out_) {
    const Part& part = direction_.packs[message.part];
    checkMpi(MPI_Isend(arrayOf(x), 1, message.type.of(part.from, x.strides(), x.rank(), cellBytes_),
                       part.peer, tag_, comm_->mpi(), &message.request),
             "MPI_Isend");
    logMessage(message.bytes);
  }
}

void DatatypeCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                              const Meeting& meeting) {
  PartMessage& message = in_[messageOf_[part]];
  if (chunks.begin == 0) {
    const auto missing = [&] { return ranksText({direction_.unpacks[part].peer}); };
    waitFor(*comm_, &message.request, 1, missing);
    message.next = message.cells;
  }
  if (!straight_)
    message.next = combineChunks(action, direction_.unpacks[part], chunks, message.next, meeting);
}

void DatatypeCarrier::end(const Action&) {
  for (PartMessage& message : out_)
    waitFor(*comm_, &message.request, 1,
            [&] { return ranksText({direction_.packs[message.part].peer}); });
}

} // namespace tenon
