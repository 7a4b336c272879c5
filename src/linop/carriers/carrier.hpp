// SPDX-License-Identifier: BSD-2-Clause
// Carrier, the transport of one direction of a schedule between ranks: MPI messages, or lanes
// (buffers in memory that the ranks of a node share). The data for one peer are a pack part, the
// data from one peer an unpack part (part.hpp). An action is one execution y <- alpha C x + beta y
// of the schedule C. Its executor (schedule_executor.hpp) makes these calls, in this order:
//   begin(action)              sends all pack parts of x, or makes them readable to the peers
//   receive(action, part, ..)  waits for one unpack part and adds it to y; called for the parts in
//                              a fixed order, which makes sums reproducible
//   receiveAll(action)         in place of receive() where each element of y gets one value: waits
//                              for all unpack parts, in the order in which they arrive
//   end(action)                waits until all peers have read this rank's data
#pragma once

#include "comm/transport.hpp"
#include "linop/exchange/region_run.hpp"
#include "linop/exchange/wire.hpp"

#include <memory>

namespace tenon {

// Options of a carrier: the transport, and the treatment of large parts.
struct CarrierPolicy {
  Transport transport = Transport::Auto;
  // Size in bytes above which a part in shared memory is not packed: the peer reads it from the
  // array.
  Index packLimit = 8192;
  // With the transport `node_aware`: size in bytes up to which a part for another node is relayed.
  // Equal on all ranks, as the transport is.
  Index relayLimit = 4096;
  StoreWay stores = StoreWay::Auto;
  // The space of the expected arrays. Buffers for the other space are created at its first use.
  Space space = Space::Host;
  GpuAware gpuAware = GpuAware::Off; // On if MPI reads and writes messages in device memory.

  // The policy of the options -tenon_conversion_transport, _pack_limit, _relay_limit, _stores and
  // -tenon_gpu_aware.
  static CarrierPolicy fromOptions(Space space = Space::Host);
  // The transport as a text, which ranks compare to detect different options; "" for the default
  // transport. Pack limits and stores can differ between ranks, and gpuAware is equal on all ranks
  // already (isGpuAware()), so neither is in the text.
  std::string agreedText() const;
};

// Arguments of a carrier's constructor. The direction must outlive the carrier.
struct CarrierSetup {
  const CommPtr& comm;
  int tag;
  const Direction& direction;
  const CarrierPolicy& policy;
  const std::string& owner; // Title of the operator, for error texts and the log.
};

class Carrier {
public:
  virtual ~Carrier() = default;

  // Sends the pack parts of x, which must not change before end(). From here to the end of the
  // action the carrier can write elements of y, unless it reads them (beta) or adds to them.
  virtual void begin(const Action& action) = 0;
  // Waits for these chunks of an unpack part and combines them with y. A caller passes all chunks
  // of the part at once, or consecutive intervals of them.
  virtual void receive(const Action& action, std::size_t part, Interval chunks,
                       const Meeting& meeting) = 0;
  virtual void receiveAll(const Action& action, const Meeting& meeting) = 0;
  // Waits until no other rank reads x.
  virtual void end(const Action& action) = 0;
  // Called instead of the remaining calls of an action that has failed; x is not read afterwards.
  virtual void abandon() noexcept {}

  // Prepares repeated actions between the same two arrays: by persistent requests.
  virtual void bind(DTensor& x, DTensor& y) = 0;
  virtual void unbind() = 0;

  // Sizes in bytes of the message buffers of an action. The buffers are two wires (wire.hpp), which
  // the carriers of both directions of a schedule share; useWires() sets them before the first
  // action.
  virtual Index sendBytes() const = 0;
  virtual Index receiveBytes() const = 0;
  virtual void useWires(Wire& send, Wire& receive) = 0;
  // Bytes that the carrier holds in addition to the wires.
  virtual Index ownBytes() const = 0;
  // The transports of the parts, for views: for example "shared, messages".
  virtual std::string describe() const = 0;
};

// Makes the carrier for arrays in a space. Collective. Throws TENON_ERR_SUPPORT if the transport
// "shared" is requested and the node has no arena in that space.
std::unique_ptr<Carrier> makeCarrier(const CarrierSetup& setup, Space space);

} // namespace tenon
