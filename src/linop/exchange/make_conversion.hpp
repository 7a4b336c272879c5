// SPDX-License-Identifier: BSD-2-Clause
// Creates the operator that converts a tensor from one layout to another, and chooses how: by one
// exchange of messages (conversion.hpp), by a chain of exchanges and MPI collectives (the route,
// machine/route.hpp), or, if the conversion sums over grid axes, by a reduction method
// (reduction_method.hpp), such as a reduction program or NCCL.
#pragma once

#include "linop/exchange/conversion.hpp"
#include "linop/exchange/reduction_method.hpp"
#include "machine/route.hpp"

namespace tenon {

struct MovementPolicy {
  RoutePolicy route;
  CarrierPolicy carrier;
  // Methods that can offer to carry out a conversion that sums.
  std::vector<ReductionMethodRef> sums;

  // The policy of the options, for arrays that are expected in this space.
  static MovementPolicy fromOptions(Space space = Space::Host);
};

// Makes a conversion. Collective. It communicates only for collectives and reduction methods: the
// ranks then agree first, and can create a communicator. Throws TENON_ERR_SHAPE if the global
// shapes differ, and TENON_ERR_SUPPORT if the transport is not available. An offer of
// the reduction methods is requested if the conversion sums over grid axes, unless the route policy
// is "exchange".
LinearOpRef makeConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                           TenonDataType type,
                           const MovementPolicy& policy = MovementPolicy::fromOptions());

// Messages and elements that a rank sends in an Apply of such a conversion (Role::Source), or in
// its adjoint (Role::Target). Makes the same choice as makeConversion(), without communication.
Traffic sentInConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                         TenonDataType type, const MovementPolicy& policy, int rank, Role role);

} // namespace tenon
