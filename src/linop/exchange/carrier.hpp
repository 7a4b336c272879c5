// SPDX-License-Identifier: BSD-2-Clause
// Carrier, the transport of one direction of a schedule between ranks: messages, or lanes through
// shared memory. The data for one peer are a pack part, the data from one peer an unpack part
// (part.hpp). A carrier packs or exposes the data that this rank sends, and combines received
// data with the target when receive() is called; the order of sums is decided by its caller. Calls
// of one action, in order:
//   begin(action)              sends all pack parts, or announces them
//   receive(action, part, ..)  for each unpack part of another rank, in the order of sums
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
  Index packLimit = 8192; // Size in bytes above which parts in the arena are read in place.
  StoreWay stores = StoreWay::Auto;
  // The space of the expected arrays. Buffers for the other space are created at its first use.
  Space space = Space::Host;
  GpuAware gpuAware = GpuAware::Off; // On if MPI reads and writes messages in device memory.

  // The policy of the options -tenon_conversion_transport, _pack_limit, _stores and
  // -tenon_gpu_aware.
  static CarrierPolicy fromOptions(Space space = Space::Host);
  // The part of the text that ranks agree on: "" for the default transport. Pack limits and stores
  // can differ between ranks; whether MPI reads device memory has been agreed on in isGpuAware().
  std::string agreedText() const;
};

// Arguments of a carrier's constructor. The direction must outlive the carrier.
struct CarrierSetup {
  const CommPtr& comm;
  int tag;
  const Direction& direction;
  Index elementBytes;
  const CarrierPolicy& policy;
  const std::string& owner; // Title of the operator, for error texts and the log.
};

class Carrier {
public:
  virtual ~Carrier() = default;

  // Sends the pack parts of x, which must not change before end().
  virtual void begin(const Action& action) = 0;
  // Waits for these chunks of an unpack part and combines them with y. A caller passes all chunks
  // of the part at once, or consecutive intervals of them.
  virtual void receive(const Action& action, std::size_t part, Interval chunks,
                       const Meeting& meeting) = 0;
  // Waits until no other rank reads x.
  virtual void end(const Action& action) = 0;
  // Replaces the remaining calls of an action that has failed; x is not read afterwards.
  virtual void abandon() noexcept {}

  // Prepares actions between two arrays.
  virtual void bind(DTensor& x, DTensor& y) = 0;
  virtual void unbind() = 0;

  // Sizes in bytes of the message buffers of an action. The two directions of a schedule share two
  // wires, which useWires() sets before the first action.
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
