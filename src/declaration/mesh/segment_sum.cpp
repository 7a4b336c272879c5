// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `segmentsum` of graph networks: it reduces rows of edges to nodes, a[i] = sum
// (mean, max) over the edges e with target(e) = i of w_e m[e], with the weight w_e of the edge. The
// setting `at` selects sources instead of targets.
//
// Edges of a node can be on several ranks. Each rank then sums its own edges (addSums() in
// edge_declaration.cpp), and the transpose of an index map sends these sums to the rank that owns
// the node, where they are added. A maximum cannot be completed in this way, and a mean only if the
// sums of the weights over all ranks are known, which the edges have for targets only
// (Edges::End::totals).
#include "declaration/mesh/edge_types.hpp"

#include "declaration/core/types.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSegmentSum[] = {
    kEdgesSetting,
    {"at", OptionSpec::Choice, "target", "the end of the edges at which rows are summed",
     "target|source"},
    {"aggregation", OptionSpec::Choice, "sum", "what is made of the rows of a node's edges",
     "sum|mean|max"}};

} // namespace

SegmentSumDeclaration::SegmentSumDeclaration() : EdgeDeclaration("segmentsum", kSegmentSum) {}

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

std::string SegmentSumDeclaration::summary() const {
  return fmt::format("{} at {}s of {}", text("aggregation"), text("at"), edges().describe());
}

std::unique_ptr<Declaration> declareSegmentSum() {
  return std::make_unique<SegmentSumDeclaration>();
}

} // namespace tenon
