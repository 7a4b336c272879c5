// SPDX-License-Identifier: BSD-2-Clause
// Fields on grids as rows of a mesh: the layer "rows" makes a row [channels] of each point of a
// field [batch, channels, space...], and leads back. Between grid and mesh, interpolation and its
// transpose are sparse matrices, which are compared with dense ones.
#include "layer/derivatives/derivative_check.hpp"
#include "mesh_rows.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::LayoutDraw;
using test::world;
using test::mesh::valueOf;

TEST(Rows, AreThePointsOfEachBlock) {
  LayoutDraw draw(12);
  for (int i = 0; i < 30; ++i) {
    const Shape shape = draw.chance(50) ? Shape{2, 3, 5, 4} : Shape{1, 4, 9};
    const Layout field = test::drawInput(draw, shape);
    test::Step step(test::newLayer(world(), "rows"), field);
    const std::string what = field.describe();
    test::fillValid(*step.x, 1);
    step.apply();
    // Rows are the points of this rank's block in row-major order, with the channels last.
    const Layout use = step.x->layout().withoutHalos();
    const std::vector<double> y = test::localCells(*step.y);
    const Box box = use.boxOfRank(world()->rank());
    ASSERT_EQ(static_cast<Index>(y.size()), elements(box)) << what;
    if (!field.hasHalos()) {
      const std::vector<double> x = test::localCells(*step.x);
      Index space = 1;
      for (std::size_t d = 2; d < box.size(); ++d)
        space *= box[d].size();
      const Index channels = box[1].size();
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Index s = static_cast<Index>(k) % space, c = static_cast<Index>(k) / space % channels,
                    n = static_cast<Index>(k) / space / channels;
        ASSERT_EQ(y[(n * space + s) * channels + c], x[k]) << what;
      }
    }
    // The layer with an output layout leads back to the field: each is the inverse of the other.
    const auto back = test::newLayer(world(), "rows");
    back->setOutputLayout(use);
    test::Step again(back, step.y->layout());
    copyLocal(*step.y, *again.x);
    again.apply();
    test::expectNear(test::gathered(*again.y), test::gathered(*step.x), 1e-15, what);
    step.layer->clearStack();
    back->clearStack();
    const LayerAdjointResult adjoint = checkLayerAdjoint(*step.layer, nullptr, 5);
    EXPECT_LE(adjoint.relativeError, 1e-14) << what;
    if (!use.holdsPartialSums()) {
      const LayerAdjointResult adjointOfBack = checkLayerAdjoint(*back, nullptr, 6);
      EXPECT_LE(adjointOfBack.relativeError, 1e-14) << what;
    }
  }
}

TEST(Rows, RefuseShapesThatDoNotMatch) {
  const auto layer = test::newLayer(world(), "rows");
  expectErrorOnAll(TENON_ERR_SHAPE, {"makes rows of a field", "[7]"},
                   [&] { layer->setUp(test::onWorld({7}, "S0")); });
  const auto back = test::newLayer(world(), "rows");
  back->setOutputLayout(test::onWorld({1, 3, 6, 2}, "S2"));
  expectErrorOnAll(TENON_ERR_SHAPE, {"of 12 rows", "[12, channels]"}, [&] {
    back->setUp(test::onWorld({11, 3}, "S0"));
  });
  if (world()->size() > 1)
    expectErrorOnAll(TENON_ERR_LAYOUT, {"each rank needs those of its own block"}, [&] {
      back->setUp(test::onWorld({12, 3}, "B"));
    });
}

// A field on a process grid is interpolated to the nodes of a mesh, which have other owners, and
// back by the transposed weights: against dense matrices, exactly.
TEST(Rows, LeadFromAGridToAMeshAndBack) {
  const int size = world()->size(), ownRank = world()->rank();
  const Index ny = 7, nx = 5, channels = 2;
  const GridPtr grid = size % 2 == 0 ? Grid::make({size / 2, 2}) : Grid::make({size, 1});
  const Layout field({.shape = {1, channels, ny, nx},
                      .grid = grid,
                      .properties = {Property::shard(2), Property::shard(3)}});
  const Box box = field.boxOfRank(ownRank);
  std::vector<Index> points;
  for (Index y = box[2].begin; y < box[2].end; ++y)
    for (Index x = box[3].begin; x < box[3].end; ++x)
      points.push_back(y * nx + x);
  const Index ownPoints = static_cast<Index>(points.size());
  // Node n of the mesh takes three points, and gives to three.
  const int nodes = 11;
  const auto pointOf = [&](int node, int k) { return Index(node * 13 + k * 8) % (ny * nx); };
  const auto weightOf = [](int node, int k) { return double(node % 3 + k) - 1.5; };
  std::vector<Index> ids;
  ListedEdges there, back;
  // The position of a value in a list, to which it is appended if it is missing: as a ghost.
  const auto positionIn = [](std::vector<Index>& list, Index value) {
    const auto found = std::ranges::find(list, value);
    if (found == list.end())
      list.push_back(value);
    return static_cast<Index>(std::ranges::find(list, value) - list.begin());
  };
  for (int node = 0; node < nodes; ++node)
    if ((node * 5 + 1) % size == ownRank)
      ids.push_back(Index(node) * 1000003);
  const Index ownNodes = static_cast<Index>(ids.size());
  for (Index i = 0; i < ownNodes; ++i)
    for (int k = 0; k < 3; ++k) {
      const int node = static_cast<int>(ids[i] / 1000003);
      there.target.push_back(i);
      there.source.push_back(positionIn(points, pointOf(node, k)));
      there.key.push_back(3 * node + k);
      there.weights.push_back(weightOf(node, k));
    }
  for (Index i = 0; i < ownPoints; ++i)
    for (int node = 0; node < nodes; ++node)
      for (int k = 0; k < 3; ++k)
        if (pointOf(node, k) == points[i]) {
          back.target.push_back(i);
          back.source.push_back(positionIn(ids, Index(node) * 1000003));
          back.key.push_back(3 * node + k);
          back.weights.push_back(weightOf(node, k));
        }
  const IndexMapPtr pointMap = makeIndexMapFromIds(*world(), ownPoints, points),
                    nodeMap = makeIndexMapFromIds(*world(), ownNodes, ids);
  auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, test::newLayer(world(), "rows"));
  for (const char* name : {"there", "back"}) {
    const auto matrix = test::newLayer(world(), "sparsematrix");
    matrix->setText("edges", name);
    appendLayer(*net, matrix);
  }
  const auto toField = test::newLayer(world(), "rows");
  toField->setOutputLayout(field);
  appendLayer(*net, toField);
  net->setList("", "there", makeEdges(world(), nodeMap, pointMap, there));
  net->setList("", "back", makeEdges(world(), pointMap, nodeMap, back));
  test::Step step(net, field);
  const auto fill = [&](DTensor& t, int kind) {
    fillByIndex(t, [=](Index i) { return valueOf(kind, static_cast<int>(i), 0); });
  };
  fill(*step.x, 1);
  fill(*step.dy, 2);
  step.apply();
  step.adjoint();
  // The expected product with A^T A, which is its own transpose, as loops; A has three entries per
  // node.
  const auto product = [&](int kind) {
    std::vector<double> result(std::size_t(channels * ny * nx), 0);
    for (Index c = 0; c < channels; ++c)
      for (int node = 0; node < nodes; ++node) {
        double value = 0;
        for (int k = 0; k < 3; ++k)
          value += weightOf(node, k) *
                   valueOf(kind, static_cast<int>(c * ny * nx + pointOf(node, k)), 0);
        for (int k = 0; k < 3; ++k)
          result[c * ny * nx + pointOf(node, k)] += weightOf(node, k) * value;
      }
    return result;
  };
  EXPECT_EQ(test::gathered(*step.y), product(1));
  EXPECT_EQ(test::gathered(*step.dx), product(2));
}

} // namespace
} // namespace tenon
