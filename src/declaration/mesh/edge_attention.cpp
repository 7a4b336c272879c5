// SPDX-License-Identifier: BSD-2-Clause
// Declares attention along the edges of a mesh: y[i] = sum over the edges e with target(e) = i of
// a[e] v[e], where a is the softmax of the scores s[e] over these edges. s has one number per edge
// and head, and v the channels of all heads. The kernels are in layer/mesh/.
//
// All edges into a node must be on one rank, which then has the whole softmax. Nothing is
// communicated.
#include "declaration/mesh/edge_types.hpp"

#include "declaration/core/types.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kEdgeAttention[] = {kEdgesSetting};

} // namespace

EdgeAttentionDeclaration::EdgeAttentionDeclaration()
    : EdgeDeclaration("edgeattention", kEdgeAttention) {}

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

std::string EdgeAttentionDeclaration::summary() const {
  return edges().describe();
}

std::unique_ptr<Declaration> declareEdgeAttention() {
  return std::make_unique<EdgeAttentionDeclaration>();
}

} // namespace tenon
