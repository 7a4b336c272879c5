// SPDX-License-Identifier: BSD-2-Clause
// Chooses how a conversion is carried out: as one exchange (conversion.hpp), as a chain of
// exchanges and collectives on a route of `machine`, or, where it only sums, by a reduction method
// (reduction_method.hpp).
#pragma once

#include "linop/exchange/conversion.hpp"
#include "linop/exchange/reduction_method.hpp"
#include "machine/route.hpp"

namespace tenon {

struct MovementPolicy {
  RoutePolicy route;
  CarrierPolicy carrier;
  std::vector<ReductionMethodRef> sums; // asked for offers where a conversion only sums

  // The policy that options give, for arrays that are expected in this space.
  static MovementPolicy fromOptions(Space space = Space::Host);
};

// Makes a conversion. Collective; it communicates only if there are collectives or reduction
// methods: then ranks agree, and may create a communicator. Throws TENON_ERR_SHAPE if the global
// shapes differ, TENON_ERR_SUPPORT if the transport is not to be had. The reduction methods are
// requested a conversion that sums over grid axes and does nothing else, unless the route's policy
// wants one exchange.
LinearOpRef makeConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                           TenonDataType type,
                           const MovementPolicy& policy = MovementPolicy::fromOptions());

// What a rank sends in an Apply of such a conversion, as a source, or in its adjoint, as a target:
// the same choice, without communication.
Traffic sentInConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                         TenonDataType type, const MovementPolicy& policy, int rank, Role role);

} // namespace tenon
