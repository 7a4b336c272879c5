// SPDX-License-Identifier: BSD-2-Clause
// Creates the operator that converts a tensor from one layout to another. How it is carried out, by
// one exchange of messages, a chain of exchanges and MPI collectives, a reduction program or NCCL,
// is decided as data (reduction/movement/movement.hpp), from which the operator is then made.
#pragma once

#include "linop/exchange/conversion.hpp"
#include "reduction/movement/movement.hpp"

namespace tenon {

struct MovementPolicy {
  RoutePolicy route;
  CarrierPolicy carrier;
  SumPolicy sums = {};

  // The policy of the options, for arrays that are expected in this space.
  static MovementPolicy fromOptions(Space space = Space::Host);
  // The target of this policy on the ranks of a communicator. Without communication. Throws the
  // errors of a machine file, which can be missing on some ranks.
  MovementTarget on(const Communicator& comm) const;
};

// How makeConversion() carries out a conversion, as data. Without communication.
Movement movementFor(const Communicator& comm, const Layout& from, const Layout& to,
                     TenonDataType type, const MovementPolicy& policy);

// Makes a conversion. Collective. The ranks agree first, and can then create a communicator, if its
// movement has collectives, or if the policy can replace its route by a reduction program or NCCL.
// Throws TENON_ERR_SHAPE if the global shapes differ, and TENON_ERR_SUPPORT if the transport is not
// available.
LinearOpRef makeConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                           TenonDataType type,
                           const MovementPolicy& policy = MovementPolicy::fromOptions());

} // namespace tenon
