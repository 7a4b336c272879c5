// SPDX-License-Identifier: BSD-2-Clause
#include "comm/communicator.hpp"

#include "comm/agreement.hpp"
#include "comm/arrival.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kMiB = Index(1) << 20;

constexpr OptionSpec kOptions[] = {
    {"shared_memory", OptionSpec::Int, "-1",
     "MiB of /dev/shm that a rank may use for arrays; 0: none; -1: its share of all"},
};
const OptionRegistration kRegistration{{"comm", kOptions}};

int keyval = MPI_KEYVAL_INVALID;
std::vector<CommPtr>& allCommunicators() {
  static std::vector<CommPtr> list;
  return list;
}

} // namespace

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  static std::intptr_t made = 0;
  number_ = ++made;
  checkMpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  checkMpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() = default;

CommPtr Communicator::of(MPI_Comm parent) {
  CommPtr comm = copyOf(parent);
  comm->openArena();
  return comm;
}

CommPtr Communicator::copyOf(MPI_Comm parent) {
  if (parent == MPI_COMM_NULL)
    throw Error(TENON_ERR_NULL, "the communicator is MPI_COMM_NULL");
  if (keyval == MPI_KEYVAL_INVALID)
    checkMpi(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr),
        "MPI_Comm_create_keyval");
  void* cached = nullptr;
  int found = 0;
  checkMpi(MPI_Comm_get_attr(parent, keyval, &cached, &found), "MPI_Comm_get_attr");
  if (found) {
    for (const CommPtr& known : allCommunicators())
      if (known->number_ == reinterpret_cast<std::intptr_t>(cached))
        return known;
  }
  awaitAllRanks(parent, options().getReal("", "agree_timeout"));
  MPI_Comm copy = MPI_COMM_NULL;
  checkMpi(MPI_Comm_dup(parent, &copy), "MPI_Comm_dup");
  CommPtr made(new Communicator(copy));
  allCommunicators().push_back(made);
  checkMpi(MPI_Comm_set_attr(parent, keyval, reinterpret_cast<void*>(made->number_)),
           "MPI_Comm_set_attr");
  return made;
}

void Communicator::openArena() {
  if (arenaTried_)
    return;
  arenaTried_ = true;
  const Index asked = options().getInt("", "shared_memory");
  shared_ = SharedArena::make(comm_, asked < 0 ? -1 : asked * kMiB);
}

void Communicator::freeAll() {
  for (const CommPtr& comm : allCommunicators())
    comm->free();
  allCommunicators().clear();
}

void Communicator::free() {
  for (auto& [name, comm] : splits_)
    if (comm != MPI_COMM_NULL)
      MPI_Comm_free(&comm);
  splits_.clear();
  for (auto& [name, comm] : graphs_)
    MPI_Comm_free(&comm);
  graphs_.clear();
  if (shared_.arena)
    shared_.arena->close();
  shared_ = {nullptr, "the communicator is freed", false};
  MPI_Comm_free(&comm_);
}

MPI_Comm Communicator::split(const std::vector<int>& name, int color, int key) {
  const auto known = splits_.find(name);
  if (known != splits_.end())
    return known->second;
  agree(*this, std::nullopt); // the call below has no time limit
  MPI_Comm part = MPI_COMM_NULL;
  checkMpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
  if (part != MPI_COMM_NULL)
    checkMpi(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return splits_[name] = part;
}

MPI_Comm Communicator::graph(const std::string& name, const std::vector<int>& sources,
                             const std::vector<int>& targets) {
  const auto known = graphs_.find(name);
  if (known != graphs_.end())
    return known->second;
  agree(*this, std::nullopt);
  const std::vector<int> weights(std::max({sources.size(), targets.size(), std::size_t(1)}), 1);
  MPI_Comm made = MPI_COMM_NULL;
  checkMpi(MPI_Dist_graph_create_adjacent(comm_, static_cast<int>(sources.size()), sources.data(),
                                          weights.data(), static_cast<int>(targets.size()),
                                          targets.data(), weights.data(), MPI_INFO_NULL, 0, &made),
           "MPI_Dist_graph_create_adjacent");
  checkMpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return graphs_[name] = made;
}

} // namespace tenon
