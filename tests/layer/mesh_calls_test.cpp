// SPDX-License-Identifier: BSD-2-Clause
// The C interface of edges and index maps as lists of layers: errors name the edge, the rank and
// what to pass instead, and are the same on all ranks. Each rank r owns one node, with id 10 + r.
#include "capi/expect_code.hpp"

#include <tenon/edges.h>
#include <tenon/index_map.h>

#include <cmath>

namespace tenon {
namespace {

class MeshCalls : public test::CApi {};

TEST_F(MeshCalls, NameTheEdgeThatIsWrong) {
  using test::expectCommonCode;
  const TenonInt ownRank = test::worldRank();
  // Rank r owns the node with id 10 + r and has that of the next rank as a ghost.
  const TenonInt ids[] = {10 + ownRank, 10 + (ownRank + 1) % test::worldSize()};
  TenonIndexMap nodes = nullptr;
  TenonEdges edges = nullptr;
  test::expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 1, 2, ids, &nodes));
  const auto create = [&](TenonInt target, TenonInt source) {
    return TenonEdgesCreate(nodes, nodes, 1, &target, &source, nullptr, nullptr, &edges);
  };
  expectCommonCode(TENON_ERR_ARG, create(0, ownRank == 0 ? 2 : 1),
                   {"source[0] of rank 0 is 2, but its list of nodes has 2", "not ids"});
  expectCommonCode(TENON_ERR_ARG, create(ownRank == 0 ? 1 : 0, 0),
                   {"target[0] of rank 0 is 1, a ghost, since the rank owns 1 node",
                    "on the rank that owns its target"});
  expectCommonCode(TENON_ERR_NULL,
                   TenonEdgesCreate(nodes, nodes, 1, nullptr, nullptr, nullptr, nullptr, &edges),
                   {"target is NULL"});
  const double weight = ownRank == 0 ? std::nan("") : 1;
  const TenonInt node = 0;
  expectCommonCode(TENON_ERR_ARG,
                   TenonEdgesCreate(nodes, nodes, 1, &node, &node, nullptr, &weight, &edges),
                   {"weights[0] of rank 0 is nan", "finite"});
  EXPECT_EQ(edges, nullptr);
  test::expectSuccess(create(0, 1));
  TenonLayout layout = nullptr;
  const TenonInt shape[] = {3, 2}, fields[] = {0, 2};
  expectCommonCode(TENON_ERR_SHAPE, TenonEdgesGetLayout(edges, 2, shape, &layout),
                   {"pass 0 first, for the number of edges"});
  test::expectSuccess(TenonEdgesGetLayout(edges, 2, fields, &layout));
  TenonInt extents[2] = {};
  test::expectSuccess(TenonLayoutGetShape(layout, extents));
  EXPECT_EQ(extents[0], test::worldSize());
  EXPECT_EQ(extents[1], 2);

  TenonLayer tanh = nullptr, step = nullptr;
  test::expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &tanh));
  test::expectCode(TENON_ERR_TYPE, TenonLayerSetEdges(tanh, "", edges),
                   {"does not work with lists of a mesh", "gather"});
  test::expectCode(TENON_ERR_NULL, TenonLayerSetIndexMap(tanh, nullptr, nodes), {"name is NULL"});
  expectCommonCode(TENON_ERR_ARG, TenonLayerCreateMessagePassing(tanh, tanh, 4, "sum", &step),
                   {"inputs is 4"});
  expectCommonCode(TENON_ERR_TYPE, TenonLayerCreateMessagePassing(tanh, tanh, 1, "least", &step),
                   {"least", "sum"});
  test::expectSuccess(TenonLayoutDestroy(&layout));
  test::expectSuccess(TenonLayerDestroy(&tanh));
  test::expectSuccess(TenonEdgesDestroy(&edges));
  test::expectSuccess(TenonIndexMapDestroy(&nodes));
}

} // namespace
} // namespace tenon
