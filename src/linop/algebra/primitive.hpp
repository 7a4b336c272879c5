// SPDX-License-Identifier: BSD-2-Clause
// The named primitives of parallel programs (Hewett and Grady 2020, Section 3), such as all-gather
// and reduce-scatter. Each is a conversion that changes the property of one grid axis:
//
//     broadcast  R -> B      sum-reduce P -> R     all-reduce     P -> B
//     scatter    R -> S(d)   gather     S -> R     reduce-scatter P -> S(d)
//     slice      B -> S(d)   all-gather S -> B     all-to-all     S -> S(d)
//     zero-pad   S -> P
//
// An axis that begins to split a dimension becomes its minor axis, and each block is divided into
// balanced pieces; an axis that ceases to split one must be its minor axis, and its pieces are
// joined. So only ranks that differ on this axis alone exchange data, and split points set by the
// user are preserved.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

// The primitives of the table above.
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

// The range of a primitive along a grid axis. `dim` is the dimension that the axis begins to split;
// it is ignored unless the new property is S. Throws TENON_ERR_ARG for an axis or dimension out of
// range, and TENON_ERR_LAYOUT if the axis has another property, is not the minor axis of the
// dimension that it ceases to split, or the domain has halos.
Layout primitiveRange(Primitive primitive, const Layout& domain, int axis, int dim = -1);

} // namespace tenon
