// SPDX-License-Identifier: BSD-2-Clause
// Declares attention along the edges of a mesh: y[i] = sum over the edges e with target(e) = i of
// a[e] v[e], where a is the softmax of the scores s[e] over these edges. s has one number per edge
// and head, and v the channels of all heads. declareEdgeAttention() is declared in core/types.hpp.
//
// All edges into a node must be on one rank, which then has the whole softmax. Nothing is
// communicated.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "declaration/mesh/row_kernels.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kEdgeAttention[] = {kEdgesSetting};

// a[e, h] = exp(s[e, h]) / sum of exp(s[e', h]) over all edges e' of the node of e, for each head
// h.
template <class T>
class RowSoftmax final : public SymmetricKernel {
public:
  RowSoftmax(KernelContext& context, Index nodes, const RowEntries& entries, Index heads)
      : lists_(listRows(nodes, entries)), heads_(heads) {
    lists_.finish(context);
  }

  void forward(Arrays s, KernelParameters, LocalArray& a, Buffer*) override {
    softmaxOfRows<T>(a.context(), lists_, heads_, s[0].data<T>(), a.mutableData<T>());
  }
  std::string describe() const override { return "softmax of rows"; }

private:
  void derivative(const SavedArrays& at, const LocalArray& direction, LocalArray& result) override {
    softmaxOfRowsDerivative<T>(result.context(), lists_, heads_, at.output.data<T>(),
                               direction.data<T>(), result.mutableData<T>());
  }

  RowLists lists_;
  Index heads_;
};

// y[i,h,:] = sum over the edges e of node i of a[e,h] v[e,h,:] for each head h, from the weights a
// (input 0) and the rows v (input 1).
template <class T>
class WeighedRows final : public ArrayKernel {
public:
  WeighedRows(KernelContext& context, Index nodes, const RowEntries& entries, Index heads,
              Index perHead)
      : forward_(listRows(nodes, entries)), adjoint_(listTransposed(entries.count, entries)),
        heads_(heads), perHead_(perHead) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    add(x[0], x[1], /*adds=*/false, y);
  }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& dy) override {
    if (!dx[0] && !dx[1])
      return setZero(dy);
    if (dx[0])
      add(dx[0], at.inputs[1], /*adds=*/false, dy);
    if (dx[1])
      add(at.inputs[0], dx[1], /*adds=*/bool(dx[0]), dy);
  }
  void adjoint(const SavedArrays& at, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    weighHeadsAdjoint<T>(dy.context(), adjoint_, heads_, perHead_, at.inputs[0].data<T>(),
                         at.inputs[1].data<T>(), dy.data<T>(), dx[1].mutableData<T>(),
                         dx[0].mutableData<T>());
  }
  std::string describe() const override { return "sums of rows by their weights"; }

private:
  void add(const LocalArray& a, const LocalArray& v, bool adds, LocalArray& y) const {
    weighHeads<T>(y.context(), forward_, heads_, perHead_, a.data<T>(), v.data<T>(), adds,
                  y.mutableData<T>());
  }

  RowLists forward_, adjoint_;
  Index heads_, perHead_;
};

class EdgeAttentionDeclaration final : public EdgeDeclaration {
public:
  EdgeAttentionDeclaration() : EdgeDeclaration("edgeattention", kEdgeAttention) {}
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;
  std::string summary() const override;
};

} // namespace

std::string EdgeAttentionDeclaration::inputAdvice() const {
  return "; it reads scores [edges, heads] and values [edges, channels, ...]";
}

Shape EdgeAttentionDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  const Shape &scores = inputs[0], &values = inputs[1];
  if (scores.size() != 2 || values.size() < 2 || scores[0] != values[0] || scores[1] < 1 ||
      values[1] % scores[1] != 0)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("{} needs scores [edges, heads] and values [edges, channels, ...] whose "
                    "channels are a multiple of the heads, but its inputs have shapes [{}] "
                    "and [{}]",
                    title(), fmt::join(scores, ","), fmt::join(values, ",")));
  Shape shape = values;
  shape[0] = edges().end(EdgeEnd::Target).nodes->from().shape()[0];
  return shape;
}

Form EdgeAttentionDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Edges::End& end = edges().end(EdgeEnd::Target);
  // A node's edges on other ranks would be missing in its softmax.
  if (!end.isOwned)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has a softmax over the edges of a node, of which other ranks have "
                            "some too; list each edge on the rank that owns its target "
                            "(TenonEdgesCreate())",
                            title()));
  const Shape shape = outputShape({inputs[0].shape(), inputs[1].shape()});
  const Layouts uses = {useOf(inputs[0], edges().pattern(), "edges"),
                        useOf(inputs[1], edges().pattern(), "edges")};
  return formOf(inputs, uses, rowsLayout(end.nodes->from(), rowShape(shape)), choice);
}

MapList EdgeAttentionDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId s = list.input("s", form.inputs[0]), v = list.input("v", form.inputs[1]);
  list.output("y", form.output);
  // a = softmax of the scores s over the edges of each node; y = sums of a v.
  const ValueId a = list.value("a", form.uses[0]);
  list.run({.name = "softmax", .savesOutput = true}, {list.staged(addUsed(list, s, form.uses[0]))},
           a);
  const ValueId y = list.stagedOutput();
  list.run({.name = "weigh", .savesInputs = true}, {a, list.staged(addUsed(list, v, form.uses[1]))},
           y);
  list.unstage(y);
  return list;
}

// The softmax of the scores, or the sums of rows weighted by it.
std::unique_ptr<ArrayKernel> EdgeAttentionDeclaration::makeKernel(const KernelPlace& at) const {
  RowEntries entries = entriesOf(edges());
  entries.weights = nullptr; // the softmax takes their place
  entries.row = edges().end(EdgeEnd::Target).at.data();
  const Index nodes = rowCount(at.form.output, at.rank),
              heads = elementsOfRow(at.form.uses[0], at.rank);
  if (at.name() == "softmax")
    return makeTyped<RowSoftmax>(at.type, *at.context, nodes, entries, heads);
  return makeTyped<WeighedRows>(at.type, *at.context, nodes, entries, heads,
                                elementsOfRow(at.form.uses[1], at.rank) / heads);
}

std::string EdgeAttentionDeclaration::summary() const {
  return edges().describe();
}

std::unique_ptr<Declaration> declareEdgeAttention() {
  return std::make_unique<EdgeAttentionDeclaration>();
}

} // namespace tenon
