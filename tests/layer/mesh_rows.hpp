// SPDX-License-Identifier: BSD-2-Clause
// Layers on meshes under test. A tensor [rows, columns] has a row per node or per edge of a random
// graph (MeshGraph), which is distributed over the ranks (MeshPart). WholeRows holds the rows of
// the whole graph on every rank, where tests compute expected values; MeshStep holds a layer that
// is set up, with its tensors.
#pragma once

#include "layer_run.hpp"
#include "support/mesh_graph.hpp"

#include <random>

namespace tenon::test::mesh {

enum class RowsOf { Targets, Sources, Edges };

// The numbers of the rows that this rank owns, and their layout.
inline std::vector<int> ownRows(const MeshPart& part, RowsOf of) {
  if (of == RowsOf::Edges)
    return part.edges;
  const MeshNodes& nodes = of == RowsOf::Targets ? part.targets : part.sources;
  return {nodes.listed.begin(), nodes.listed.begin() + nodes.owned};
}

inline Layout layoutOf(const MeshPart& part, RowsOf of, const Shape& trailing) {
  return rowsLayout(of == RowsOf::Edges     ? part.list->pattern()
                    : of == RowsOf::Targets ? part.targets.map->from()
                                            : part.sources.map->from(),
                    trailing);
}

inline std::size_t countOf(const MeshGraph& graph, RowsOf of) {
  return of == RowsOf::Edges     ? graph.edges.size()
         : of == RowsOf::Targets ? graph.targets.size()
                                 : graph.sources.size();
}

// A small integer for each row and column.
inline double valueOf(int kind, int row, Index column) {
  std::mt19937 engine(static_cast<unsigned>(7919 * kind + 131 * row + column));
  return double(engine() % 15) - 7;
}

// The values of all rows of the graph's targets, sources or edges, known on every rank. give()
// copies this rank's rows to a tensor, and expect() compares this rank's rows of a tensor with
// them. The values are small integers for kind >= 0, and zeros for kind = -1.
struct WholeRows {
  RowsOf of;
  Index columns;
  std::vector<double> values;

  WholeRows(const MeshGraph& graph, RowsOf rows, Index count, int kind)
      : of(rows), columns(count), values(countOf(graph, rows) * std::size_t(count), 0) {
    for (std::size_t i = 0; kind >= 0 && i < values.size(); ++i)
      values[i] = valueOf(kind, static_cast<int>(i / count), static_cast<Index>(i) % count);
  }
  double& at(int row, Index column) { return values[std::size_t(row * columns + column)]; }
  double at(int row, Index column) const { return values[std::size_t(row * columns + column)]; }

  void give(const MeshPart& part, DTensor& x) const {
    const std::vector<int> rows = ownRows(part, of);
    visitFloating(x.dataType(), [&]<class T>(T) {
      T* to = x.mutableData<T>();
      for (int row : rows)
        for (Index c = 0; c < columns; ++c)
          *to++ = static_cast<T>(at(row, c));
    });
  }
  // With a tolerance relative to 1 + |value|; 0 is exact.
  void expect(const MeshPart& part, const DTensor& x, double tolerance,
              const std::string& what) const {
    expect(part, test::localCells(x), tolerance, what);
  }
  void expect(const MeshPart& part, const std::vector<double>& got, double tolerance,
              const std::string& what) const {
    const std::vector<int> rows = ownRows(part, of);
    ASSERT_EQ(got.size(), rows.size() * std::size_t(columns)) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = at(rows[i / columns], static_cast<Index>(i) % columns);
      ASSERT_LE(std::abs(got[i] - want), tolerance * (1 + std::abs(want)))
          << what << ", row " << rows[i / columns];
    }
  }
};

// A layer set up for inputs with these columns, and its tensors.
struct MeshStep {
  Ref<Layer> layer;
  std::vector<Ref<DTensor>> x, dx;
  Ref<DTensor> y, dy;

  MeshStep(Ref<Layer> given, const MeshPart& part,
           const std::vector<std::pair<RowsOf, Index>>& inputs, TenonDataType type)
      : layer(std::move(given)) {
    if (!layer->isSetUp()) {
      layer->setDataType(type);
      layer->setList("", "", part.list);
    }
    Layouts layouts;
    for (const auto& [of, columns] : inputs)
      layouts.push_back(layoutOf(part, of, {columns}));
    layer->setUp(layouts);
    const auto tensor = [&](const Layout& layout) {
      return makeRef<DTensor>(layer->comm(), layout, type);
    };
    for (const Layout& layout : layouts) {
      x.push_back(tensor(layout));
      dx.push_back(tensor(layout.dual()));
    }
    y = tensor(layer->outputLayout(layouts));
    dy = tensor(y->layout().dual());
  }
  void apply() { layer->apply(reading(x), *y); }
  void tangent() { layer->applyTangent(reading(x), *y); }
  void adjoint() {
    std::vector<DTensor*> to;
    for (const auto& t : dx)
      to.push_back(t.get());
    layer->applyAdjoint(*dy, to);
  }

private:
  std::vector<const DTensor*> reading_;
  std::span<const DTensor* const> reading(const std::vector<Ref<DTensor>>& tensors) {
    reading_.clear();
    for (const auto& t : tensors)
      reading_.push_back(t.get());
    return reading_;
  }
};

} // namespace tenon::test::mesh
