// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `sparsematrix`: y[i] = sum over the edges e with target(e) = i of w_e
// x[source(e)], a product with the matrix whose entries are the weights w_e of edges. x and y have
// a row of channels per node. declareSparseMatrix() is declared in core/types.hpp.
//
// The steps are: receive the rows of x from nodes of other ranks that edges of this rank read
// (addNodes), compute, and send sums for nodes of other ranks to their owners (addSums). The
// kernel computes row by row of y, which avoids an array with a row for each edge.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "declaration/mesh/row_kernels.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kSparseMatrix[] = {kEdgesSetting};

class SparseMatrixDeclaration final : public EdgeDeclaration {
public:
  SparseMatrixDeclaration() : EdgeDeclaration("sparsematrix", kSparseMatrix) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;
  std::string summary() const override;
};

} // namespace

Shape SparseMatrixDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  Shape shape = inputs.front();
  shape[0] = edges().end(EdgeEnd::Target).nodes->from().shape()[0];
  return shape;
}

Form SparseMatrixDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Layout use = useOf(inputs.front(), edges().end(EdgeEnd::Source).nodes->from(), "columns");
  return formOf(inputs, {use},
                rowsLayout(edges().end(EdgeEnd::Target).nodes->from(), rowShape(use.shape())),
                choice);
}

MapList SparseMatrixDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  list.output("y", form.output);
  const ValueId v =
      addNodes(list, addUsed(list, x, form.uses.front()), edges().end(EdgeEnd::Source), "v");
  addSums(list, {.name = "matrix", .addsCotangent = true}, v, edges().end(EdgeEnd::Target));
  return list;
}

std::unique_ptr<ArrayKernel> SparseMatrixDeclaration::makeKernel(const KernelPlace& at) const {
  RowEntries entries = entriesOf(edges());
  entries.row = edges().end(EdgeEnd::Target).at.data();
  entries.from = edges().end(EdgeEnd::Source).at.data();
  return makeCombinedRows(at.type, *at.context, rowCount(at.reads(), at.rank),
                          rowCount(at.writes(), at.rank), entries,
                          wholeRow(elementsOfRow(at.reads(), at.rank)), "sparse rows");
}

std::string SparseMatrixDeclaration::summary() const {
  return edges().describe();
}

std::unique_ptr<Declaration> declareSparseMatrix() {
  return std::make_unique<SparseMatrixDeclaration>();
}

} // namespace tenon
