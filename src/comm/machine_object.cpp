// SPDX-License-Identifier: BSD-2-Clause
// Joins what the ranks of a job see of their nodes to one machine. What can fail on one rank alone
// is done in bodies that the ranks agree on, and the array of the all-gather is made before it;
// after it all ranks compute the same from the same data.
#include "comm/machine_object.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/mpi.hpp"
#include "machine/link.hpp"
#include "machine/machine_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace tenon {

namespace {

// Places are sent in messages of fixed size. Long names of nodes tend to differ at their end, so
// the end is what is kept of them.
constexpr std::size_t kNodeName = 64, kLevels = 4;

struct PlaceMessage {
  std::array<char, kNodeName> node{};
  std::array<Index, kLevels> place{};
};

std::vector<PlaceMessage> gather(Communicator& comm, const PlaceMessage& mine) {
  std::vector<PlaceMessage> all =
      collectively(comm, [&] { return std::vector<PlaceMessage>(comm.size()); });
  checkMpi(
      MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.mpi()),
      "MPI_Allgather");
  return all;
}

std::string nodeName() {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  checkMpi(MPI_Get_processor_name(text, &length), "MPI_Get_processor_name");
  return std::string(text, length);
}

// The machine with links of assumed rates, as nothing tells the real ones without measuring.
Machine withAssumedLinks(const Machine& found, const LinkRates& rates) {
  const int innermost = static_cast<int>(found.levels().size()) - 1;
  Machine machine = found.linkedBy({"port (assumed rate)",
                                    innermost,
                                    1,
                                    rates.bandwidth,
                                    rates.latency,
                                    {{LinkRule::Touching}}});
  const int node = found.findLevel("node");
  if (node < 0)
    return machine;
  return machine.linkedBy(
      {"NIC (assumed rate)", node, 1, rates.bandwidth, rates.latency, {{LinkRule::Leaving}}});
}

} // namespace

Machine machineForRanks(const std::string& file, Index ranks) {
  Machine machine = readMachine(file);
  // A job has as many nodes as it gets, so the level 'node' of a file is resized to the job.
  const int node = machine.findLevel("node");
  if (node < 0 && machine.devices() != ranks)
    throw Error(TENON_ERR_ARG,
                fmt::format("machine '{}' has {} devices and no level 'node' to resize, but the "
                            "job has {} ranks; use a machine of that size",
                            machine.name(), machine.devices(), ranks));
  if (node < 0)
    return machine;
  const Index each = machine.devices() / machine.levels()[node].size;
  if (ranks % each != 0)
    throw Error(TENON_ERR_ARG, fmt::format("machine '{}' has {} devices per node, which does not "
                                           "divide the {} ranks of the job; start a multiple of {}",
                                           machine.name(), each, ranks, each));
  return machine.resized(node, ranks / each);
}

JoinedPlaces joinJob(Communicator& comm, const std::string& node, const std::vector<Index>& place) {
  PlaceMessage mine;
  node.copy(mine.node.data(), kNodeName, node.size() > kNodeName ? node.size() - kNodeName : 0);
  std::copy(place.begin(), place.end(), mine.place.begin());
  PlacedDevices placed{"rank", {"node"}, {}};
  const auto& levels = LocalTopology::levels();
  placed.levels.insert(placed.levels.end(), levels.begin(), levels.end());
  std::map<std::array<char, kNodeName>, Index> nodes;
  for (const PlaceMessage& message : gather(comm, mine)) {
    // Nodes are numbered in the order of their first ranks, which is the same on all ranks.
    const Index number = nodes.emplace(message.node, nodes.size()).first->second;
    placed.places.push_back({number});
    placed.places.back().insert(placed.places.back().end(), message.place.begin(),
                                message.place.begin() + levels.size());
  }
  return joinPlaces("this job", placed);
}

JoinedPlaces findJobMachine(Communicator& comm) {
  struct Mine {
    std::string node;
    std::vector<Index> place;
    std::optional<Machine> described;
    LinkRates rates;
  };
  const Mine mine = collectively(comm, [&] {
    Mine seen{nodeName(), LocalTopology().ownPlace(), std::nullopt, LinkRates::fromOptions()};
    if (const std::string file = machineFileOption(); !file.empty())
      seen.described = machineForRanks(file, comm.size());
    return seen;
  });
  JoinedPlaces found = joinJob(comm, mine.node, mine.place);
  found.notes.insert(found.notes.end(), LocalTopology::notes().begin(),
                     LocalTopology::notes().end());
  // The places are needed with a described machine too: they tell which rank is which device.
  found.machine = mine.described ? *mine.described : withAssumedLinks(found.machine, mine.rates);
  return found;
}

MachineObject::MachineObject(Machine machine)
    : Object(kClass), found_{std::move(machine), {}, {}}, isInOrder_(true) {}

MachineObject::MachineObject(JoinedPlaces found, CommPtr comm, std::string source)
    : Object(kClass), found_(std::move(found)), comm_(std::move(comm)), source_(std::move(source)),
      isInOrder_(std::is_sorted(found_.order.begin(), found_.order.end())) {}

void MachineObject::addLink(Link link) {
  found_.machine = found_.machine.linkedBy(std::move(link));
  changed();
}

std::string MachineObject::describe() const {
  std::string text = found_.machine.draw();
  if (!isInOrder_)
    text += fmt::format("  by device: {}\n", fmt::join(found_.order, " "));
  for (const std::string& note : found_.notes)
    text += fmt::format("  note: {}\n", note);
  return text;
}

} // namespace tenon
