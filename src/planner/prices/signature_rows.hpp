// SPDX-License-Identifier: BSD-2-Clause
// What a parallelization means for a layer: a row of its signature table for each axis of the grid,
// found by what it does. n splits dimension 0 of the output, and o dimension 1; i splits dimension
// 1 of the input and leaves contributions, also beside o on other axes; d, h and w split a
// dimension of space. On the grid of a pinned field, k leaves the input as it lies. The labels of
// the rows are the layer's signature.
#pragma once

#include "planner/prices/declared_network.hpp"
#include "planner/prices/field_parallelizations.hpp"
#include "planner/prices/parallelization.hpp"

namespace tenon {

// A row of the table for each axis.
using SignatureRows = std::vector<const SignatureRow*>;

// Adds the rows of a parallelization to an empty list. Returns the reason if the layer has none,
// and "" if it has. The table is that of the layer, and keeps the rows.
std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, int axes,
                     const Parallelization& parallelization, SignatureRows& rows);
std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, const Field& field,
                     const std::string& labels, SignatureRows& rows);

// The text of the rows as a signature. The last axes are of space: the last one is the major one.
std::string signatureOf(const SignatureRows& rows, int space = 0);

// Parallelizations on the grid of a field are written with its name and their signature:
// "input:h,w". Labels on axes of one process say nothing and are left out, and "input:all" is that
// of a field on one process. The name in such a text, and "" in that of a parallelization on the
// fine grid.
std::string fieldText(const std::string& field, const std::string& signature, const Grid& grid);
std::string fieldIn(const std::string& parallelization);
// A parallelization under which the output is cut in balance ends with this.
inline constexpr std::string_view kBalancedEnd = ",balanced";
// The text without it.
std::string withoutBalanced(const std::string& parallelization);
// The signature that the text of a parallelization on the fine grid means for a layer, where input
// channels may be split. Throws TENON_ERR_OPTION for a text that is not written like the layer's
// parallelizations on this grid, or for a parallelization that it cannot have.
std::string signatureOf(const std::string& parallelization, const DeclaredLayer& layer,
                        const FineGrid& grid);

// The label by which the output channels are split: g for groups, where there are any, or o.
char channelLabel(const SignatureTable& table);
// The labels of the spatial dimensions that may be split.
std::string spatialLabels(const DeclaredLayer& layer);
bool splitsSpace(Property property);
// The number of the spatial dimension that it splits.
std::size_t spatialNumber(Property property);

} // namespace tenon
