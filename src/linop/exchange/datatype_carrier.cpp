// SPDX-License-Identifier: BSD-2-Clause
#include "linop/exchange/datatype_carrier.hpp"

#include "comm/agreement/patience.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "dtensor/arithmetic.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon {

namespace {

// Replaces a type by one that is made of it.
template <class Make>
void wrap(MPI_Datatype& type, const char* name, Make make) {
  MPI_Datatype outer = MPI_DATATYPE_NULL;
  checkMpi(make(type, &outer), name);
  checkMpi(MPI_Type_free(&type), "MPI_Type_free");
  type = outer;
}

// From the region's first cell. What lies together is one run of bytes.
MPI_Datatype typeOf(const Region& region, const std::array<Index, kMaxRank>& strides, int rank,
                    Index cellBytes) {
  Index run = 1;
  int d = rank - 1;
  while (d >= 0 && (region.extent[d] == 1 || region.step[d] * strides[d] == run))
    run *= region.extent[d--];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  checkMpi(MPI_Type_contiguous(static_cast<int>(run * cellBytes), MPI_BYTE, &type),
           "MPI_Type_contiguous");
  for (; d >= 0; --d)
    if (region.extent[d] > 1)
      wrap(type, "MPI_Type_create_hvector", [&](MPI_Datatype inner, MPI_Datatype* outer) {
        return MPI_Type_create_hvector(static_cast<int>(region.extent[d]), 1,
                                       region.step[d] * strides[d] * cellBytes, inner, outer);
      });
  return type;
}

} // namespace

CellType::CellType(CellType&& other) noexcept
    : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), strides_(other.strides_) {}

CellType::~CellType() {
  free();
}

void CellType::free() noexcept {
  if (type_ != MPI_DATATYPE_NULL && mpiRuns())
    MPI_Type_free(&type_);
}

MPI_Datatype CellType::of(const std::vector<Region>& regions,
                          const std::array<Index, kMaxRank>& strides, int rank, Index cellBytes) {
  if (type_ != MPI_DATATYPE_NULL && strides == strides_)
    return type_;
  free();
  strides_ = strides;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const Region& region : regions) {
    types.push_back(typeOf(region, strides, rank, cellBytes));
    Index place = 0;
    for (int d = 0; d < rank; ++d)
      place += region.begin[d] * strides[d] * cellBytes;
    places.push_back(place);
  }
  const std::vector<int> ones(regions.size(), 1);
  checkMpi(MPI_Type_create_struct(static_cast<int>(regions.size()), ones.data(), places.data(),
                                  types.data(), &type_),
           "MPI_Type_create_struct");
  for (MPI_Datatype& type : types)
    checkMpi(MPI_Type_free(&type), "MPI_Type_free");
  checkMpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  return type_;
}

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
