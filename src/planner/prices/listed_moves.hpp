// SPDX-License-Identifier: BSD-2-Clause
// Traffic of the operators that use lists (index maps and linked halos), and the layouts of layers
// with lists.
//
// A layer with lists, such as a gather by the edges of a mesh, has no choice: its rows are
// distributed as its lists are, on their process grid. The native layouts of a layer are those that
// it has in a network without a plan, for the layouts of the inputs that the caller passes; all
// layers of such a network have them. Native layouts have the split points of the lists, whereas
// other parallelizations of layers without lists have even ones.

#pragma once

#include "machine/price.hpp"
#include "planner/prices/declared_network.hpp"

#include <string>

namespace tenon {

// The layouts in which a layer reads its inputs, without halos, and those of its output and of its
// dependents' outputs.
struct NativeLayouts {
  Layouts uses, outputs;
};
// One entry for each layer. Throws the error of a layer that cannot have these inputs, and
// TENON_ERR_SUPPORT for patches on which a layer would work independently.
std::vector<NativeLayouts> nativeLayouts(const DeclaredNetwork& network, const Layouts& inputs);

// One layout for each pair of a process grid and properties that layers without a choice have,
// except those of pinned ends. The names appear in parallelizations.
struct ListedField {
  std::string name;
  Layout layout;
};
std::vector<ListedField> listedFields(const DeclaredNetwork& network,
                                      const std::vector<NativeLayouts>& natives,
                                      const std::vector<std::optional<Layout>>& pinned);
// Ends the text of a parallelization of a layer without a choice, after the name of the field.
inline constexpr std::string_view kListedEnd = "lists";

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
