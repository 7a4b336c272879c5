// SPDX-License-Identifier: BSD-2-Clause
// The library's own copy of a caller's communicator. It is duplicated once per parent, cached on
// the parent as an attribute and freed at Finalize, so that creating objects costs no communicator
// and destroying them never communicates.
#pragma once

#include "comm/mpi.hpp"

#include <map>
#include <memory>
#include <vector>

namespace tenon {

class Communicator {
public:
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The copy of `parent`. Collective over parent the first time.
  static std::shared_ptr<Communicator> of(MPI_Comm parent);
  // Frees every copy. Collective; called by Finalize.
  static void freeAll();

  MPI_Comm mpi() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // A tag for the messages of one object. Objects are made in the same order on all ranks, so the
  // tags agree without communication.
  int nextTag() noexcept { return nextTag_ = nextTag_ % kLastObjectTag + 1; }
  static constexpr int kAgreementTag = 32767; // the standard's least upper bound of tags
  static constexpr int kLastObjectTag = 32766;

  // A communicator of the ranks that share a colour, ordered by key; collective the first time that
  // a name is asked for. Ranks with colour MPI_UNDEFINED get MPI_COMM_NULL.
  MPI_Comm split(const std::vector<int>& name, int color, int key);

private:
  explicit Communicator(MPI_Comm comm);
  void free();

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  int nextTag_ = 0;
  std::map<std::vector<int>, MPI_Comm> splits_;
};

using CommPtr = std::shared_ptr<Communicator>;

} // namespace tenon
