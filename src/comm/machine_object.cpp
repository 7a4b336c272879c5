// SPDX-License-Identifier: BSD-2-Clause
// Joins the nodes and bindings of all ranks to one machine. findJobMachine(), collective: each rank
// finds the name of its node and its place there (socket, cache, core); one all-gather sends both
// to all ranks; each rank then numbers the nodes and computes the same levels from the same data.
// Calls that can fail on one rank only are in bodies of collectively(), and the array of the
// all-gather is allocated before it.
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

// Places are sent in messages of fixed size: bytes of a node name, and levels of a place. Long node
// names tend to differ at their end, so the message has the end.
constexpr std::size_t kNodeName = 64, kLevels = 4;

struct PlaceMessage {
  std::array<char, kNodeName> node{};
  std::array<Index, kLevels> place{};
};

std::vector<PlaceMessage> gather(Communicator& comm, const PlaceMessage& place) {
  std::vector<PlaceMessage> places =
      collectively(comm, [&] { return std::vector<PlaceMessage>(comm.size()); });
  checkMpi(MPI_Allgather(&place, sizeof place, MPI_BYTE, places.data(), sizeof place, MPI_BYTE,
                         comm.mpi()),
           "MPI_Allgather");
  return places;
}

std::string nodeName() {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  checkMpi(MPI_Get_processor_name(text, &length), "MPI_Get_processor_name");
  return std::string(text, length);
}

// Adds links with assumed rates, since the real ones are unknown without measuring: a port of each
// innermost unit (a core), which all messages to or from it use, and a NIC of each node, for the
// messages that leave it (LinkRule, machine.hpp).
Machine withAssumedLinks(const Machine& found, const LinkRates& rates) {
  const int innermost = static_cast<int>(found.levels().size()) - 1;
  Machine machine = found.linkedBy({.name = "port (assumed rate)",
                                    .level = innermost,
                                    .units = 1,
                                    .bandwidth = rates.bandwidth,
                                    .latency = rates.latency,
                                    .rules = {{LinkRule::Touching}}});
  const int node = found.findLevel("node");
  if (node < 0)
    return machine;
  return machine.linkedBy({.name = "NIC (assumed rate)",
                           .level = node,
                           .units = 1,
                           .bandwidth = rates.bandwidth,
                           .latency = rates.latency,
                           .rules = {{LinkRule::Leaving}}});
}

} // namespace

JoinedPlaces joinJob(Communicator& comm, const std::string& node, const std::vector<Index>& place) {
  PlaceMessage ownMessage;
  node.copy(ownMessage.node.data(), kNodeName,
            node.size() > kNodeName ? node.size() - kNodeName : 0);
  std::copy(place.begin(), place.end(), ownMessage.place.begin());
  PlacedDevices placed{"rank", {"node"}, {}};
  const auto& levels = LocalTopology::levels();
  placed.levels.insert(placed.levels.end(), levels.begin(), levels.end());
  std::map<std::array<char, kNodeName>, Index> nodes;
  for (const PlaceMessage& message : gather(comm, ownMessage)) {
    // Nodes are numbered in the order of their first ranks, which is the same on all ranks.
    const Index number = nodes.emplace(message.node, nodes.size()).first->second;
    placed.places.push_back({number});
    placed.places.back().insert(placed.places.back().end(), message.place.begin(),
                                message.place.begin() + levels.size());
  }
  return joinPlaces("this job", placed);
}

JoinedPlaces findJobMachine(Communicator& comm) {
  struct OwnNode {
    std::string node;
    std::vector<Index> place;
    std::optional<Machine> described;
    LinkRates rates;
  };
  const OwnNode own = collectively(comm, [&] {
    OwnNode node{nodeName(), LocalTopology().ownPlace(), std::nullopt, LinkRates::fromOptions()};
    if (const std::string file = machineFileOption(); !file.empty())
      node.described = machineForRanks(file, comm.size());
    return node;
  });
  JoinedPlaces found = joinJob(comm, own.node, own.place);
  found.notes.insert(found.notes.end(), LocalTopology::notes().begin(),
                     LocalTopology::notes().end());
  // The places are also needed with a described machine, since they assign ranks to devices.
  found.machine = own.described ? *own.described : withAssumedLinks(found.machine, own.rates);
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
