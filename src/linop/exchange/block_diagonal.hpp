// SPDX-License-Identifier: BSD-2-Clause
// BlockDiagonal: the direct sum of operators, y[i] <- F_i x[i]. Each operator is one exchange, such
// as a halo exchange, an index map, or an adjoint of these, and the operators can differ in
// layouts, element types and halos. They are carried out as one exchange, in which each rank is
// sent one message, or one part through its lane, with the elements of all fields.
//
// An action is one of several fields (linear_op.hpp), as many as there are operators. Results are
// bitwise those of the operators, each applied to its field.
#pragma once

#include "linop/exchange/field_executors.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// Collective. A block diagonal among the operators is replaced by its own operators. Throws
// TENON_ERR_ARG for an empty list, for more than `kMaxBlocks` operators, and for different
// communicators, and TENON_ERR_SUPPORT for an operator that is not one exchange; the text names it.
LinearOpRef blockDiagonal(const std::vector<LinearOpRef>& ops, const CarrierPolicy& policy);

inline constexpr std::size_t kMaxBlocks = 64;

} // namespace tenon
