// SPDX-License-Identifier: BSD-2-Clause
// Ghosts of a mesh by hand, with MPI alone (hand_exchange.hpp): what a solver's own exchange does.
// Ghosts of one owner follow each other in the array, so they are received in it and sent from it;
// owned rows are packed, or described by an MPI datatype.
#include "bench/hand_exchange.hpp"

#include <algorithm>
#include <cstddef>

namespace tenon::bench {

namespace {

constexpr int kTag = 1;

} // namespace

HandExchange::HandExchange(MPI_Comm comm, int owned, const std::vector<int>& ranks,
                           const std::vector<int>& rows, int columns)
    : comm_(comm), columns_(columns) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> counts(size), asked(size);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (counts[ranks[i]]++ == 0)
      ghosts_.push_back({ranks[i], owned + static_cast<int>(i), 0});
  for (Ghosts& from : ghosts_)
    from.count = counts[from.rank];
  // Each rank tells the owners of its ghosts which rows it needs.
  MPI_Alltoall(counts.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, comm);
  for (int rank = 0; rank < size; ++rank)
    if (asked[rank] > 0)
      owned_.push_back({rank, std::vector<int>(asked[rank]),
                        std::vector<double>(std::size_t(asked[rank]) * columns)});
  for (Owned& to : owned_)
    MPI_Irecv(to.rows.data(), asked[to.rank], MPI_INT, to.rank, kTag, comm,
              &receives_.emplace_back());
  for (const Ghosts& from : ghosts_)
    MPI_Isend(rows.data() + (from.first - owned), from.count, MPI_INT, from.rank, kTag, comm,
              &sends_.emplace_back());
  waitAll();
  for (Owned& to : owned_) {
    std::vector<int> places;
    for (const int row : to.rows)
      places.push_back(row * columns);
    MPI_Type_create_indexed_block(static_cast<int>(places.size()), columns, places.data(),
                                  MPI_DOUBLE, &to.type);
    MPI_Type_commit(&to.type);
  }
}

HandExchange::~HandExchange() {
  for (Owned& to : owned_)
    MPI_Type_free(&to.type);
}

void HandExchange::receiveGhosts(double* array) {
  for (const Ghosts& from : ghosts_)
    MPI_Irecv(array + std::size_t(from.first) * columns_, from.count * columns_, MPI_DOUBLE,
              from.rank, kTag, comm_, &receives_.emplace_back());
}

void HandExchange::waitAll() {
  for (auto* requests : {&receives_, &sends_}) {
    MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
    requests->clear();
  }
}

void HandExchange::fill(double* array) {
  receiveGhosts(array);
  for (Owned& to : owned_) {
    double* packed = to.buffer.data();
    for (const int row : to.rows)
      packed = std::copy_n(array + std::size_t(row) * columns_, columns_, packed);
    MPI_Isend(to.buffer.data(), static_cast<int>(to.buffer.size()), MPI_DOUBLE, to.rank, kTag,
              comm_, &sends_.emplace_back());
  }
  waitAll();
}

void HandExchange::fillByTypes(double* array) {
  receiveGhosts(array);
  for (const Owned& to : owned_)
    MPI_Isend(array, 1, to.type, to.rank, kTag, comm_, &sends_.emplace_back());
  waitAll();
}

void HandExchange::add(double* array) {
  for (Owned& to : owned_)
    MPI_Irecv(to.buffer.data(), static_cast<int>(to.buffer.size()), MPI_DOUBLE, to.rank, kTag,
              comm_, &receives_.emplace_back());
  for (const Ghosts& from : ghosts_)
    MPI_Isend(array + std::size_t(from.first) * columns_, from.count * columns_, MPI_DOUBLE,
              from.rank, kTag, comm_, &sends_.emplace_back());
  for (std::size_t left = owned_.size(); left > 0; --left) {
    int index = 0;
    MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &index, MPI_STATUS_IGNORE);
    const Owned& to = owned_[index];
    const double* packed = to.buffer.data();
    for (const int row : to.rows) {
      double* sum = array + std::size_t(row) * columns_;
      for (int c = 0; c < columns_; ++c)
        sum[c] += *packed++;
    }
  }
  waitAll();
}

} // namespace tenon::bench
