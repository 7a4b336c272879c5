// SPDX-License-Identifier: BSD-2-Clause
// Tests of the tests of meshes: the lists of a graph get an error on purpose (MeshFault), and the
// comparisons of mesh_layers_test.cpp and mesh_networks_test.cpp must find it. An error that only
// changes the order of sums shows in the last bits of real numbers, and not in sums of integers.
#include "mesh_linear_cases.hpp"
#include "mesh_networks.hpp"
#include "support/finds_a_fault.hpp"

#include <numeric>

namespace tenon {
namespace {

using test::MeshGraph;
using test::MeshPart;
using test::world;
using test::mesh::expectLinear;
using test::mesh::expectRows;
using test::mesh::linearCases;
using test::mesh::MeshStep;
using test::mesh::NetworkRun;
using test::mesh::processor;
using test::mesh::RowsOf;
using test::mesh::WholeRows;

// <A x, y> and <x, A^T y> of the matrix of a graph. A uses the lists of `part`, and A^T those of
// `other`; the pairings are equal if both describe the same matrix.
std::pair<double, double> pairings(const MeshGraph& graph, const MeshPart& part,
                                   const MeshPart& other) {
  const WholeRows x(graph, RowsOf::Targets, 2, 0), y(graph, RowsOf::Targets, 2, 9);
  const std::vector<std::pair<RowsOf, Index>> input{{RowsOf::Targets, 2}};
  MeshStep forward(test::newLayer(world(), "sparsematrix"), part, input, TENON_FLOAT64),
      transposed(test::newLayer(world(), "sparsematrix"), other, input, TENON_FLOAT64);
  x.give(part, *forward.x[0]);
  y.give(part, *forward.dy);
  forward.apply();
  x.give(other, *transposed.x[0]);
  y.give(other, *transposed.dy);
  transposed.apply();
  transposed.adjoint();
  const auto dot = [](const DTensor& a, const DTensor& b) {
    const std::vector<double> left = test::localCells(a), right = test::localCells(b);
    double sum = std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  return {dot(*forward.y, *forward.dy), dot(*transposed.x[0], *transposed.dx[0])};
}

TEST(MeshFaults, AreFoundByDefinitionsByPairingsAndByOneProcess) {
  using test::findsAFault;
  using test::MeshFault;
  const CommPtr self = Communicator::of(MPI_COMM_SELF);
  const MeshGraph graph(0, /*twoSets=*/false); // of 25 nodes and 102 edges
  const MeshPart right(world(), graph, 3), alone(self, graph, 103);
  const NetworkRun want(alone, processor(self, "sum", 3, 2, 1));
  for (const MeshFault fault :
       {MeshFault::None, MeshFault::GhostMissing, MeshFault::TargetsExchanged, MeshFault::KeysLocal,
        MeshFault::EdgeTwice}) {
    if (fault == MeshFault::GhostMissing && world()->size() == 1)
      continue; // one rank has no ghosts
    SCOPED_TRACE(static_cast<int>(fault));
    const MeshPart part(world(), graph, 3, {.fault = fault});
    // Wrong keys change only the order of sums: the last bits of real numbers, but not of integers.
    const bool isWrong = fault != MeshFault::None,
               isLarge = isWrong && fault != MeshFault::KeysLocal;
    EXPECT_EQ(isLarge, findsAFault([&] {
                expectLinear(linearCases(graph, /*weighted=*/false).back(), graph, part,
                             TENON_FLOAT64, "matrix");
              }));
    const auto [forward, transposed] = pairings(graph, part, right);
    EXPECT_EQ(isLarge, forward != transposed);
    const NetworkRun got(part, processor(world(), "sum", 3, 2, 1));
    EXPECT_EQ(isWrong, findsAFault([&] { expectRows(got.y, want.y, 0, "y"); }));
    EXPECT_EQ(isLarge, findsAFault([&] { expectRows(got.y, want.y, 1e-13, "y"); }));
    EXPECT_EQ(isLarge, findsAFault([&] { expectRows(got.dx, want.dx, 1e-13, "dx"); }));
    EXPECT_EQ(isLarge, findsAFault([&] {
                test::expectNear(got.gradients, want.gradients, 1e-12, "gradients");
              }));
  }
}

} // namespace
} // namespace tenon
