// SPDX-License-Identifier: BSD-2-Clause
// The floating-point operations that the log counts for one Apply and adjoint: the sum over the
// ranks is the number of the whole problem, for any split.
#include "layer_run.hpp"

#include "sys/log/log.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// The operations that all ranks have counted in local kernels since the log was enabled.
double countedFlops() {
  double ownFlops = 0, allFlops = 0;
  for (const EventRecord& record : logSnapshot())
    if (record.event == "LocalKernel")
      ownFlops += record.flops;
  MPI_Allreduce(&ownFlops, &allFlops, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return allFlops;
}

// The operations of one Apply and one adjoint.
double flopsOf(const Ref<Layer>& layer, const Layout& input) {
  layer->setUp(input);
  const auto x = test::tensor(input), dx = test::tensor(input.dual());
  const auto y = test::tensor(layer->outputLayout(input)),
             dy = test::tensor(layer->outputLayout(input).dual());
  logReset();
  logEnable(true);
  layer->apply(*x, *y);
  layer->applyAdjoint(*dy, dx.get());
  const double counted = countedFlops();
  logEnable(false);
  return counted;
}

// One product in Apply, and two in the adjoint, for the inputs and for the weights. A product of 9
// rows of 6 numbers with a matrix of 6 x 10 has 2 x 9 x 6 x 10 operations.
TEST(Flops, OfAnAffineLayerAreThreeProducts) {
  for (const char* label : {"n", "o", "i"}) {
    const auto layer = test::newAffine(world(), 6, 10);
    layer->setDataType(TENON_FLOAT64);
    layer->setText("signature", label);
    EXPECT_EQ(flopsOf(layer, onWorld({9, 6}, "S0")), 3 * 2 * 9 * 6 * 10) << label;
  }
}

TEST(Flops, OfAConvolutionAreThreeProductsWithItsGroupsWeights) {
  for (const char* label : {"n", "h", "g"}) {
    const auto layer =
        test::newConv(world(), 4, 6, std::vector<Window>{{.kernel = 3}, {.kernel = 2}});
    layer->setDataType(TENON_FLOAT64);
    layer->set("groups", Index(2));
    layer->setText("signature", label);
    // 3 samples with 6 channels of 7 x 4 outputs, each of which reads 3 x 2 elements of the 2 input
    // channels of its group.
    EXPECT_EQ(flopsOf(layer, onWorld({3, 4, 9, 5}, "S0")), 3 * 2 * (3 * 6 * 7 * 4) * (2 * 3 * 2))
        << label;
  }
}

} // namespace
} // namespace tenon
