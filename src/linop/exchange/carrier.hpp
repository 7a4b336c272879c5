// SPDX-License-Identifier: BSD-2-Clause
// How the parts of one direction of a schedule travel from rank to rank. A carrier knows neither
// sums nor their order: it packs or shows what leaves, and hands over what has come when it is
// asked for, part by part. An action calls begin(), receive() for each unpack part of another rank,
// end().
#pragma once

#include "comm/transport.hpp"
#include "linop/exchange/region_run.hpp"
#include "linop/exchange/wire.hpp"

#include <memory>

namespace tenon {

// Which carrier is to be used, and what it does with large parts.
struct CarrierPolicy {
  Transport transport = Transport::Auto;
  Index packLimit = 8192; // larger parts, in bytes, of arrays in the arena are read in place
  StoreWay stores = StoreWay::Auto;
  Space space =
      Space::Host; // of the arrays that are expected; others are prepared for when they come
  GpuAware gpuAware = GpuAware::Off; // whether MPI reads and writes messages in device memory

  // The policy that -tenon_conversion_transport, _pack_limit, _stores and -tenon_gpu_aware give.
  static CarrierPolicy fromOptions(Space space = Space::Host);
  // The part of a text that ranks agree on: "" for the default transport. Limits and stores are
  // each rank's own matter, and whether MPI reaches device memory is agreed on where it is asked
  // (isGpuAware()).
  std::string agreedText() const;
};

// What a carrier is made of. The direction must outlive the carrier.
struct CarrierSetup {
  const CommPtr& comm;
  int tag;
  const Direction& direction;
  Index elementBytes;
  const CarrierPolicy& policy;
  const std::string& owner; // for messages
};

class Carrier {
public:
  virtual ~Carrier() = default;

  // Sends the parts of x, which stays as it is until end().
  virtual void begin(const Action& action) = 0;
  // Waits for these chunks of a part and combines them with y: all of them, or one after the other.
  virtual void receive(const Action& action, std::size_t part, Interval chunks,
                       const Meeting& meeting) = 0;
  // Waits until nobody reads x any more.
  virtual void end(const Action& action) = 0;
  // Takes the place of the rest of an action that has failed; x is not read any more.
  virtual void abandon() noexcept {}

  // Prepares actions between two arrays.
  virtual void bind(DTensor& x, DTensor& y) = 0;
  virtual void unbind() = 0;

  // The sizes of the buffers that an action needs. Both directions of a schedule share two wires,
  // which are set before the first action.
  virtual Index sendBytes() const = 0;
  virtual Index receiveBytes() const = 0;
  virtual void useWires(Wire& send, Wire& receive) = 0;
  // The bytes that the carrier holds beside the wires.
  virtual Index ownBytes() const = 0;
  // The ways of the parts in words, such as "shared, messages".
  virtual std::string describe() const = 0;
};

// Makes the carrier of arrays in a space. Collective. Throws TENON_ERR_SUPPORT if the transport is
// shared and the node has no arena in that space.
std::unique_ptr<Carrier> makeCarrier(const CarrierSetup& setup, Space space);

} // namespace tenon
