// SPDX-License-Identifier: BSD-2-Clause
// Rows that are made of other rows by lists,
//
//     y[i,:] = sum over the entries (index, w) of row i of  w x[index,:]
//
// A gather has one entry for each row, as a mesh's edges take the rows of their nodes; sums of
// segments are its transpose, as nodes add the rows of their edges; and with weights the lists are
// a sparse matrix. The transpose of lists is lists, so that one kernel computes maps and adjoints.
//
// The entries of a row are added in the order of a key that the caller gives, so that a sum does
// not depend on where they stand in the caller's list, and with keys that are the same on any
// partition not on the partition.
#pragma once

#include "kernels/base/context.hpp"

#include <memory>
#include <vector>

namespace tenon {

struct RowLists {
  Index rows = 0;
  std::vector<Index> first; // of each row's entries, and the end of all; none if each row has one
  std::vector<Index> index; // by row
  std::vector<double> weights; // or none: ones
  std::vector<Index>
      to; // of each list: the row of y that it is of; none: that of its number. On the host alone

  struct OnDevice;
  std::shared_ptr<const OnDevice> onDevice; // null on the host

  Index entries() const { return static_cast<Index>(index.size()); }
  // Called once the lists are complete, in the context whose kernels read them.
  void finish(KernelContext& context);
};

// The lists of entries e in the caller's order: entry e is of row[e], and takes row from[e] of x
// with weights[e]. Entries of a row are in the order of key[e], and of equal keys, or without keys,
// in that of e. A null `row` or `from` stands for e itself; null weights for ones.
struct RowEntries {
  Index count = 0;
  const Index *row = nullptr, *from = nullptr;
  const double* weights = nullptr;
  const Index* key = nullptr;
};
RowLists listRows(Index rows, const RowEntries& entries);
// Those of the transpose, in which x has `rows` rows.
RowLists listTransposed(Index rows, const RowEntries& entries);

// y[i,:] is the sum above, or is added to; without entries 0. `inner` elements of each row lie one
// after the other, and rows stepX and stepY elements apart. The arrays are distinct. For float and
// double.
template <class T>
void combineRows(KernelContext& context, const RowLists& lists, Index inner, const T* x,
                 Index stepX, bool adds, T* y, Index stepY);
// The same of the lists begin to end alone, on the host; y is at the row of the first, unless the
// lists say theirs.
template <class T>
void combineSomeRows(KernelContext& context, const RowLists& lists, Index begin, Index end,
                     Index inner, const T* x, Index stepX, bool adds, T* y, Index stepY);

// y[i,:] = the largest of w x[index,:], and winner[i,:] its index, the first of equals; 0 and -1
// without entries. A NaN is larger than all numbers. Winners may be null. Rows are contiguous.
template <class T>
void maximaOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y,
                  Index* winner);
// Its tangent and its adjoint, for lists in which each row of x is an entry once. `transposed` are
// the transposed lists; y has `rows` rows.
template <class T>
void maximaOfRowsTangent(KernelContext& context, const RowLists& transposed, Index rows,
                         Index inner, const Index* winner, const T* dx, T* dy);
template <class T>
void maximaOfRowsAdjoint(KernelContext& context, const RowLists& transposed, Index inner,
                         const Index* winner, const T* dy, T* dx);

// The softmax over the entries of each row, for lists in which each row of x is an entry once:
// y[e,:] = exp(x[e,:]) divided by its sum over the entries of e's row. Its derivative, r = J d, is
// its own transpose; r may be d.
template <class T>
void softmaxOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y);
template <class T>
void softmaxOfRowsDerivative(KernelContext& context, const RowLists& lists, Index inner, const T* y,
                             const T* d, T* r);

// Sums with weights that are data: y[i,:] = sum over the entries e of row i of a[e,h] x[e,h,:], or
// is added to, where x has rows of `heads` times `each` elements; the weights of the lists do not
// count.
template <class T>
void weighHeads(KernelContext& context, const RowLists& lists, Index heads, Index each, const T* a,
                const T* x, bool adds, T* y);
// The adjoint, with the transposed lists of such; dx or da may be null.
template <class T>
void weighHeadsAdjoint(KernelContext& context, const RowLists& transposed, Index heads, Index each,
                       const T* a, const T* x, const T* dy, T* dx, T* da);

} // namespace tenon
