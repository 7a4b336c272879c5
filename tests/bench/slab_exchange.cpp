// SPDX-License-Identifier: BSD-2-Clause
// Three ways to change the split of an array from rows to columns with MPI alone
// (slab_exchange.hpp), as peers of Tenon's repartition. A rank sends each peer the block of its own
// rows and the peer's columns, and receives the block of the peer's rows and its own columns:
//
//     own rows x all columns  ->  all rows x own columns
#include "bench/slab_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::bench {

namespace {

// A derived type for a block [row, column, all inner] of an array [rows, columns, inner].
MPI_Datatype subarray(int rows, int columns, int inner, Span row, Span column) {
  const int sizes[] = {rows, columns, inner};
  const int extents[] = {row.count, column.count, inner};
  const int starts[] = {row.begin, column.begin, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

} // namespace

Span partOf(int elements, int parts, int part) {
  const int least = elements / parts, larger = elements % parts;
  return {part * least + std::min(part, larger), least + (part < larger ? 1 : 0)};
}

SlabExchange::SlabExchange(MPI_Comm comm, int rows, int columns, int inner)
    : comm_(comm), columns_(columns), inner_(inner) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  ownRows_ = partOf(rows, ranks_, rank_);
  ownColumns_ = partOf(columns, ranks_, rank_);
  packed_.resize(ranks_);
  for (int peer = 0; peer < ranks_; ++peer) {
    const Span theirRows = partOf(rows, ranks_, peer), theirColumns = partOf(columns, ranks_, peer);
    sends_.push_back(subarray(ownRows_.count, columns, inner, {0, ownRows_.count}, theirColumns));
    receives_.push_back(
        subarray(rows, ownColumns_.count, inner, theirRows, {0, ownColumns_.count}));
    packed_[peer].resize(std::size_t(ownRows_.count) * theirColumns.count * inner);
  }
  requests_.reserve(2 * std::size_t(ranks_));
}

SlabExchange::~SlabExchange() {
  for (auto* types : {&sends_, &receives_})
    for (MPI_Datatype& type : *types)
      MPI_Type_free(&type);
}

void SlabExchange::allToAll(const double* x, double* y) {
  const std::vector<int> ones(ranks_, 1), zeros(ranks_, 0);
  MPI_Alltoallw(x, ones.data(), zeros.data(), sends_.data(), y, ones.data(), zeros.data(),
                receives_.data(), comm_);
}

// Starts the receives from all other ranks, each into a block of y.
void SlabExchange::receiveAll(double* y) {
  for (int peer = 0; peer < ranks_; ++peer)
    if (peer != rank_)
      MPI_Irecv(y, 1, receives_[peer], peer, 0, comm_, &requests_.emplace_back());
}

// Copies the block that stays on this rank.
void SlabExchange::copyOwn(const double* x, double* y) const {
  const std::size_t row = std::size_t(ownColumns_.count) * inner_;
  for (int i = 0; i < ownRows_.count; ++i)
    std::memcpy(y + (ownRows_.begin + i) * row,
                x + (std::size_t(i) * columns_ + ownColumns_.begin) * inner_, row * sizeof(double));
}

void SlabExchange::waitAll() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

void SlabExchange::sendSubarrays(const double* x, double* y) {
  receiveAll(y);
  for (int peer = 0; peer < ranks_; ++peer)
    if (peer != rank_)
      MPI_Isend(x, 1, sends_[peer], peer, 0, comm_, &requests_.emplace_back());
  copyOwn(x, y);
  waitAll();
}

void SlabExchange::packAndSend(const double* x, double* y) {
  receiveAll(y);
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_)
      continue;
    const Span columns = partOf(columns_, ranks_, peer);
    const std::size_t row = std::size_t(columns.count) * inner_;
    for (int i = 0; i < ownRows_.count; ++i)
      std::memcpy(packed_[peer].data() + i * row,
                  x + (std::size_t(i) * columns_ + columns.begin) * inner_, row * sizeof(double));
    MPI_Isend(packed_[peer].data(), static_cast<int>(packed_[peer].size()), MPI_DOUBLE, peer, 0,
              comm_, &requests_.emplace_back());
  }
  copyOwn(x, y);
  waitAll();
}

} // namespace tenon::bench
