// SPDX-License-Identifier: BSD-2-Clause
// The prices of machine/price.hpp of many moves on one mesh, with flows from a table.
#pragma once

#include "geometry/flow_table.hpp"
#include "machine/price.hpp"

namespace tenon {

// Of the positions of Looks::Few, for rates whose units are as UnitAxes says; none if a table cannot hold them.
std::unique_ptr<FlowTable> makeFlowTable(const MeshPtr& mesh, const LinkRates& rates);

// The table must be of these rates; it serves moves on its own mesh.
MovePrice priceOfMove(const Layout& from, const Layout& to, Index cellBytes, const LinkRates& rates,
                      Looks looks, FlowTable* table);

} // namespace tenon
