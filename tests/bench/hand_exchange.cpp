// SPDX-License-Identifier: BSD-2-Clause
// Ghosts of a mesh by hand, with MPI alone (hand_exchange.hpp): what a solver's own exchange does.
// Ghosts of one owner follow each other in the array, so they are received in it and sent from it;
// owned rows are packed, or described by an MPI datatype. Of several arrays the ghosts are packed
// too.
#include "bench/hand_exchange.hpp"

#include <algorithm>
#include <cstddef>

namespace tenon::bench {

namespace {

constexpr int kTag = 1;

} // namespace

HandExchange::HandExchange(MPI_Comm comm, int owned, const std::vector<int>& ranks,
                           const std::vector<int>& rows, int columns, int fields)
    : comm_(comm), columns_(columns), fields_(fields) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> counts(size), asked(size);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (counts[ranks[i]]++ == 0)
      ghosts_.push_back({ranks[i], owned + static_cast<int>(i), 0});
  for (Ghosts& from : ghosts_) {
    from.count = counts[from.rank];
    from.buffer.resize(std::size_t(from.count) * columns * fields);
  }
  // Each rank tells the owners of its ghosts which rows it needs.
  MPI_Alltoall(counts.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, comm);
  for (int rank = 0; rank < size; ++rank)
    if (asked[rank] > 0)
      owned_.push_back({rank, std::vector<int>(asked[rank]),
                        std::vector<double>(std::size_t(asked[rank]) * columns * fields)});
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

// Receives a message of all fields for each part, into its buffer.
template <class Part>
void HandExchange::receiveBuffers(std::vector<Part>& parts) {
  for (Part& part : parts)
    MPI_Irecv(part.buffer.data(), static_cast<int>(part.buffer.size()), MPI_DOUBLE, part.rank, kTag,
              comm_, &receives_.emplace_back());
}

// Sends the buffer of a part.
template <class Part>
void HandExchange::send(Part& part) {
  MPI_Isend(part.buffer.data(), static_cast<int>(part.buffer.size()), MPI_DOUBLE, part.rank, kTag,
            comm_, &sends_.emplace_back());
}

// Waits for any message; returns the number of its receive, which is the number of its part, since
// receiveBuffers() starts a receive for each part, in order.
int HandExchange::nextReceived() {
  int index = 0;
  MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &index, MPI_STATUS_IGNORE);
  return index;
}

void HandExchange::waitAll() {
  for (auto* requests : {&receives_, &sends_}) {
    MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
    requests->clear();
  }
}

double* HandExchange::pack(const Owned& to, const double* array, double* packed) const {
  if (columns_ == 1) // a copy of one number by copy_n() is a call of memmove()
    return std::ranges::transform(to.rows, packed, [array](int row) { return array[row]; }).out;
  for (const int row : to.rows)
    packed = std::copy_n(array + std::size_t(row) * columns_, columns_, packed);
  return packed;
}

const double* HandExchange::addRows(const Owned& to, double* array, const double* packed) const {
  for (const int row : to.rows) {
    double* sum = array + std::size_t(row) * columns_;
    for (int c = 0; c < columns_; ++c)
      sum[c] += *packed++;
  }
  return packed;
}

void HandExchange::fill(double* array) {
  receiveGhosts(array);
  for (Owned& to : owned_) {
    pack(to, array, to.buffer.data());
    send(to);
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
  receiveBuffers(owned_);
  for (const Ghosts& from : ghosts_)
    MPI_Isend(array + std::size_t(from.first) * columns_, from.count * columns_, MPI_DOUBLE,
              from.rank, kTag, comm_, &sends_.emplace_back());
  for (std::size_t left = owned_.size(); left > 0; --left) {
    const Owned& to = owned_[nextReceived()];
    addRows(to, array, to.buffer.data());
  }
  waitAll();
}

void HandExchange::fillTogether(const std::vector<double*>& arrays) {
  receiveBuffers(ghosts_);
  for (Owned& to : owned_) {
    double* packed = to.buffer.data();
    for (const double* array : arrays)
      packed = pack(to, array, packed);
    send(to);
  }
  for (std::size_t left = ghosts_.size(); left > 0; --left) {
    const Ghosts& from = ghosts_[nextReceived()];
    const double* packed = from.buffer.data();
    for (double* array : arrays) {
      std::copy_n(packed, from.count * columns_, array + std::size_t(from.first) * columns_);
      packed += from.count * columns_;
    }
  }
  waitAll();
}

void HandExchange::addTogether(const std::vector<double*>& arrays) {
  receiveBuffers(owned_);
  for (Ghosts& from : ghosts_) {
    double* packed = from.buffer.data();
    for (const double* array : arrays)
      packed =
          std::copy_n(array + std::size_t(from.first) * columns_, from.count * columns_, packed);
    send(from);
  }
  for (std::size_t left = owned_.size(); left > 0; --left) {
    const Owned& to = owned_[nextReceived()];
    const double* packed = to.buffer.data();
    for (double* array : arrays)
      packed = addRows(to, array, packed);
  }
  waitAll();
}

} // namespace tenon::bench
