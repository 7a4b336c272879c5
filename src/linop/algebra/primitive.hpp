// SPDX-License-Identifier: BSD-2-Clause
// The named primitives of parallel programs (Hewett and Grady 2020, Section 3): conversions that
// change the property of one grid axis.
//
//     broadcast  R -> B      sum-reduce P -> R     all-reduce     P -> B
//     scatter    R -> S(d)   gather     S -> R     reduce-scatter P -> S(d)
//     slice      B -> S(d)   all-gather S -> B     all-to-all     S -> S(d)
//     zero-pad   S -> P
//
// An axis that comes to split a dimension becomes its minor axis, and each part is cut in balanced
// pieces; an axis that ceases to split one must be its minor axis, and its pieces are joined. So
// the ranks that exchange data differ on this axis alone, and the caller's own cuts stay.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

enum class Primitive {
  Broadcast,
  SumReduce,
  AllReduce,
  Scatter,
  Gather,
  AllGather,
  ReduceScatter,
  AllToAll,
  Slice,
  ZeroPad
};

// The range of a primitive along a grid axis. `dim` is the dimension that the axis is to split; it
// is not read where the range is no S. Throws TENON_ERR_ARG for an axis or dimension that does not
// exist, TENON_ERR_LAYOUT if the axis has another property, is not the minor one of the dimension
// that it leaves, or the domain has halos.
Layout primitiveRange(Primitive primitive, const Layout& domain, int axis, int dim = -1);

// The same tensor on another process: send and receive. The grid must have one process.
Layout sendReceiveRange(const Layout& domain, int rank, int ranks);

} // namespace tenon
