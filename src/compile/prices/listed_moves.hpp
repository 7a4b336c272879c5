// SPDX-License-Identifier: BSD-2-Clause
// Traffic and prices of the operators that use lists: index maps and linked halos.

#pragma once

#include "declaration/core/declaration.hpp"
#include "machine/price.hpp"

namespace tenon {

inline bool goesByLists(const OperatorEntry& op) {
  return op.map || op.rule;
}
// Traffic of a rank in one application or in its adjoint. Lists of an index map exist on the local
// rank only; those of a rule can be made for any rank.
struct ListedTraffic {
  Traffic sent, received;
};
ListedTraffic listedTraffic(const OperatorEntry& op, bool adjoint, int rank);
// Upper bound, over all ranks, of the traffic sent and received through an index map; if it is
// unknown, the traffic of this rank.
ListedTraffic mostTraffic(const OperatorEntry& op, bool adjoint);
// Seconds by the formula of an exchange (machine/price.hpp), at the rates of the outermost level
// between ranks of the grid. For an index map the traffic is the maximum over all ranks, if known.
double priceOfLists(const OperatorEntry& op, bool adjoint, Index elementBytes,
                    const LinkRates& rates, Sampling sampling);
double priceOfLists(const ListedTraffic& traffic, const Grid& grid, Index elementBytes,
                    const LinkRates& rates);

} // namespace tenon
