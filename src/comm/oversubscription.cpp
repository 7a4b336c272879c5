// SPDX-License-Identifier: BSD-2-Clause
#include "comm/oversubscription.hpp"

#include "sys/output.hpp"
#include "sys/text.hpp"
#include "sys/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

NodeLoad loadOfNode(const Node& node) {
  NodeLoad load;
  load.ranks = node.size;
  const long long mine = openMpThreads();
  long long sum = 0, most = 0;
  checkMpi(MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, node.comm), "MPI_Allreduce");
  checkMpi(MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, node.comm), "MPI_Allreduce");
  std::vector<std::uint64_t> cpus = allowedCpus();
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, cpus.data(), static_cast<int>(cpus.size()), MPI_UINT64_T,
                         MPI_BOR, node.comm),
           "MPI_Allreduce");
  load.threads = sum;
  load.mostThreads = static_cast<int>(most);
  for (const std::uint64_t word : cpus)
    load.cpus += std::popcount(word);
  return load;
}

} // namespace

std::string oversubscription(const NodeLoad& load) {
  if (load.cpus == 0 || load.mostThreads < 2 || load.threads <= load.cpus)
    return "";
  return fmt::format("Tenon: {} with {} in all for {}, on the node of rank 0, will be slow; set "
                     "OMP_NUM_THREADS={}\n",
                     counted(load.ranks, "rank"), counted(load.threads, "OpenMP thread"),
                     counted(load.cpus, "CPU"), std::max(1, load.cpus / load.ranks));
}

void warnOfOversubscription(const Communicator& comm, const Node& node) {
  const std::string text = oversubscription(loadOfNode(node));
  if (comm.rank() == 0 && !text.empty())
    printError(text);
}

} // namespace tenon
