// SPDX-License-Identifier: BSD-2-Clause
// The options of transports, and the choice of a carrier by option and by the space of the arrays.
// Ranks of one node must make the same choice, since sender and receiver each create their end of a
// lane; nodes can differ, because all carriers send messages between nodes.
#include "linop/carriers/carrier.hpp"

#include "linop/carriers/lane_carrier.hpp"
#include "linop/carriers/message_carrier.hpp"
#include "linop/carriers/node_aware_carrier.hpp"
#include "linop/carriers/peer_carrier.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kConversionOptions[] = {
    {"conversion_transport", OptionSpec::Choice, "auto",
     "transport of conversions; auto: shared memory, of the host or of the devices, where "
     "available, otherwise messages; node_aware: as auto, but small data for another node in one "
     "message for each pair of nodes",
     kTransportChoices},
    {"conversion_pack_limit", OptionSpec::Int, "8192",
     "size in bytes up to which data for a rank of the same node is packed; larger data is read in "
     "place where it is in shared memory",
     nullptr, atLeast(0)},
    {"conversion_relay_limit",
     OptionSpec::Int,
     "4096",
     "size in bytes up to which data for a rank of another node go there in one message with those "
     "of the other ranks of the node, with the transport node_aware",
     nullptr,
     {0, kLargePart}},
    {"conversion_stores", OptionSpec::Choice, "auto",
     "stores that pack messages of 16 KiB or more: through the caches, past them, or auto "
     "(measured with shared memory, past them otherwise)",
     kStoreWayChoices},
    {"gpu_aware", OptionSpec::Choice, "auto",
     "MPI sends from and receives into device memory, without copies in host memory; auto: if it "
     "says so, as MPICH does (Open MPI says it also where its transports cannot, and is not asked)",
     kGpuAwareChoices},
};
const OptionRegistration kConversionRegistration{{"conversion", kConversionOptions}};

// Host arrays and device arrays are shared by different arenas, so a rank can use shared memory in
// one space and messages in the other.
Transport transportOf(const CarrierSetup& setup, Space space) {
  const CarrierPolicy& policy = setup.policy;
  return space == Space::Host ? resolveTransport(policy.transport, *setup.comm)
                              : resolveDeviceTransport(policy.transport, *setup.comm);
}

} // namespace

CarrierPolicy CarrierPolicy::fromOptions(Space space) {
  return {.transport = parseTransport(options().getChoice("", "conversion_transport")),
          .packLimit = options().getInt("", "conversion_pack_limit"),
          .relayLimit = options().getInt("", "conversion_relay_limit"),
          .stores = parseStoreWay(options().getChoice("", "conversion_stores")),
          .space = space,
          .gpuAware = parseGpuAware(options().getChoice("", "gpu_aware"))};
}

// Only a requested transport is compared between ranks: the choice of "auto" depends on the node.
std::string CarrierPolicy::agreedText() const {
  if (transport == Transport::Auto)
    return "";
  const std::string limit =
      transport == Transport::NodeAware ? fmt::format(" up to {} bytes", relayLimit) : "";
  return fmt::format("; transport {}{}", transportName(transport), limit);
}

std::unique_ptr<Carrier> makeCarrier(const CarrierSetup& setup, Space space) {
  const Transport transport = transportOf(setup, space);
  if (transport == Transport::NodeAware)
    return std::make_unique<NodeAwareCarrier>(setup);
  if (transport == Transport::Shared && space == Space::Device)
    return std::make_unique<PeerCarrier>(setup);
  if (transport == Transport::Shared)
    return std::make_unique<LaneCarrier>(setup);
  // A carrier of messages alone sends and receives the parts of all other ranks, also on its node.
  const Direction& direction = setup.direction;
  const auto toAnyRank = [](int) { return true; };
  return std::make_unique<MessageCarrier>(setup, direction.others(direction.packs, toAnyRank),
                                          direction.others(direction.unpacks, toAnyRank));
}

} // namespace tenon
