// SPDX-License-Identifier: BSD-2-Clause
// What any steps that lead from one layout to another cost at least, by their properties alone: a bound
// that holds for every route, whatever the cuts, and costs a few additions.
//
// The price of steps is that of the dearest rank in each, and so at least the mean of all ranks over all
// steps. A rank must receive each cell of its target that it does not hold; and where the source's addends
// are summed, each cell, since the others' addends are elsewhere. Of copies in a P target one must come. The
// dual counts what is sent: each addend of a rank that is not to end there; and where the target has
// copies, each. As much is sent as is received.
#pragma once

#include "geometry/layout.hpp"
#include "machine/link.hpp"

namespace tenon {

class LeastPrice {
public:
  // Between layouts on these meshes, without margins.
  LeastPrice(const Layout& from, const Layout& to, Index cellBytes, const LinkRates& rates);

  // How often the cells of a tensor are held by all ranks together.
  struct Spread {
    double held = 1, addends = 1, copies = 1;
  };
  static Spread spreadOf(const Layout& layout);
  // With another property on one axis.
  static Spread spreadOf(const Layout& layout, int axis, Property property);

  double seconds(const Spread& from, const Spread& to) const;

private:
  double bytes_ = 0; // of a tensor, for each rank
  double latency_ = 0, bandwidth_ = 0, copyBandwidth_ = 0;
};

} // namespace tenon
