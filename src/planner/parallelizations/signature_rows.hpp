// SPDX-License-Identifier: BSD-2-Clause
// Translates a parallelization, such as "n4,o2,h2", into the signature of a layer. Layer types name
// the rows of their signature tables freely, so for each axis of the process grid the row is found
// by its effect:
//
//   label     splits
//   n         dimension 0 of the output (the batch)
//   o         dimension 1 of the output (its channels)
//   i         dimension 1 of the input; the output holds partial sums
//   d, h, w   a spatial dimension
//   k         nothing new: the input keeps its distribution along this axis. Only on the grid of a
//             field: an input or output whose layout the program has fixed.
#pragma once

#include "planner/parallelizations/declared_network.hpp"
#include "planner/parallelizations/field_parallelizations.hpp"
#include "planner/parallelizations/parallelization.hpp"

namespace tenon {

// One row of the table for each axis.
using SignatureRows = std::vector<const SignatureRow*>;

// Appends the rows of a parallelization to an empty list: on the fine grid, whose axes are the
// prime factors of the number of processes, or on the grid of a field. Returns "", or the reason
// why the layer has no such rows. The rows are pointers into the table, which must be that of the
// layer.
std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, int axes,
                     const Parallelization& parallelization, SignatureRows& rows);
std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, const Field& field,
                     const std::string& labels, SignatureRows& rows);

// The rows as the text of a signature. If space is split by the last `space` axes, the last of them
// is the slowest, which the text says by a '-': "n,h,w-".
std::string signatureOf(const SignatureRows& rows, int space = 0);

// The text of a parallelization on the grid of a field is the field's name and the signature:
// "input:h,w". Labels on axes of one process are omitted, and "input:all" is that of a field on one
// process. fieldIn() returns the name in such a text, and "" for a parallelization on the fine
// grid.
std::string fieldText(const std::string& field, const std::string& signature, const Grid& grid);
std::string fieldIn(const std::string& parallelization);
// The suffix of the variant of a parallelization whose output is divided evenly.
inline constexpr std::string_view kBalancedEnd = ",balanced";
// The text without this ending.
std::string withoutBalanced(const std::string& parallelization);
// The signature of a layer for the text of a parallelization on the fine grid, in which input
// channels can be split. Throws TENON_ERR_OPTION for a text that is not written like the layer's
// parallelizations on this grid, or for a parallelization that the layer cannot have.
std::string signatureOf(const std::string& parallelization, const DeclaredLayer& layer,
                        const FineGrid& grid);

// The label that splits the output channels: g if the layer has groups, otherwise o.
char channelLabel(const SignatureTable& table);
// The labels of the spatial dimensions that can be split.
std::string spatialLabels(const DeclaredLayer& layer);
bool splitsSpace(Property property);
// The index of the spatial dimension that the property splits.
std::size_t spatialNumber(Property property);

} // namespace tenon
