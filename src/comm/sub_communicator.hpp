// SPDX-License-Identifier: BSD-2-Clause
// Communicators that are made of the library's copy: freed with the last object that uses them.
#pragma once

#include "comm/mpi.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace tenon {

// Whether MPI may be called: between its beginning and its end.
bool mpiRuns() noexcept;

class SubCommunicator {
public:
  // Takes it over; MPI_COMM_NULL on ranks that do not belong to it.
  explicit SubCommunicator(MPI_Comm comm) : comm_(comm) {}
  SubCommunicator(const SubCommunicator&) = delete;
  SubCommunicator& operator=(const SubCommunicator&) = delete;
  ~SubCommunicator() {
    if (comm_ != MPI_COMM_NULL && mpiRuns())
      MPI_Comm_free(&comm_);
  }

  MPI_Comm mpi() const noexcept { return comm_; }

private:
  MPI_Comm comm_;
};

using SubCommPtr = std::shared_ptr<const SubCommunicator>;

// Those made last, by name, so that objects of a kind share one. Which are kept follows from the order
// in which they were made alone, and that is the same on all ranks: so all find a name or none does.
template <class Name>
class SubCommunicatorCache {
public:
  static constexpr std::size_t kMost = 64;

  // NULL if there is none of that name.
  SubCommPtr find(const Name& name) const {
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return known == kept_.end() ? nullptr : known->second;
  }
  SubCommPtr add(const Name& name, MPI_Comm comm) {
    if (kept_.size() == kMost)
      kept_.pop_front();
    return kept_.emplace_back(name, std::make_shared<const SubCommunicator>(comm)).second;
  }
  void clear() noexcept { kept_.clear(); }

private:
  std::deque<std::pair<Name, SubCommPtr>> kept_;
};

} // namespace tenon
