// SPDX-License-Identifier: BSD-2-Clause
// The linear layers of meshes, each with its definition: a list of terms y[row] += weight x[from].
// expectLinear() compares a layer, its tangent and its adjoint with the sums over these terms.
#pragma once

#include "mesh_rows.hpp"

namespace tenon::test::mesh {

// One term of a linear layer: y[row, begin + c] += weight * x[from, c] for all columns c of x,
// which is the input of this number.
struct Term {
  int row;         // of y
  Index begin = 0; // column of y
  int input = 0, from;
  double weight = 1;
};

// A linear layer with its definition as a list of terms.
struct LinearCase {
  std::string type;
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<std::pair<RowsOf, Index>> inputs; // rows of each input, and number of its columns
  RowsOf output;
  Index columns;
  std::vector<Term> terms;
};

// All linear layers of meshes on a graph, with their terms. A gather joins the rows of the target,
// the source and the edge itself, in this order; if the graph has one set of nodes, target and
// source are rows of the same input.
inline std::vector<LinearCase> linearCases(const MeshGraph& graph, bool weighted) {
  const bool two = graph.hasTwoSets();
  const auto weight = [&](const test::MeshEdge& edge) { return weighted ? edge.weight : 1; };
  std::vector<LinearCase> cases;
  const auto add = [&](const char* type, std::vector<std::pair<const char*, SettingValue>> settings,
                       std::vector<std::pair<RowsOf, Index>> inputs, RowsOf output, Index columns,
                       auto&& visit) {
    LinearCase c{.type = type,
                 .settings = std::move(settings),
                 .inputs = std::move(inputs),
                 .output = output,
                 .columns = columns,
                 .terms = {}};
    for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e)
      visit(e, graph.edges[e], c.terms);
    cases.push_back(std::move(c));
  };
  using Terms = std::vector<Term>;
  using Edge = test::MeshEdge;
  add("gather", {{"ends", std::string("source")}}, {{RowsOf::Sources, 3}}, RowsOf::Edges, 3,
      [](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = e, .from = edge.source});
      });
  add("gather", {{"ends", std::string("target")}}, {{RowsOf::Targets, 2}, {RowsOf::Edges, 5}},
      RowsOf::Edges, 7, [](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = e, .from = edge.target});
        terms.push_back({.row = e, .begin = 2, .input = 1, .from = e});
      });
  std::vector<std::pair<RowsOf, Index>> nodes{{RowsOf::Targets, 3}};
  const Index further = two ? 2 : 3;
  if (two)
    nodes.emplace_back(RowsOf::Sources, further);
  const auto both = [=](int e, const Edge& edge, Terms& terms) {
    terms.push_back({.row = e, .from = edge.target});
    terms.push_back({.row = e, .begin = 3, .input = two ? 1 : 0, .from = edge.source});
  };
  add("gather", {}, nodes, RowsOf::Edges, 3 + further, both);
  nodes.emplace_back(RowsOf::Edges, 4);
  add("gather", {}, nodes, RowsOf::Edges, 7 + further, [=](int e, const Edge& edge, Terms& terms) {
    both(e, edge, terms);
    terms.push_back({.row = e, .begin = 3 + further, .input = two ? 2 : 1, .from = e});
  });
  add("segmentsum", {}, {{RowsOf::Edges, 3}}, RowsOf::Targets, 3,
      [=](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.target, .from = e, .weight = weight(edge)});
      });
  add("segmentsum", {{"at", std::string("source")}}, {{RowsOf::Edges, 2}}, RowsOf::Sources, 2,
      [=](int e, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.source, .from = e, .weight = weight(edge)});
      });
  add("sparsematrix", {}, {{RowsOf::Sources, 20}}, RowsOf::Targets, 20,
      [=](int, const Edge& edge, Terms& terms) {
        terms.push_back({.row = edge.target, .from = edge.source, .weight = weight(edge)});
      });
  return cases;
}

// Compares forward, tangent and adjoint of a linear layer with the sums over its terms, exactly.
inline void expectLinear(const LinearCase& c, const MeshGraph& graph, const MeshPart& part,
                         TenonDataType type, const std::string& what) {
  const Ref<Layer> layer = test::newLayer(world(), c.type);
  for (const auto& [name, value] : c.settings)
    layer->set(name, value);
  MeshStep step(layer, part, c.inputs, type);
  std::vector<WholeRows> x, dx;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    x.emplace_back(graph, c.inputs[i].first, c.inputs[i].second, static_cast<int>(i));
    dx.emplace_back(graph, c.inputs[i].first, c.inputs[i].second, -1);
  }
  WholeRows y(graph, c.output, c.columns, -1), dy(graph, c.output, c.columns, 9);
  for (const Term& term : c.terms)
    for (Index k = 0; k < c.inputs[term.input].second; ++k) {
      y.at(term.row, term.begin + k) += term.weight * x[term.input].at(term.from, k);
      dx[term.input].at(term.from, k) += term.weight * dy.at(term.row, term.begin + k);
    }
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i].give(part, *step.x[i]);
  dy.give(part, *step.dy);
  step.apply();
  const std::vector<double> forward = test::localCells(*step.y);
  fillConstant(*step.y, 77);
  step.tangent();
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(y.expect(part, forward, 0, what + " forward"));
  ASSERT_NO_FATAL_FAILURE(y.expect(part, *step.y, 0, what + " tangent"));
  for (std::size_t i = 0; i < dx.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(dx[i].expect(part, *step.dx[i], 0, what + " adjoint"));
}

} // namespace tenon::test::mesh
