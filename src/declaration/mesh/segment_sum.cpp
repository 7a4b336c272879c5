// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `segmentsum` of graph networks: it reduces rows of edges to nodes, a[i] = sum
// (mean, max) over the edges e with target(e) = i of w_e m[e], with the weight w_e of the edge. The
// setting `at` selects sources instead of targets. declareSegmentSum() is declared in
// core/types.hpp.
//
// Edges of a node can be on several ranks. Each rank then sums its own edges (addSums() in
// edge_declaration.cpp), and the transpose of an index map sends these sums to the rank that owns
// the node, where they are added. A maximum cannot be completed in this way, and a mean only if the
// sums of the weights over all ranks are known, which the edges have for targets only
// (Edges::End::totals).
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "declaration/mesh/row_kernels.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSegmentSum[] = {
    kEdgesSetting,
    {"at", OptionSpec::Choice, "target", "the end of the edges at which rows are summed",
     "target|source"},
    {"aggregation", OptionSpec::Choice, "sum", "what is made of the rows of a node's edges",
     "sum|mean|max"}};

// y[i, c] = maximum of x[e, c] over the edges e of node i. The derivative goes to the row of this
// maximum, whose number is saved in the workspace; among equal rows the first in the order of the
// edge keys counts.
template <class T>
class RowMaxima final : public ArrayKernel {
public:
  RowMaxima(KernelContext& context, Index rowsOfX, Index rowsOfY, const RowEntries& entries,
            Index inner)
      : forward_(listRows(rowsOfY, entries)), adjoint_(listTransposed(rowsOfX, entries)),
        inner_(inner) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer* workspace) override {
    maximaOfRows<T>(y.context(), forward_, inner_, x[0].data<T>(), y.mutableData<T>(),
                    workspace ? workspace->data<Index>() : nullptr);
  }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& dy) override {
    if (dx[0])
      maximaOfRowsTangent<T>(dy.context(), adjoint_, forward_.rows, inner_,
                             at.workspace->data<Index>(), dx[0].data<T>(), dy.mutableData<T>());
    else
      setZero(dy);
  }
  void adjoint(const SavedArrays& at, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      maximaOfRowsAdjoint<T>(dy.context(), adjoint_, inner_, at.workspace->data<Index>(),
                             dy.data<T>(), dx[0].mutableData<T>());
  }
  std::string describe() const override { return "maxima of rows"; }

private:
  RowLists forward_, adjoint_;
  Index inner_;
};

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

class SegmentSumDeclaration final : public EdgeDeclaration {
public:
  SegmentSumDeclaration() : EdgeDeclaration("segmentsum", kSegmentSum) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;
  std::string summary() const override;

private:
  const Edges::End& end() const;
  bool isMean() const { return text("aggregation") == "mean"; }
  bool isMaximum() const { return text("aggregation") == "max"; }
};

} // namespace

const Edges::End& SegmentSumDeclaration::end() const {
  const Edges::End& end = edges().end(text("at") == "source" ? EdgeEnd::Source : EdgeEnd::Target);
  if (!end.isOwned && (isMaximum() || (isMean() && !end.totals)))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has aggregation \"{}\" at nodes of which other ranks have edges "
                            "too; only sums are added between ranks, so list each edge on the "
                            "rank that owns that end, or use \"sum\"",
                            title(), text("aggregation")));
  return end;
}

Shape SegmentSumDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  Shape shape = inputs.front();
  shape[0] = end().nodes->from().shape()[0];
  return shape;
}

Form SegmentSumDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Layout use = useOf(inputs.front(), edges().pattern(), "edges");
  return formOf(inputs, {use}, rowsLayout(end().nodes->from(), rowShape(use.shape())), choice);
}

MapList SegmentSumDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  list.output("y", form.output);
  const bool isMaximum = this->isMaximum();
  // RowWork::Summed: a sum or mean can be fused with the kernel that computes the rows
  // (core/row_fusion.cpp). A maximum saves the number of the largest row for each element.
  KernelEntry entry{.name = text("aggregation"),
                    .addsCotangent = !isMaximum,
                    .rows = isMaximum ? RowWork::Other : RowWork::Summed};
  if (isMaximum)
    entry.workspace = {.bytes = sizeof(Index), .elementsOf = form.output};
  addSums(list, std::move(entry), list.staged(addUsed(list, x, form.uses.front())), end());
  return list;
}

std::unique_ptr<ArrayKernel> SegmentSumDeclaration::makeKernel(const KernelPlace& at) const {
  const Index inner = elementsOfRow(at.reads(), at.rank), nodes = rowCount(at.writes(), at.rank);
  RowEntries entries = entriesOf(edges());
  entries.row = end().at.data();
  if (isMaximum())
    return makeTyped<RowMaxima>(at.type, *at.context, edges().count(), nodes, entries, inner);
  std::vector<double> weights;
  if (isMean()) {
    weights = meanWeights(edges(), end(), nodes);
    entries.weights = weights.data();
  }
  return makeCombinedRows(at.type, *at.context, edges().count(), nodes, entries, wholeRow(inner),
                          "sums of rows");
}

std::string SegmentSumDeclaration::summary() const {
  return fmt::format("{} at {}s of {}", text("aggregation"), text("at"), edges().describe());
}

std::unique_ptr<Declaration> declareSegmentSum() {
  return std::make_unique<SegmentSumDeclaration>();
}

} // namespace tenon
