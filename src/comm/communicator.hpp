// SPDX-License-Identifier: BSD-2-Clause
// The library's own copy of a caller's communicator. It is duplicated once per parent, cached on
// the parent as an attribute and freed at Finalize, so that creating objects costs no communicator
// and destroying them never communicates.
#pragma once

#include "comm/shared_arena.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class Communicator {
public:
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The copy of `parent`, with its arena. Collective over parent the first time.
  static std::shared_ptr<Communicator> of(MPI_Comm parent);
  // The copy alone: options, which an arena needs, are read with its help.
  static std::shared_ptr<Communicator> copyOf(MPI_Comm parent);
  // Makes the arena as -tenon_shared_memory says, the first time. Collective.
  void openArena();
  // Frees every copy. Collective; called by Finalize.
  static void freeAll();

  MPI_Comm mpi() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // A tag for the messages of one object. Objects are made in the same order on all ranks, so the
  // tags agree without communication.
  int nextTag() noexcept { return lastTag_ = lastTag_ % kLastObjectTag + 1; }
  int lastTag() const noexcept { return lastTag_; }
  void setLastTag(int tag) noexcept { lastTag_ = tag; }
  static constexpr int kAgreementTag = 32767; // the standard's least upper bound of tags
  static constexpr int kLastObjectTag = 32766;

  // Set once ranks were absent from a collective call: messages may then meet the wrong calls.
  bool isOutOfStep() const noexcept { return outOfStep_; }
  void setOutOfStep() noexcept { outOfStep_ = true; }

  // The memory shared with other ranks on this node; NULL, with the reason, if there is none.
  const std::shared_ptr<SharedArena>& arena() const noexcept { return shared_.arena; }
  const std::string& whyNoArena() const noexcept { return shared_.reason; }
  bool isAloneOnNode() const noexcept { return shared_.isAlone; }

  // A communicator of the ranks that share a colour, ordered by key; collective the first time that
  // a name is asked for. Ranks with colour MPI_UNDEFINED get MPI_COMM_NULL.
  MPI_Comm split(const std::vector<int>& name, int color, int key);
  // A communicator of all ranks that knows from whom each receives and to whom it sends; collective
  // the first time that a name is asked for.
  MPI_Comm graph(const std::string& name, const std::vector<int>& sources,
                 const std::vector<int>& targets);

private:
  explicit Communicator(MPI_Comm comm);
  void free();

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
  int lastTag_ = 0;
  bool outOfStep_ = false;
  std::intptr_t number_; // what the parent's attribute holds; never used twice
  std::map<std::vector<int>, MPI_Comm> splits_;
  std::map<std::string, MPI_Comm> graphs_;
  bool arenaTried_ = false;
  SharedArena::Made shared_;
};

using CommPtr = std::shared_ptr<Communicator>;

} // namespace tenon
