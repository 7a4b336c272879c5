// SPDX-License-Identifier: BSD-2-Clause
// Segment sum: reduces rows of edges to nodes, a[i] = sum (mean, max) over e with target(e) = i of
// w_e m[e]. Only sums can be completed across ranks: for a mean or maximum, all edges of a node
// must be on its owner.
#include "declaration/mesh/edge_types.hpp"

#include "declaration/core/types.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

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
