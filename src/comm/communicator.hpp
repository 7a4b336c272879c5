// SPDX-License-Identifier: BSD-2-Clause
// The library's own copy of a caller's communicator, and what hangs on it: communicators that are
// made of it, messages that wait for a device, and the memory that its ranks share. The copy is
// made once per parent and cached on the parent as an attribute, so that creating objects costs no
// communicator and destroying them never communicates. It is freed when the parent is, or else with
// the last object that still uses it then, and at Finalize.
//
// Copies of distinct parents can be made, used and freed in distinct threads, where MPI provides
// MPI_THREAD_MULTIPLE; the calls on one copy belong to one thread at a time.
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

// Whether MPI can be called: between its beginning and its end.
bool mpiRuns() noexcept;

// Messages that leave as soon as something other than MPI is done, such as a copy from the device.
// Whoever waits on the communicator in the meantime looks after them.
class Pending {
public:
  virtual ~Pending() = default;
  // Sends what is ready; once all is sent it takes itself from the communicator's list.
  virtual void advance() = 0;
};

// Lists of a number for each rank, as MPI's collectives take them.
struct RankLists {
  std::vector<int> sizes, offsets, arrivalSizes, arrivalOffsets;
};

// A communicator that is made of the library's copy. It is freed with the last object that uses it.
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
  // Takes over the communicator, which is MPI_COMM_NULL on ranks that do not belong to it.
  void take(MPI_Comm comm) noexcept { comm_ = comm; }
  // Leaves the communicator to MPI's end.
  void leave() noexcept { comm_ = MPI_COMM_NULL; }

  // Lists for a call of MPI, to be given back when it is complete: so all who use the communicator
  // have as many as there are calls in flight.
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

  // The devices of its ranks as a group; made by lineDevices(), and empty on ranks that do not
  // belong to it.
  bool hasDevices() const noexcept { return devices_.has_value(); }
  DeviceGroup& devices() const { return **devices_; }
  // All ranks have made theirs.
  void takeDevices(std::unique_ptr<DeviceGroup> devices) const {
    if (devices)
      devices->confirm();
    devices_ = std::move(devices);
  }
  // Ends the group, if there is one, with the others, or gives it up if some cannot. Collective.
  void endDevices() const noexcept;

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  mutable std::optional<std::unique_ptr<DeviceGroup>> devices_;
  mutable std::vector<std::unique_ptr<RankLists>> idle_;
  mutable std::size_t lists_ = 0;
};

using SubCommPtr = std::shared_ptr<const SubCommunicator>;

// The communicators made last, by name, so that objects of one kind share one, and all that have a
// group of devices. Which are kept follows from the order in which they were made alone, and that
// is the same on all ranks, so that all find a name or none does.
template <class Name>
class SubCommunicatorCache {
  using Entries = std::list<std::pair<Name, std::shared_ptr<SubCommunicator>>>;

public:
  static constexpr std::size_t kMax = 64;

  // What will hold a communicator. It is made before the communicator is, since no rank may fail
  // alone once the others have it.
  class Place {
  public:
    explicit Place(const Name& name) {
      entry_.emplace_back(name, std::make_shared<SubCommunicator>());
    }
    const Name& name() const noexcept { return entry_.front().first; }
    // Empty until it is made.
    SubCommPtr communicator() const noexcept { return entry_.front().second; }

  private:
    friend class SubCommunicatorCache;
    Entries entry_;
  };

  // The communicator of that name; NULL if none is kept.
  SubCommPtr find(const Name& name) const {
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return known == kept_.end() ? nullptr : known->second;
  }
  SubCommPtr add(Place place, MPI_Comm comm) noexcept {
    place.entry_.front().second->take(comm);
    const auto hasNone = [](const auto& entry) { return !entry.second->hasDevices(); };
    if (kept_.size() >= kMax)
      if (const auto oldest = std::ranges::find_if(kept_, hasNone); oldest != kept_.end())
        kept_.erase(oldest);
    kept_.splice(kept_.end(), place.entry_);
    return kept_.back().second;
  }
  void clear() noexcept { kept_.clear(); }
  // Clears it without freeing the communicators.
  void leaveAll() noexcept {
    for (const auto& [name, communicator] : kept_)
      communicator->leave();
    clear();
  }

private:
  Entries kept_;
};

class BatchedAgreement;

class Communicator {
public:
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The copy of `parent`, with its arena. Collective over parent the first time. Throws
  // TENON_ERR_STATE in a thread that may not call MPI.
  static std::shared_ptr<Communicator> of(MPI_Comm parent);
  // The copy alone, without an arena, which needs options that are read with the help of the copy.
  static std::shared_ptr<Communicator> copyOf(MPI_Comm parent);
  // Makes the arena as -tenon_shared_memory says, the first time. Collective.
  void openArena();
  // Frees every copy. Collective; called by Finalize.
  static void freeAll();
  // Takes every copy from its parent and frees none, since that is collective: MPI then calls
  // nothing of this library when parents are freed, after it has been unloaded.
  static void leaveParents() noexcept;
  // Keeps a communicator until then, when its group of devices is ended: no rank can end that alone
  // when the last object that uses it is destroyed.
  static void keepToEnd(const SubCommPtr& line);

  MPI_Comm mpi() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  // A tag for the messages of one object. Objects are made in the same order on all ranks, so the
  // tags agree without communication.
  int nextTag() noexcept { return lastTag_ = lastTag_ % kLastObjectTag + 1; }
  int lastTag() const noexcept { return lastTag_; }
  void setLastTag(int tag) noexcept { lastTag_ = tag; }
  // Agreements have the last two tags; the standard's least upper bound of tags is 32767.
  static constexpr int kAgreementTag = 32767, kCallTag = 32766, kLastObjectTag = 32765;

  // Set once ranks were absent from a collective call: messages may then meet the wrong calls.
  bool isOutOfStep() const noexcept { return outOfStep_; }
  void setOutOfStep() noexcept { outOfStep_ = true; }

  // The memory shared with other ranks on this node; NULL, with the reason, if there is none.
  const std::shared_ptr<SharedArena>& arena() const noexcept { return shared_.arena; }
  const std::string& whyNoArena() const noexcept { return shared_.reason; }
  // Why this rank's part of it is smaller than asked for; "" if it is not.
  const std::string& whySmallArena() const noexcept { return shared_.whySmall; }
  bool isAloneOnNode() const noexcept { return shared_.isAlone; }
  // The ranks of each node, one after the other, as many on each; 0 if nodes are not so. The same
  // on all ranks.
  int ranksPerNode() const noexcept { return ranksPerNode_; }

  // Memory that the devices of this node's ranks read in each other's; NULL, with the reason, if
  // there is none. Collective the first time.
  const DeviceArena::Made& openDeviceArena();
  // The device memory, once it was opened.
  const DeviceArena::Made& deviceArena() const noexcept { return *deviceShared_; }

  // Whose communicators they are, and along which axes of a process grid.
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
  // A communicator of the ranks that share a colour, ordered by key; collective where none of that
  // name is kept. Ranks with the colour MPI_UNDEFINED get MPI_COMM_NULL. Within a batched agreement
  // it is made when that is reached.
  SubCommPtr split(const SplitName& name, int color, int key);
  // Makes it in its place, once all ranks have agreed to. Collective.
  SubCommPtr make(Splits::Place place, int color, int key);

  // The batched agreement in whose body this rank is (agreement/batched.hpp); NULL if there is
  // none.
  BatchedAgreement* batch() const noexcept { return batch_; }
  void setBatch(BatchedAgreement* batch) noexcept { batch_ = batch; }

  // Adds messages that whoever waits here looks after. They are in the list once, and not longer
  // than they live.
  void add(Pending& pending) { pending_.push_back(&pending); }
  void remove(const Pending& pending) noexcept { std::erase(pending_, &pending); }
  // Looks after them. Not while this thread records work of the device: a look at what is done
  // would end the recording, and what is queued meanwhile would become part of it.
  void advance() const;

private:
  Communicator() = default;
  void take(MPI_Comm comm);
  static int parentIsFreed(MPI_Comm parent, int keyval, void* attribute, void*) noexcept;
  static int keyval();
  void leaveParent() noexcept; // who calls it holds this copy
  void free() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm parent_ = MPI_COMM_NULL; // holds this copy as its attribute
  int rank_ = 0;
  int size_ = 0;
  int lastTag_ = 0;
  bool outOfStep_ = false;
  Splits splits_;
  BatchedAgreement* batch_ = nullptr;
  bool arenaTried_ = false;
  int ranksPerNode_ = 0;
  SharedArena::Made shared_;
  std::optional<DeviceArena::Made> deviceShared_;
  std::vector<Pending*> pending_;
};

using CommPtr = std::shared_ptr<Communicator>;

} // namespace tenon
