// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of gather, segment sum, edge attention and sparse matrix, on tensors [rows,
// channels...] whose rows belong to nodes or edges of a mesh:
//
//   gather          edge e  <- row of the node at an end of e
//   segment sum     node i  <- sum, mean or maximum over the edges of node i
//   edge attention  node i  <- softmax of scores over the edges of i, then the weighted sum
//   sparse matrix   row i   <- sum of w_ij times row j
//
// An output row combines input rows by a list of entries (output row, input row, weight). For the
// three edges 0 -> 1, 0 -> 2 and 1 -> 2, the gather of sources has the entries (0,0), (1,0), (2,1):
// row e is a copy of the row of e's source. The segment sum at targets has (1,0), (2,1), (2,2): row
// 2 is the sum of the rows of edges 1 and 2. At set-up the entries are sorted by output row for
// forward and tangent, and by input row for the adjoint. A maximum saves in its workspace the input
// row from which it came. All indices are local: exchanges of the layer have brought the rows to
// this rank.
#include "declaration/mesh/edge_types.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/row_lists.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/mesh/listed_kernel.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// Number of elements of a row on this rank.
Index elementsOfRow(const Layout& layout, int rank) {
  const Box box = layout.boxOfRank(rank);
  Index inner = 1;
  for (std::size_t d = 1; d < box.size(); ++d)
    inner *= box[d].size();
  return inner;
}

// Number of rows on this rank.
Index rowCount(const Layout& layout, int rank) {
  return layout.boxOfRank(rank)[0].size();
}

InRow wholeRow(Index inner) {
  return {.inner = inner, .begin = 0, .step = inner};
}

// Sets to zero the part of each row that `in` describes, in the first `rows` rows of y.
void zero(Index rows, const InRow& in, DTensor& y) {
  const Index extent[] = {rows, in.inner}, strides[] = {in.step, 1};
  if (rows * in.inner > 0)
    visitFloating(y.dataType(), [&]<class T>(T) {
      fillBlock(y.context(), 2, extent, T(0), y.mutableData<T>() + in.begin, strides);
    });
}

// y[i, part of the row] = sum over the entries of row i of weight * x[index, :]
class CombinedRows final : public ListedKernel {
public:
  CombinedRows(KernelContext& context, Index rowsOfX, Index rowsOfY, const RowEntries& entries,
               const InRow& in, const char* what)
      : ListedKernel(in), forward_(listRows(rowsOfY, entries)),
        adjoint_(listTransposed(rowsOfX, entries)), what_(what) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      combineRows<T>(y.context(), forward_, in_.inner, x.data<T>(), in_.inner, /*adds=*/false,
                     y.mutableData<T>() + in_.begin, in_.step);
    });
  }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses& p, DTensor& dy) override {
    if (dx)
      return forward(*dx, p, dy, nullptr);
    zero(forward_.rows, in_, dy);
  }
  void adjoint(const KernelPoint& at, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      visitFloating(dy.dataType(), [&]<class T>(T) {
        combineRows<T>(dy.context(), adjoint_, in_.inner, dy.data<T>() + in_.begin, in_.step,
                       at.adds, dx->mutableData<T>(), in_.inner);
      });
  }
  std::string describe() const override { return what_; }
  bool runsOnDevice() const override { return true; }
  const RowLists* lists() const override { return &forward_; }

private:
  RowLists forward_, adjoint_;
  const char* what_;
};

// Copies each row to its part of a wider row: y[i, begin + c] = x[i, c].
class PlacedRows final : public ListedKernel {
public:
  PlacedRows(Index rows, const InRow& in) : ListedKernel(in), rows_(rows) {}

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      copy(y.context(), x.data<T>(), in_.inner, y.mutableData<T>() + in_.begin, in_.step);
    });
  }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses& p, DTensor& dy) override {
    if (dx)
      return forward(*dx, p, dy, nullptr);
    zero(rows_, in_, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      visitFloating(dy.dataType(), [&]<class T>(T) {
        copy(dy.context(), dy.data<T>() + in_.begin, in_.step, dx->mutableData<T>(), in_.inner);
      });
  }
  std::string describe() const override { return "rows of edges"; }
  bool runsOnDevice() const override { return true; }

private:
  template <class T>
  void copy(KernelContext& context, const T* x, Index stepX, T* y, Index stepY) const {
    const Index extent[] = {rows_, in_.inner}, read[] = {stepX, 1}, write[] = {stepY, 1};
    if (rows_ * in_.inner > 0)
      blockCombine(context, Combine::Copy, 2, extent, x, read, y, write);
  }

  Index rows_;
};

// y[i, c] = maximum of x[e, c] over the edges e of node i. The derivative goes to the row of this
// maximum; among equal rows the first in the order of the edge keys counts.
class RowMaxima final : public OneInputKernel {
public:
  RowMaxima(KernelContext& context, Index rowsOfX, Index rowsOfY, const RowEntries& entries,
            Index inner)
      : forward_(listRows(rowsOfY, entries)), adjoint_(listTransposed(rowsOfX, entries)),
        inner_(inner) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      maximaOfRows<T>(y.context(), forward_, inner_, x.data<T>(), y.mutableData<T>(),
                      workspace ? workspace->data<Index>() : nullptr);
    });
  }
  void tangent(const KernelPoint& at, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (!dx)
      return scaleArray(0, dy);
    visitFloating(dy.dataType(), [&]<class T>(T) {
      maximaOfRowsTangent<T>(dy.context(), adjoint_, forward_.rows, inner_,
                             at.workspace->data<Index>(), dx->data<T>(), dy.mutableData<T>());
    });
  }
  void adjoint(const KernelPoint& at, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      visitFloating(dy.dataType(), [&]<class T>(T) {
        maximaOfRowsAdjoint<T>(dy.context(), adjoint_, inner_, at.workspace->data<Index>(),
                               dy.data<T>(), dx->mutableData<T>());
      });
  }
  std::string describe() const override { return "maxima of rows"; }
  bool runsOnDevice() const override { return true; }

private:
  RowLists forward_, adjoint_;
  Index inner_;
};

// a[e, h] = exp(s[e, h]) / sum of exp(s[e', h]) over all edges e' of the node of e, for each head
// h.
class RowSoftmax final : public OneInputKernel {
public:
  RowSoftmax(KernelContext& context, Index nodes, const RowEntries& entries, Index heads)
      : lists_(listRows(nodes, entries)), heads_(heads) {
    lists_.finish(context);
  }

  void forward(const DTensor& s, ParameterUses&, DTensor& a, Buffer*) override {
    visitFloating(a.dataType(), [&]<class T>(T) {
      softmaxOfRows<T>(a.context(), lists_, heads_, s.data<T>(), a.mutableData<T>());
    });
  }
  void tangent(const KernelPoint& at, const DTensor* ds, ParameterUses&, DTensor& da) override {
    if (ds)
      differentiate(*at.y, *ds, da);
    else
      scaleArray(0, da);
  }
  void adjoint(const KernelPoint& at, const DTensor& da, ParameterUses&, DTensor* ds) override {
    if (ds)
      differentiate(*at.y, da, *ds);
  }
  std::string describe() const override { return "softmax of rows"; }
  bool runsOnDevice() const override { return true; }

private:
  // The Jacobian of a softmax is symmetric, so tangent and adjoint are the same map of `direction`.
  void differentiate(const DTensor& a, const DTensor& direction, DTensor& result) const {
    visitFloating(result.dataType(), [&]<class T>(T) {
      softmaxOfRowsDerivative<T>(result.context(), lists_, heads_, a.data<T>(), direction.data<T>(),
                                 result.mutableData<T>());
    });
  }

  RowLists lists_;
  Index heads_;
};

// y[i,h,:] = sum over the edges e of node i of a[e,h] v[e,h,:] for each head h, from the weights a
// (input 0) and the rows v (input 1).
class WeighedRows final : public LocalKernel {
public:
  WeighedRows(KernelContext& context, Index nodes, const RowEntries& entries, Index heads,
              Index perHead)
      : forward_(listRows(nodes, entries)), adjoint_(listTransposed(entries.count, entries)),
        heads_(heads), perHead_(perHead) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    add(*x[0], *x[1], /*adds=*/false, y);
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    if (!dx[0] && !dx[1])
      return scaleArray(0, dy);
    if (dx[0])
      add(*dx[0], *at.inputs[1], /*adds=*/false, dy);
    if (dx[1])
      add(*at.inputs[0], *dx[1], /*adds=*/dx[0] != nullptr, dy);
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      weighHeadsAdjoint<T>(dy.context(), adjoint_, heads_, perHead_, at.inputs[0]->data<T>(),
                           at.inputs[1]->data<T>(), dy.data<T>(),
                           dx[1] ? dx[1]->mutableData<T>() : nullptr,
                           dx[0] ? dx[0]->mutableData<T>() : nullptr);
    });
  }
  std::string describe() const override { return "sums of rows by their weights"; }
  bool runsOnDevice() const override { return true; }

private:
  void add(const DTensor& a, const DTensor& v, bool adds, DTensor& y) const {
    visitFloating(y.dataType(), [&]<class T>(T) {
      weighHeads<T>(y.context(), forward_, heads_, perHead_, a.data<T>(), v.data<T>(), adds,
                    y.mutableData<T>());
    });
  }

  RowLists forward_, adjoint_;
  Index heads_, perHead_;
};

template <class T>
const T* ifAny(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

// The edges as list entries (output row, input row, weight). Null lists mean that entry e has row
// e, for output and input; callers replace one or both.
RowEntries entriesOf(const Edges& edges) {
  return {.count = edges.count(),
          .row = nullptr,
          .from = nullptr,
          .weights = ifAny(edges.weights()),
          .key = ifAny(edges.key())};
}

// Weights of a mean: w divided by the sum of weights at the edge's node, over all ranks. If one
// rank has all edges of its nodes, it adds the weights in the order of the edge keys, the order in
// which the rows are added. This makes results independent of the partition to the last bit.
std::vector<double> meanWeights(const Edges& edges, const Edges::End& end, Index nodes) {
  std::vector<double> totals, weights = edges.weights();
  weights.resize(end.at.size(), 1);
  // If edges of a node are on several ranks, `end` has the totals over all ranks.
  if (end.totals) {
    totals = *end.totals;
  } else {
    totals.assign(static_cast<std::size_t>(nodes), 0);
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    if (const std::vector<Index>& key = edges.key(); !key.empty())
      std::ranges::stable_sort(order, {}, [&](std::size_t e) { return key[e]; });
    for (const std::size_t e : order)
      totals[end.at[e]] += weights[e];
  }
  for (std::size_t e = 0; e < weights.size(); ++e) {
    if (totals[end.at[e]] == 0)
      throw Error(TENON_ERR_ARG,
                  "the weights of a node's edges add up to 0, so that they have no mean; use the "
                  "aggregation \"sum\", or other weights");
    weights[e] /= totals[end.at[e]];
  }
  return weights;
}

// The declaration of the layer, which has the edges and their ends.
template <class Type>
const Type& typeOf(const KernelSite& at) {
  return dynamic_cast<const Type&>(at.layer.declaration());
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeGatherKernel(const KernelSite& at) {
  const auto& type = typeOf<GatherDeclaration>(at);
  const Edges& edges = type.edges();
  const int rank = at.rank;
  // An output row is the concatenation of all parts; this kernel writes the part with its name,
  // which begins after all earlier parts.
  InRow in{.inner = elementsOfRow(at.reads(), rank),
           .begin = 0,
           .step = elementsOfRow(at.writes(), rank)};
  const Edges::End* end = nullptr;
  for (const GatherDeclaration::Part& part : type.parts(at.form.inputs.size())) {
    end = part.end;
    if (part.name == at.name())
      break;
    in.begin += elementsOfRow(at.form.uses[part.input], rank);
  }
  if (!end)
    return std::make_unique<PlacedRows>(edges.count(), in);
  RowEntries entries = entriesOf(edges);
  entries.weights = nullptr; // weights are for sums only
  entries.from = end->at.data();
  return std::make_unique<CombinedRows>(*at.context, rowCount(at.reads(), rank), edges.count(),
                                        entries, in, "rows of nodes");
}

std::unique_ptr<LocalKernel> makeSegmentSumKernel(const KernelSite& at) {
  const auto& type = typeOf<SegmentSumDeclaration>(at);
  const Edges& edges = type.edges();
  const int rank = at.rank;
  const Index inner = elementsOfRow(at.reads(), rank), nodes = rowCount(at.writes(), rank);
  RowEntries entries = entriesOf(edges);
  entries.row = type.end().at.data();
  if (type.isMaximum())
    return std::make_unique<RowMaxima>(*at.context, edges.count(), nodes, entries, inner);
  std::vector<double> weights;
  if (type.isMean()) {
    weights = meanWeights(edges, type.end(), nodes);
    entries.weights = weights.data();
  }
  return std::make_unique<CombinedRows>(*at.context, edges.count(), nodes, entries, wholeRow(inner),
                                        "sums of rows");
}

// The type has two kernels: the softmax of the scores, and the sums of rows weighted by it.
std::unique_ptr<LocalKernel> makeEdgeAttentionKernel(const KernelSite& at) {
  const Edges& edges = typeOf<EdgeAttentionDeclaration>(at).edges();
  const int rank = at.rank;
  RowEntries entries = entriesOf(edges);
  entries.weights = nullptr;
  entries.row = edges.end(EdgeEnd::Target).at.data();
  const Index nodes = rowCount(at.form.output, rank), heads = elementsOfRow(at.form.uses[0], rank);
  if (at.name() == "softmax")
    return std::make_unique<RowSoftmax>(*at.context, nodes, entries, heads);
  return std::make_unique<WeighedRows>(*at.context, nodes, entries, heads,
                                       elementsOfRow(at.form.uses[1], rank) / heads);
}

std::unique_ptr<LocalKernel> makeSparseMatrixKernel(const KernelSite& at) {
  const Edges& edges = typeOf<SparseMatrixDeclaration>(at).edges();
  const int rank = at.rank;
  RowEntries entries = entriesOf(edges);
  entries.row = edges.end(EdgeEnd::Target).at.data();
  entries.from = edges.end(EdgeEnd::Source).at.data();
  return std::make_unique<CombinedRows>(*at.context, rowCount(at.reads(), rank),
                                        rowCount(at.writes(), rank), entries,
                                        wholeRow(elementsOfRow(at.reads(), rank)), "sparse rows");
}

} // namespace tenon
