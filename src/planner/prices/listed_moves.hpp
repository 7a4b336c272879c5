// SPDX-License-Identifier: BSD-2-Clause
// What the operators that go by lists send, index maps and linked halos, and where layers lie that
// work with lists.
//
// Such a layer has no choice: its rows lie as its lists say, on the process grid of these. Its
// native is where it lies in a network without a plan, whose inputs lie as the caller says; so has
// every layer of such a network. There cuts are the lists' own, while other parallelizations of the
// layers without lists have balanced ones.
#pragma once

#include "machine/price.hpp"
#include "planner/prices/declared_network.hpp"

#include <string>

namespace tenon {

// Where a layer uses its inputs, without halos, and where its output and those of its dependents
// lie.
struct NativeLayouts {
  Layouts uses, outputs;
};
// One for each layer. Throws what a layer throws that cannot have these inputs, and
// TENON_ERR_SUPPORT for patches on which a layer would work for itself.
std::vector<NativeLayouts> nativeLayouts(const DeclaredNetwork& network, const Layouts& inputs);

// A layout for each process grid, with its properties, on which layers without a choice lie, but
// for those that pinned ends of the network have; the names are those in parallelizations.
struct ListedField {
  std::string name;
  Layout layout;
};
std::vector<ListedField> listedFields(const DeclaredNetwork& network,
                                      const std::vector<NativeLayouts>& natives,
                                      const std::vector<std::optional<Layout>>& pinned);
// The parallelizations of layers without a choice end with this behind the name of the field.
inline constexpr std::string_view kListedEnd = "lists";

inline bool goesByLists(const OperatorEntry& op) {
  return op.map || op.rule;
}
// What a rank sends and receives in one application, or of the adjoint. Lists of an index map are
// of the rank that has it; those of a rule can be made for any.
struct ListedTraffic {
  Traffic sent, received;
};
ListedTraffic listedTraffic(const OperatorEntry& op, bool adjoint, int rank);
// Of an index map what any rank sends at most, and what any receives at most; or where that is not
// known what this rank does.
ListedTraffic mostTraffic(const OperatorEntry& op, bool adjoint);
// By the formula of an exchange (machine/price.hpp), at the rates of the outermost level between
// ranks of the grid. Of an index map with what any rank sends and receives at most, where that is
// known.
double priceOfLists(const OperatorEntry& op, bool adjoint, Index elementBytes,
                    const LinkRates& rates, Looks looks);
double priceOfLists(const ListedTraffic& traffic, const Grid& grid, Index elementBytes,
                    const LinkRates& rates);

} // namespace tenon
