// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of networks on meshes, which compute the operations of message passing over blocks
// of edges and not over all edges one after the other. The expected values are those of the same
// network without fusion (-tenon_fuse_rows false); outputs are bitwise equal.
#include "mesh_networks.hpp"
#include "sys/options/options.hpp"

#include <functional>

namespace tenon {
namespace {

using test::MeshGraph;
using test::MeshPart;
using test::world;
using test::mesh::attending;
using test::mesh::carrying;
using test::mesh::expectRows;
using test::mesh::fusedIn;
using test::mesh::NetworkRun;
using test::mesh::processor;
using test::mesh::repeated;

// The fused kernel over blocks of edges has the results of the kernels that it replaces; outputs
// are bitwise equal. The graphs are large enough for several blocks on one rank. Each case has two
// fused kernels.
TEST(MeshNetworks, GiveByBlocksOfEdgesWhatTheirKernelsGive) {
  const auto graphOf = [](unsigned seed) {
    for (;; ++seed)
      if (MeshGraph graph(seed, /*twoSets=*/false, /*mostNodes=*/300, /*mostEdges=*/5000);
          graph.edges.size() > 3500)
        return graph;
  };
  struct Case {
    std::function<Ref<Layer>()> make;
    test::MeshOptions how;
  };
  const Case cases[] = {
      {[] { return processor(world(), "mean", 3, 2, 2); }, {}},
      {[] { return processor(world(), "sum", 3, 2, 2); }, {.weighted = true, .keyed = false}},
      {[] { return processor(world(), "sum", 3, 2, 2); }, {.anywhere = true}},
      {[] { return carrying(world(), "sum", true); }, {.anywhere = true}},
      {[] { return carrying(world(), "max", false); }, {}},
      {[] { return carrying(world(), "sum", true, true); }, {.anywhere = true}},
      {[] { return repeated(world(), "mean"); }, {}},
      {[] { return attending(world()); }, {}},
  };
  unsigned seed = 60;
  for (const auto& [make, how] : cases) {
    const MeshGraph graph = graphOf(++seed);
    const MeshPart part(world(), graph, seed, how);
    const auto run = [&](const char* fuses) {
      options().set("-tenon_fuse_rows", fuses);
      const Ref<Layer> net = make();
      NetworkRun result(part, net);
      options().set("-tenon_fuse_rows", "true");
      EXPECT_EQ(fusedIn(*net), fuses == std::string("true") ? 2 : 0) << net->describe();
      return result;
    };
    const NetworkRun got = run("true"), want = run("false");
    ASSERT_NO_FATAL_FAILURE(expectRows(got.y, want.y, 0, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.dx, want.dx, 1e-12, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(got.df, want.df, 1e-12, "df"));
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got.gradients, want.gradients, 1e-11, "gradients"));
  }
}

// Layers are fused across the boundaries of containers. The result does not depend on whether a
// container has also run alone before.
TEST(MeshNetworks, FuseAcrossContainers) {
  const MeshGraph graph(11, /*twoSets=*/false);
  const MeshPart part(world(), graph, 12, {.anywhere = true});
  const auto outerOf = [](const Ref<Layer>& network) {
    const Ref<Layer> outer = test::newLayer(world(), "graph");
    outer->set("input_count", Index(2));
    addGraphNode(*outer, network, {-1, -2});
    return outer;
  };
  const Ref<Layer> flat = carrying(world(), "sum", true),
                   nested = carrying(world(), "sum", true, true), outer = outerOf(nested);
  const NetworkRun alone(part, flat), got(part, nested), within(part, outer), again(part, nested),
      want(part, outerOf(carrying(world(), "sum", true, true)));
  EXPECT_EQ(fusedIn(*flat, "network and sums"), 1) << flat->describe();
  EXPECT_EQ(fusedIn(*nested, "network and sums"), 1) << nested->describe();
  for (const auto& [run, same] : {std::pair(&within, &want), std::pair(&again, &got)}) {
    ASSERT_NO_FATAL_FAILURE(expectRows(run->y, same->y, 0, "y"));
    ASSERT_NO_FATAL_FAILURE(expectRows(run->dx, same->dx, 0, "dx"));
    ASSERT_NO_FATAL_FAILURE(expectRows(run->df, same->df, 0, "df"));
  }
}

} // namespace
} // namespace tenon
