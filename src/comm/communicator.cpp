// SPDX-License-Identifier: BSD-2-Clause
// Makes, finds and frees the library's copies of communicators. MPI_Comm_dup and MPI_Comm_split are
// collective and have no time limit, so each is preceded by a vote that has one: a rank that never
// comes is then an error and not a hang.
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

// The copies of the process, which its threads have in common.
struct Registry {
  std::mutex mutex;
  int keyval = MPI_KEYVAL_INVALID;
  std::vector<std::weak_ptr<Communicator>> all; // in the order of their making
  std::vector<CommPtr> left;                    // for good
  std::vector<SubCommPtr> lines;                // likewise, those with groups of devices

  void add(const CommPtr& made) {
    const std::lock_guard lock(mutex);
    std::erase_if(all, [](const auto& one) { return one.expired(); });
    all.push_back(made);
  }
  // The copy with this handle, if it is one: TenonObjectGetComm() gives it to the program.
  CommPtr copy(MPI_Comm handle) {
    const std::lock_guard lock(mutex);
    for (const auto& one : all)
      if (CommPtr comm = one.lock(); comm && comm->mpi() == handle)
        return comm;
    return nullptr;
  }
  std::vector<CommPtr> takeAll() {
    const std::lock_guard lock(mutex);
    std::vector<CommPtr> alive;
    for (const auto& one : std::exchange(all, {}))
      if (CommPtr comm = one.lock())
        alive.push_back(std::move(comm));
    return alive;
  }
};

// Never destroyed: communicators can be freed while static objects are destroyed.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

// Below MPI_THREAD_SERIALIZED only the thread that initialised MPI may call it.
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
  if (CommPtr own = registry().copy(parent))
    return own;
  const int key = keyval();
  void* cached = nullptr;
  int found = 0;
  checkMpi(MPI_Comm_get_attr(parent, key, &cached, &found), "MPI_Comm_get_attr");
  if (found)
    return *static_cast<const CommPtr*>(cached);
  // What this rank needs for the copy is made before the ranks meet, so that none fails alone once
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
  MPI_Comm copy = MPI_COMM_NULL;
  checkMpi(MPI_Comm_dup(parent, &copy), "MPI_Comm_dup");
  made->take(copy);
  checkMpi(MPI_Comm_set_attr(parent, key, held.get()), "MPI_Comm_set_attr");
  static_cast<void>(held.release()); // now the attribute's, see parentIsFreed()
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

// MPI calls this when the parent is freed, or its attribute deleted. If no object uses the copy it
// goes now, in the same call on all ranks; else it goes with the last such object, when each rank
// destroys its own: MPI_Comm_free is collective, but MPI libraries communicate as little in it as
// the standard expects.
int Communicator::parentIsFreed(MPI_Comm, int, void* attribute, void*) noexcept {
  const std::unique_ptr<CommPtr> held(static_cast<CommPtr*>(attribute));
  (*held)->parent_ = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

namespace {

// The ranks of a node where all nodes have as many, one after the other; else 0.
int regularNodeSize(MPI_Comm comm) {
  const Node node(comm);
  int rank = 0;
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  // The least of a number and of its negative are those of all ranks.
  int least[3] = {node.size, -node.size, rank % node.size == node.rank ? 1 : 0};
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return least[0] == -least[1] && least[2] == 1 ? least[0] : 0;
}

} // namespace

void Communicator::openArena() {
  if (arenaTried_)
    return;
  shared_ = collectively(*this, [&] {
    // The ranks of the node make the arena together, whatever has failed before.
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
    agree(*this, std::nullopt); // the calls below have no time limit
    deviceShared_ =
        collectively(*this, [&] { return DeviceArena::make(comm_, arena(), whyNoArena()); });
  }
  return *deviceShared_;
}

namespace {

// Whether others have sent what this rank has never asked for. It was absent then, and does not
// know it.
bool hasMessages(MPI_Comm comm) noexcept {
  int found = 0;
  return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         found;
}

} // namespace

void Communicator::keepToEnd(const SubCommPtr& line) {
  const std::lock_guard lock(registry().mutex);
  registry().lines.push_back(line);
}

// A rank whose group has failed, or that waits for others in vain, votes for all.
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
  for (const SubCommPtr& line : std::exchange(registry().lines, {}))
    line->endDevices();
  // In the order in which they were made, which is the same on all ranks.
  for (const CommPtr& comm : registry().takeAll()) {
    comm->leaveParent();
    comm->free();
  }
  if (registry().keyval != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&registry().keyval);
}

void Communicator::leaveParents() noexcept {
  try {
    registry().left = registry().takeAll();
  } catch (...) { // without memory they stay as they are
    return;
  }
  for (const CommPtr& comm : registry().left)
    comm->leaveParent();
  if (registry().keyval != MPI_KEYVAL_INVALID)
    MPI_Comm_free_keyval(&registry().keyval);
}

void Communicator::leaveParent() noexcept {
  if (parent_ != MPI_COMM_NULL)
    MPI_Comm_delete_attr(parent_, registry().keyval);
}

void Communicator::free() noexcept {
  constexpr const char* kWhyNot = "it is freed"; // so short that nothing is allocated
  // A communicator that is out of step is kept: messages that nobody has received would reach the
  // next communicator to which MPI gives its number, or end the program here, as in MPICH 4.2. So
  // are those made of it, whose messages within collective calls no probe finds.
  const bool isKept = comm_ != MPI_COMM_NULL && mpiRuns() && (outOfStep_ || hasMessages(comm_));
  if (isKept)
    splits_.leaveAll();
  else
    splits_.clear();
  deviceShared_ = {.reason = kWhyNot};
  if (shared_.arena)
    shared_.arena->close();
  shared_ = {.arena = nullptr, .reason = kWhyNot};
  if (comm_ != MPI_COMM_NULL && mpiRuns() && !isKept)
    MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

void Communicator::advance() const {
  if (Stream::isRecording())
    throw Error(TENON_ERR_INTERNAL, "messages are looked after while a stream records work of the "
                                    "device, which would be lost; set "
                                    "-tenon_device_graphs to false");
  for (std::size_t i = pending_.size(); i-- > 0;) // each may take itself out
    pending_[i]->advance();
}

SubCommPtr Communicator::split(const SplitName& name, int color, int key) {
  if (SubCommPtr known = splits_.find(name))
    return known;
  if (batch_)
    return batch_->split(name, color, key);
  // To make it has no time limit.
  return make(collectively(*this, [&] { return Splits::Place(name); }), color, key);
}

SubCommPtr Communicator::make(Splits::Place place, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  checkMpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
  if (part != MPI_COMM_NULL)
    checkMpi(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return splits_.add(std::move(place), part);
}

} // namespace tenon
