// SPDX-License-Identifier: BSD-2-Clause
// Rows that are weighted sums of other rows, given by lists:
//
//     y[i,:] = sum over the entries (index, w) of row i of  w x[index,:]
//
// A gather has one entry per row, as when the edges of a mesh read the rows of their nodes. Its
// transpose is a segmented sum, as when nodes add the rows of their edges. With weights the lists
// are a sparse matrix. The transpose of lists is lists, so one kernel computes maps and adjoints.
// Example: y0 = x2 + x0 and y1 = x1 are the entries row = {0, 0, 1}, from = {2, 0, 1}, for which
// listRows() returns first = {0, 2, 3} and index = {2, 0, 1}.
//
// The entries of a row are added in the order of user-supplied keys. A sum is then independent of
// the order in the user's list and, if the keys are the same on every partition, of the partition.
//
// The file has the lists, sums by them (combineRows), maxima, softmax over the entries of a row,
// and sums whose weights are data (weighHeads, for attention on meshes), with derivatives.
#pragma once

#include "kernels/base/context.hpp"

#include <memory>
#include <vector>

namespace tenon {

// The lists of a map between rows, which kernels read; made by listRows() or listTransposed().
struct RowLists {
  Index rows = 0;
  // First entry of each row, then the end; empty if every row has one entry.
  std::vector<Index> first;
  std::vector<Index> index;     // row of x of each entry, ordered by row of y
  std::vector<double> weights;  // empty: ones
  std::vector<Index> rowOfList; // row of y of each list; empty: list i is row i. Host only

  struct OnDevice;
  std::shared_ptr<const OnDevice> onDevice; // null on the host

  Index entries() const { return static_cast<Index>(index.size()); }
  // To be called after the lists are complete, with the context whose kernels read them.
  void finish(KernelContext& context);
};

// Unsorted entries: entry e adds weights[e] times row from[e] of x to row[e]. The entries of a row
// are sorted by key[e], and by e if keys are equal or absent. A null `row` or `from` stands for e
// itself; null weights stand for ones.
struct RowEntries {
  Index count = 0;
  const Index *row = nullptr, *from = nullptr;
  const double* weights = nullptr;
  const Index* key = nullptr;
};
RowLists listRows(Index rows, const RowEntries& entries);
// The lists of the transpose, in which x has `rows` rows.
RowLists listTransposed(Index rows, const RowEntries& entries);

// y[i,:] = the sum above, or is incremented if `adds`; rows without entries are 0. A row has
// `inner` contiguous elements; stepX and stepY are row strides. x and y must not overlap.
// Instantiated for float and double.
template <class T>
void combineRows(KernelContext& context, const RowLists& lists, Index inner, const T* x,
                 Index stepX, bool adds, T* y, Index stepY);
// combineRows() for the lists [begin, end) only, on the host. y points to the row of the first
// list, unless the lists name their rows (`rowOfList`).
template <class T>
void combineSomeRows(KernelContext& context, const RowLists& lists, Index begin, Index end,
                     Index inner, const T* x, Index stepX, bool adds, T* y, Index stepY);

// y[i,:] = the largest w x[index,:], and winner[i,:] = its index, the first of equals; 0 and -1 for
// rows without entries. NaN is larger than any number. winner can be null. Rows are contiguous.
template <class T>
void maximaOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y,
                  Index* winner);
// Its tangent and its adjoint, for lists that contain each row of x once. `transposed` are the
// transposed lists; y has `rows` rows.
template <class T>
void maximaOfRowsTangent(KernelContext& context, const RowLists& transposed, Index rows,
                         Index inner, const Index* winner, const T* dx, T* dy);
template <class T>
void maximaOfRowsAdjoint(KernelContext& context, const RowLists& transposed, Index inner,
                         const Index* winner, const T* dy, T* dx);

// The softmax over the entries of each row, for lists that contain each row of x once: y[e,:] =
// exp(x[e,:]) divided by the sum of exp(x) over the entries of the same row. Its derivative, r = J
// d, is symmetric; r can be d.
template <class T>
void softmaxOfRows(KernelContext& context, const RowLists& lists, Index inner, const T* x, T* y);
template <class T>
void softmaxOfRowsDerivative(KernelContext& context, const RowLists& lists, Index inner, const T* y,
                             const T* d, T* r);

// Sums whose weights are data, as in attention with several heads: y[i,h,:] (+)= sum over the
// entries e of row i of a[e,h] x[e,h,:], where a row of x has `heads` times `each` elements, and h
// is the head. The weights of the lists are ignored.
template <class T>
void weighHeads(KernelContext& context, const RowLists& lists, Index heads, Index each, const T* a,
                const T* x, bool adds, T* y);
// The adjoint, with the transposed lists; dx or da can be null.
template <class T>
void weighHeadsAdjoint(KernelContext& context, const RowLists& transposed, Index heads, Index each,
                       const T* a, const T* x, const T* dy, T* dx, T* da);

} // namespace tenon
