// SPDX-License-Identifier: BSD-2-Clause
// Rows taken by index and summed by index, as a mesh's edges take rows of their nodes and nodes sum rows of
// their edges. The two are adjoint to each other.
//
// The entries of a target are summed in the order of a key that the caller gives, so that a sum does not
// depend on where its entries stand in the list, and with keys that are the same on any partition not on the
// partition.
#pragma once

#include "kernels/base/context.hpp"

#include <vector>

namespace tenon {

// The entries of each target, one target after the other: those of target i are order[first[i]] to
// order[first[i+1] - 1].
struct RowSegments {
  std::vector<Index> first, order;
};
// Entry e belongs to target[e], which is in [0, targets). The entries of a target are in the order of
// key[e], and of equal keys, or without keys (null), in that of e.
RowSegments rowSegments(Index targets, const std::vector<Index>& target, const Index* key);

// The lists of kernels below, in the space of their context.
struct SegmentLists {
  Index targets, entries;
  const Index *first, *order;
};

// y[e,:] = w[e] x[index[e],:] for e in [0, entries); rows of `inner` elements lie one after the other.
// weights may be null, for ones. For float and double.
template <class T>
void gatherRows(KernelContext& context, Index entries, Index inner, const Index* index,
                const double* weights, const T* x, T* y);

// a[i,:] = sum over the entries e of target i of  w[e] m[e,:], or is added to; 0 without entries.
template <class T>
void sumSegments(KernelContext& context, const SegmentLists& lists, Index inner,
                 const double* weights, const T* m, bool adds, T* a);

// a[i,:] = the largest of m[e,:] over the entries of target i, and winner[i,:] the entry that it is from, the
// first of equals; 0 and -1 without entries. A NaN is larger than all numbers.
template <class T>
void maxSegments(KernelContext& context, const SegmentLists& lists, Index inner, const T* m, T* a,
                 Index* winner);
// The adjoint: dm[e,:] = da[i,:] where e is the winner, else 0; target[e] = i.
template <class T>
void maxSegmentsAdjoint(KernelContext& context, Index entries, Index inner, const Index* target,
                        const Index* winner, const T* da, T* dm);

} // namespace tenon
