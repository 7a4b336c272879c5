// SPDX-License-Identifier: BSD-2-Clause
#include "comm/transport.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr const char* kNames[] = {"auto", "messages", "shared", "datatypes"};

} // namespace

Transport parseTransport(std::string_view name) {
  for (int i = 0; i < 4; ++i)
    if (name == kNames[i])
      return static_cast<Transport>(i);
  throw Error(TENON_ERR_ARG,
              fmt::format("unknown transport '{}'; use one of {}", name, kTransportChoices));
}

const char* transportName(Transport transport) noexcept {
  return kNames[static_cast<int>(transport)];
}

Transport resolveTransport(Transport asked, const Communicator& comm) {
  if (asked == Transport::Shared && !comm.arena() && comm.size() > 1)
    throw Error(TENON_ERR_SUPPORT, fmt::format("transport \"shared\" is not available, since there "
                                               "is no shared memory: {}; use auto or messages",
                                               comm.whyNoArena()));
  if (asked != Transport::Auto)
    return asked;
  return comm.arena() ? Transport::Shared : Transport::Messages;
}

Transport resolveDeviceTransport(Transport asked, Communicator& comm) {
  if (asked == Transport::Datatypes)
    throw Error(TENON_ERR_SUPPORT, "transport \"datatypes\" is not available for arrays on the "
                                   "device; set -tenon_conversion_transport to auto, messages or "
                                   "shared");
  if (asked == Transport::Messages || comm.size() == 1)
    return Transport::Messages;
  const DeviceArena::Made& made = comm.openDeviceArena();
  if (made.arena)
    return Transport::Shared;
  if (asked == Transport::Shared)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("transport \"shared\" is not available for arrays on the device, "
                            "since the ranks of the node do not share device memory: {}; set "
                            "-tenon_conversion_transport to auto or messages",
                            made.reason));
  return Transport::Messages;
}

} // namespace tenon
