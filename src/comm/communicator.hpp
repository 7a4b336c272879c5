// SPDX-License-Identifier: BSD-2-Clause
// Communicator: the library's duplicate of a user's communicator (its parent). It also has the
// sub-communicators along axes of process grids, the memory that the ranks of a node share, and the
// messages that wait for a device.
//
//   Communicator::of(parent)   the first call duplicates the parent and stores the duplicate as an
//                              attribute of the parent; later calls return the same duplicate
//   MPI_Comm_free(parent)      frees the duplicate, or leaves it to the last object that uses it
//   Communicator::freeAll()    called by Finalize: frees the remaining duplicates
//
// So only the first object on a parent creates a communicator, and destroying an object does not
// communicate. If MPI provides MPI_THREAD_MULTIPLE, different threads can use duplicates of
// different parents; only one thread at a time can use one duplicate.
//
// A line is the set of ranks that differ only in their coordinates on some axes of a process grid,
// such as a row of the grid (partition.hpp). Collectives of a conversion run on sub-communicators
// of lines.
#pragma once

#include "comm/memory/device_arena.hpp"
#include "comm/memory/shared_arena.hpp"
#include "comm/mpi.hpp"
#include "geometry/layout/grid.hpp"
#include "sys/device_group.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// True if MPI can be called: after its initialisation and before its end.
bool mpiRuns() noexcept;

// Messages that can be sent only when something outside MPI has completed, such as a copy from the
// device. An object of this class is registered on a communicator by add(); every wait on this
// communicator calls advance().
class Pending {
public:
  virtual ~Pending() = default;
  // Sends the messages that are ready. When all are sent, removes itself from the communicator.
  virtual void advance() = 0;
};

// Arguments of MPI's vector collectives, with one number per rank: in MPI's terms sendcounts,
// sdispls, recvcounts and rdispls of MPI_Alltoallv.
struct RankLists {
  std::vector<int> sizes, offsets, arrivalSizes, arrivalOffsets;
};

// A communicator made from the library's duplicate. Freed with the last object that uses it.
class SubCommunicator {
public:
  SubCommunicator() = default;
  SubCommunicator(const SubCommunicator&) = delete;
  SubCommunicator& operator=(const SubCommunicator&) = delete;
  ~SubCommunicator() {
    if (comm_ != MPI_COMM_NULL && mpiRuns())
      MPI_Comm_free(&comm_);
  }

  MPI_Comm mpi() const noexcept { return comm_; }
  // Sets the communicator: MPI_COMM_NULL on ranks that are not members.
  void take(MPI_Comm comm) noexcept { comm_ = comm; }
  // Drops the communicator without freeing it.
  void leave() noexcept { comm_ = MPI_COMM_NULL; }

  // Lends lists for an MPI call; the caller returns them by takeBack() when the call has completed.
  // The lists are reused, so at most as many exist as calls have been in flight at once.
  std::unique_ptr<RankLists> lendLists() const {
    if (idle_.empty()) {
      idle_.reserve(++lists_);
      return std::make_unique<RankLists>();
    }
    auto lists = std::move(idle_.back());
    idle_.pop_back();
    return lists;
  }
  void takeBack(std::unique_ptr<RankLists> lists) const { idle_.push_back(std::move(lists)); }

  // The devices of the ranks as a group, set by lineDevices(). Empty on ranks that are not members.
  bool hasDevices() const noexcept { return devices_.has_value(); }
  DeviceGroup& devices() const { return **devices_; }
  // Called after all ranks have made their group.
  void takeDevices(std::unique_ptr<DeviceGroup> devices) const {
    if (devices)
      devices->confirm();
    devices_ = std::move(devices);
  }
  // Ends the group, if there is one, on all ranks, or gives it up if some cannot end it.
  // Collective.
  void endDevices() const noexcept;

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  // No value before takeDevices(); NULL on ranks that are not members.
  mutable std::optional<std::unique_ptr<DeviceGroup>> devices_;
  mutable std::vector<std::unique_ptr<RankLists>> idle_; // Lists that are not lent.
  mutable std::size_t lists_ = 0;                        // Number of all lists, lent or idle.
};

using SubCommPtr = std::shared_ptr<const SubCommunicator>;

// A cache of the most recent communicators by name, which lets objects with the same process grid
// and axes share one. If it is full, the oldest communicator without a device group is evicted.
// Eviction depends only on the order of creation, which is the same on all ranks, so either all
// ranks find a name or none does.
template <class Name>
class SubCommunicatorCache {
  using Entries = std::list<std::pair<Name, std::shared_ptr<SubCommunicator>>>;

public:
  static constexpr std::size_t kMax = 64; // MPI libraries limit the number of communicators.

  // An entry of the cache, allocated before MPI_Comm_split(): an allocation after the split could
  // fail on one rank only. add() moves it into the cache without an allocation.
  class Place {
  public:
    explicit Place(const Name& name) {
      entry_.emplace_back(name, std::make_shared<SubCommunicator>());
    }
    const Name& name() const noexcept { return entry_.front().first; }
    // Empty until the communicator is made.
    SubCommPtr communicator() const noexcept { return entry_.front().second; }

  private:
    friend class SubCommunicatorCache;
    Entries entry_;
  };

  // The communicator of that name, or NULL.
  SubCommPtr find(const Name& name) const {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return entry == entries_.end() ? nullptr : entry->second;
  }
  SubCommPtr add(Place place, MPI_Comm comm) noexcept {
    place.entry_.front().second->take(comm);
    const auto hasNone = [](const auto& entry) { return !entry.second->hasDevices(); };
    if (entries_.size() >= kMax)
      if (const auto oldest = std::ranges::find_if(entries_, hasNone); oldest != entries_.end())
        entries_.erase(oldest);
    entries_.splice(entries_.end(), place.entry_);
    return entries_.back().second;
  }
  void clear() noexcept { entries_.clear(); }
  // Clears the cache without freeing the communicators.
  void leaveAll() noexcept {
    for (const auto& [name, communicator] : entries_)
      communicator->leave();
    clear();
  }

private:
  Entries entries_; // The oldest first.
};

class BatchedAgreement;

class Communicator {
public:
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The duplicate of `parent`, with its arena. Collective over parent the first time. Throws
  // TENON_ERR_STATE in a thread that must not call MPI.
  static std::shared_ptr<Communicator> of(MPI_Comm parent);
  // The duplicate without an arena: the size of an arena depends on options, which are first
  // broadcast on the duplicate.
  static std::shared_ptr<Communicator> copyOf(MPI_Comm parent);
  // Makes the arena as configured by -tenon_shared_memory, the first time. Collective.
  void openArena();
  // Frees every duplicate. Collective; called by Finalize.
  static void freeAll();
  // Detaches every duplicate from its parent without freeing the duplicate, which would be
  // collective. Parents that are freed after this library has been unloaded then do not call it.
  static void leaveParents() noexcept;
  // Retains a communicator with a device group until Finalize ends the group. Ending a group is
  // collective, so it cannot be done when one rank destroys its last object.
  static void keepToEnd(const SubCommPtr& line);

  MPI_Comm mpi() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // A tag for the messages of one object. Objects are created in the same order on all ranks, so
  // the tags agree without communication.
  int nextTag() noexcept { return lastTag_ = lastTag_ % kLastObjectTag + 1; }
  int lastTag() const noexcept { return lastTag_; }
  void setLastTag(int tag) noexcept { lastTag_ = tag; }
  // Agreements use the last two tags; the MPI standard guarantees tags up to 32767.
  static constexpr int kAgreementTag = 32767, kCallTag = 32766, kLastObjectTag = 32765;

  // True once ranks were absent from a collective call: a message could then be received by the
  // wrong call, so the communicator is unusable.
  bool isOutOfStep() const noexcept { return outOfStep_; }
  void setOutOfStep() noexcept { outOfStep_ = true; }

  // The memory shared with other ranks on this node; NULL, with the reason, if there is none.
  const std::shared_ptr<SharedArena>& arena() const noexcept { return shared_.arena; }
  const std::string& whyNoArena() const noexcept { return shared_.reason; }
  // Why this rank's share of the arena is smaller than requested, or "".
  const std::string& whySmallArena() const noexcept { return shared_.whySmall; }
  bool isAloneOnNode() const noexcept { return shared_.isAlone; }
  // Number of ranks per node if all nodes have the same number of consecutive ranks, otherwise 0.
  // All ranks return the same number.
  int ranksPerNode() const noexcept { return ranksPerNode_; }

  // Memory that the devices of this node's ranks read from each other; NULL, with the reason, if
  // there is none. Collective the first time.
  const DeviceArena::Made& openDeviceArena();
  // The device memory, after openDeviceArena().
  const DeviceArena::Made& deviceArena() const noexcept { return *deviceShared_; }

  // Name of a communicator: its user (AxisUse), and the axes of the process grid.
  struct SplitName {
    int use = 0;
    std::vector<int> axes = {};
    GridPtr grid = {};
    bool operator==(const SplitName& other) const {
      return use == other.use && axes == other.axes &&
             (grid == other.grid || (grid && other.grid && *grid == *other.grid));
    }
  };
  using Splits = SubCommunicatorCache<SplitName>;
  // The communicator of the ranks with the same colour, ordered by key. Collective if there is none
  // of that name. Ranks with the colour MPI_UNDEFINED get MPI_COMM_NULL. Within a batched agreement
  // it is made when the batch is agreed on.
  SubCommPtr split(const SplitName& name, int color, int key);
  // Makes the communicator in its entry, after all ranks have agreed to. Collective.
  SubCommPtr make(Splits::Place place, int color, int key);

  // The batched agreement whose body this rank is executing (agreement/batched.hpp), or NULL.
  BatchedAgreement* batch() const noexcept { return batch_; }
  void setBatch(BatchedAgreement* batch) noexcept { batch_ = batch; }

  // Registers messages that advance() sends. They must be removed before they are destroyed.
  void add(Pending& pending) { pending_.push_back(&pending); }
  void remove(const Pending& pending) noexcept { std::erase(pending_, &pending); }
  // Advances the registered messages. Not allowed while this thread records device work: a query of
  // an event would end the recording, and work queued meanwhile would become part of it.
  void advance() const;

private:
  Communicator() = default;
  void take(MPI_Comm comm);
  static int parentIsFreed(MPI_Comm parent, int keyval, void* attribute, void*) noexcept;
  static int keyval();
  void leaveParent() noexcept; // The caller must hold a reference to this duplicate.
  void free() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm parent_ = MPI_COMM_NULL; // Has this duplicate as its attribute.
  int rank_ = 0;
  int size_ = 0;
  int lastTag_ = 0;
  bool outOfStep_ = false;
  Splits splits_;
  BatchedAgreement* batch_ = nullptr;
  bool arenaTried_ = false; // True after openArena().
  int ranksPerNode_ = 0;
  SharedArena::Made shared_;
  std::optional<DeviceArena::Made> deviceShared_;
  std::vector<Pending*> pending_;
};

using CommPtr = std::shared_ptr<Communicator>;

} // namespace tenon
