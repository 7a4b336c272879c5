// SPDX-License-Identifier: BSD-2-Clause
// Makes, finds and frees the library's duplicates of communicators. MPI_Comm_dup and MPI_Comm_split
// are collective and have no time limit, so each is preceded by a vote that has one: an absent rank
// is then an error, not a hang. A registry of the process has all duplicates, for Finalize, and for
// calls to which the user passes a duplicate.
#include "comm/communicator.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/batched.hpp"
#include "comm/agreement/vote.hpp"
#include "comm/memory/node.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace tenon {

namespace {

constexpr Index kMiB = Index(1) << 20;

constexpr OptionSpec kOptions[] = {
    {"shared_memory",
     OptionSpec::Int,
     "-1",
     "MiB of /dev/shm that a rank can use for arrays; 0: none; -1: its share of all",
     nullptr,
     {-1, 1 << 30}},
};
const OptionRegistration kRegistration{{"comm", kOptions}};

// The duplicates of the process, shared by its threads. `keyval` is the key of the attribute that
// each parent has for its duplicate.
struct Registry {
  std::mutex mutex;
  int keyval = MPI_KEYVAL_INVALID;
  std::vector<std::weak_ptr<Communicator>> all; // In the order of creation.
  // Duplicates that leaveParents() has detached. A reference to each remains here for ever, since
  // its destructor would free it, and with it a communicator of MPI.
  std::vector<CommPtr> neverFreed;
  std::vector<SubCommPtr> deviceLines; // Communicators with device groups, retained until the end.

  void add(const CommPtr& made) {
    const std::lock_guard lock(mutex);
    std::erase_if(all, [](const auto& entry) { return entry.expired(); });
    all.push_back(made);
  }
  // The duplicate with this handle, if it is one: TenonObjectGetComm() returns such handles.
  CommPtr copy(MPI_Comm handle) {
    const std::lock_guard lock(mutex);
    for (const auto& entry : all)
      if (CommPtr comm = entry.lock(); comm && comm->mpi() == handle)
        return comm;
    return nullptr;
  }
  std::vector<CommPtr> takeAll() {
    const std::lock_guard lock(mutex);
    std::vector<CommPtr> alive;
    for (const auto& entry : std::exchange(all, {}))
      if (CommPtr comm = entry.lock())
        alive.push_back(std::move(comm));
    return alive;
  }
};

// Never destroyed, since communicators can be freed while static objects are destroyed.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// Below MPI_THREAD_SERIALIZED only the thread that initialised MPI can call it.
void checkThread() {
  int level = MPI_THREAD_SINGLE, isMain = 1;
  checkMpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level >= MPI_THREAD_SERIALIZED)
    return;
  checkMpi(MPI_Is_thread_main(&isMain), "MPI_Is_thread_main");
  if (!isMain)
    throw Error(
        TENON_ERR_STATE,
        "this thread may not call MPI, which was initialised for one thread only; objects in "
        "several threads need MPI_Init_thread with MPI_THREAD_MULTIPLE");
}

} // namespace

bool mpiRuns() noexcept {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

void Communicator::take(MPI_Comm comm) {
  comm_ = comm;
  checkMpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  checkMpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  free();
}

CommPtr Communicator::of(MPI_Comm parent) {
  CommPtr comm = copyOf(parent);
  comm->openArena();
  return comm;
}

CommPtr Communicator::copyOf(MPI_Comm parent) {
  if (parent == MPI_COMM_NULL)
    throw Error(TENON_ERR_NULL, "the communicator is MPI_COMM_NULL");
  checkThread();
  if (CommPtr duplicate = registry().copy(parent))
    return duplicate;
  const int key = keyval();
  void* cached = nullptr;
  int found = 0;
  checkMpi(MPI_Comm_get_attr(parent, key, &cached, &found), "MPI_Comm_get_attr");
  if (found)
    return *static_cast<const CommPtr*>(cached);
  // All memory for the duplicate is allocated before the ranks meet, so no rank fails alone after
  // the others have theirs.
  CommPtr made;
  std::unique_ptr<CommPtr> held;
  std::optional<Error> failure;
  try {
    made.reset(new Communicator);
    held = std::make_unique<CommPtr>(made);
    registry().add(made);
  } catch (...) {
    failure = caughtError();
  }
  awaitAllRanks(parent, failure);
  MPI_Comm duplicate = MPI_COMM_NULL;
  checkMpi(MPI_Comm_dup(parent, &duplicate), "MPI_Comm_dup");
  made->take(duplicate);
  checkMpi(MPI_Comm_set_attr(parent, key, held.get()), "MPI_Comm_set_attr");
  static_cast<void>(held.release()); // Now owned by the attribute, see parentIsFreed().
  made->parent_ = parent;
  return made;
}

int Communicator::keyval() {
  const std::lock_guard lock(registry().mutex);
  int& key = registry().keyval;
  if (key == MPI_KEYVAL_INVALID)
    checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, parentIsFreed, &key, nullptr),
             "MPI_Comm_create_keyval");
  return key;
}

// MPI calls this when the parent is freed or its attribute deleted. If no object uses the
// duplicate, it is freed now, in the same call on all ranks. Otherwise it is freed with the last
// such object, when each rank destroys its own: MPI_Comm_free is collective, but the standard
// expects it to be implemented without communication, and MPI libraries do so.
int Communicator::parentIsFreed(MPI_Comm, int, void* attribute, void*) noexcept {
  const std::unique_ptr<CommPtr> held(static_cast<CommPtr*>(attribute));
  (*held)->parent_ = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

namespace {

// Number of ranks per node if all nodes have the same number of consecutive ranks, otherwise 0.
int regularNodeSize(MPI_Comm comm) {
  const Node node(comm);
  int rank = 0;
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  // The minimum of -n is the negative of the maximum of n, so one reduction gives both.
  int minima[3] = {node.size, -node.size, rank % node.size == node.rank ? 1 : 0};
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, minima, 3, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  const auto [minSize, minusMaxSize, areConsecutive] = minima;
  return minSize == -minusMaxSize && areConsecutive == 1 ? minSize : 0;
}

} // namespace

void Communicator::openArena() {
  if (arenaTried_)
    return;
  shared_ = collectively(*this, [&] {
    // The ranks of the node make the arena together, even if this rank could not read the option.
    std::optional<Error> unread;
    Index requested = 0;
    try {
      requested = options().getInt("", "shared_memory");
    } catch (...) {
      unread = caughtError();
    }
    SharedArena::Made made = SharedArena::make(comm_, requested < 0 ? -1 : requested * kMiB);
    if (unread)
      throw Error(*unread);
    return made;
  });
  ranksPerNode_ = regularNodeSize(comm_);
  arenaTried_ = true;
}

const DeviceArena::Made& Communicator::openDeviceArena() {
  if (!deviceShared_) {
    agree(*this, /*mine=*/std::nullopt); // The calls below have no time limit.
    deviceShared_ =
        collectively(*this, [&] { return DeviceArena::make(comm_, arena(), whyNoArena()); });
  }
  return *deviceShared_;
}

namespace {

// True if other ranks have sent messages that this rank never received: it was absent from those
// calls, and does not know it.
bool hasMessages(MPI_Comm comm) noexcept {
  int found = 0;
  return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         found;
}

} // namespace

void Communicator::keepToEnd(const SubCommPtr& line) {
  const std::lock_guard lock(registry().mutex);
  registry().deviceLines.push_back(line);
}

// The vote fails on all ranks if the group of one has failed, or if one does not arrive in time; no
// rank then ends its group, since that would wait for the others.
void SubCommunicator::endDevices() const noexcept {
  if (!devices_ || !*devices_ || comm_ == MPI_COMM_NULL)
    return;
  try {
    awaitAllRanks(comm_, devices().failure());
    devices().end();
  } catch (...) {
    devices().giveUp();
  }
}

void Communicator::freeAll() {
  for (const SubCommPtr& line : std::exchange(registry().deviceLines, {}))
    line->endDevices();
  // In the order of creation, which is the same on all ranks.
  for (const CommPtr& comm : registry().takeAll()) {
    comm->leaveParent();
    comm->free();
  }
  if (registry().keyval != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&registry().keyval);
}

void Communicator::leaveParents() noexcept {
  try {
    registry().neverFreed = registry().takeAll();
  } catch (...) { // Without memory they stay attached.
    return;
  }
  for (const CommPtr& comm : registry().neverFreed)
    comm->leaveParent();
  if (registry().keyval != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&registry().keyval);
}

void Communicator::leaveParent() noexcept {
  if (parent_ != MPI_COMM_NULL)
    MPI_Comm_delete_attr(parent_, registry().keyval);
}

void Communicator::free() noexcept {
  // The reason that whyNoArena() has from now on, short enough to be stored without an allocation.
  constexpr const char* kWhyNot = "it is freed";
  // A communicator that is out of step is not freed: messages that no rank has received would reach
  // the next communicator to which MPI assigns its number, or end the program here, as in MPICH
  // 4.2. The communicators made from it are not freed either, since a probe does not find messages
  // of collectives.
  const bool isLeaked = comm_ != MPI_COMM_NULL && mpiRuns() && (outOfStep_ || hasMessages(comm_));
  if (isLeaked)
    splits_.leaveAll();
  else
    splits_.clear();
  deviceShared_ = {.reason = kWhyNot};
  if (shared_.arena)
    shared_.arena->close();
  shared_ = {.arena = nullptr, .reason = kWhyNot};
  if (comm_ != MPI_COMM_NULL && mpiRuns() && !isLeaked)
    MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

void Communicator::advance() const {
  if (Stream::isRecording())
    throw Error(TENON_ERR_INTERNAL, "messages are looked after while a stream records work of the "
                                    "device, which would be lost; set "
                                    "-tenon_device_graphs to false");
  // Backwards, since advance() can remove the entry.
  for (std::size_t i = pending_.size(); i-- > 0;)
    pending_[i]->advance();
}

SubCommPtr Communicator::split(const SplitName& name, int color, int key) {
  if (SubCommPtr cached = splits_.find(name))
    return cached;
  if (batch_)
    return batch_->split(name, color, key);
  // MPI_Comm_split has no time limit, so the ranks agree before it.
  return make(collectively(*this, [&] { return Splits::Place(name); }), color, key);
}

SubCommPtr Communicator::make(Splits::Place place, int color, int key) {
  MPI_Comm member = MPI_COMM_NULL;
  checkMpi(MPI_Comm_split(comm_, color, key, &member), "MPI_Comm_split");
  if (member != MPI_COMM_NULL)
    checkMpi(MPI_Comm_set_errhandler(member, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return splits_.add(std::move(place), member);
}

} // namespace tenon
