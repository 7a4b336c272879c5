// SPDX-License-Identifier: BSD-2-Clause
// Tests the fit of a machine's rates to measured times (plan/calibration.hpp). Times are computed
// from planted rates, which the fit must find again; the optimality conditions of the fits are
// checked, and all ranks of a run must get the same rates.
#include "comm/agreement/agreement.hpp"
#include "plan/calibration.hpp"

#include "planned_network.hpp"
#include "sys/log/log.hpp"

namespace tenon::test {
namespace {

constexpr Index kBytes = 8; // of an element

OwnRates someRates() {
  OwnRates rates;
  rates.links = {.latency = 1e-6, .overhead = 1e-7, .bandwidth = 1e9, .copyBandwidth = 1e10};
  rates.kernels = {.flops = 1e10, .memory = 1e9};
  return rates;
}

// A move whose measured time follows from the rates `truth`, and whose parts (latency, transfer,
// copies) follow from the rates `known`.
MeasuredMove moveOf(double messages, double bytes, const LinkRates& truth, const LinkRates& known) {
  const auto parts = [&](const LinkRates& links) {
    return PriceParts{messages * (links.latency + links.overhead), bytes / links.bandwidth,
                      2 * bytes / links.copyBandwidth};
  };
  const PriceParts took = parts(truth);
  return {.parts = parts(known), .seconds = took[0] + took[1] + took[2]};
}

TEST(Calibration, FindsPlantedRates) {
  const OwnRates known = someRates();
  LinkRates truth = known.links;
  truth.latency *= 4;
  truth.overhead *= 4;
  truth.bandwidth *= 0.7;
  std::vector<MeasuredKernel> kernels;
  std::vector<MeasuredMove> moves;
  for (double size : {1e3, 5e4, 2e6}) {
    kernels.push_back({.kind = "conv", .work = {.flops = size}, .seconds = size / 3e9});
    moves.push_back(moveOf(2, size, truth, known.links));
  }
  // All moves above have the same ratio of copied to transferred bytes, so the fit cannot separate
  // the two. This one has neither.
  moves.push_back(moveOf(1, 0, truth, known.links));
  const OwnRates found = fittedRates(kernels, moves, kBytes, known);
  EXPECT_NEAR(found.kernels.flops, 3e9, 1);
  EXPECT_NEAR(found.kernels.seconds("conv", kBytes, {.flops = 6e9}), 2, 1e-9);
  EXPECT_NEAR(found.links.latency, 4e-6, 1e-13);
  const MeasuredMove all = moveOf(3, 1e5, truth, found.links);
  EXPECT_NEAR(all.parts[0] + all.parts[1] + all.parts[2], all.seconds, 1e-6 * all.seconds);
}

// A measured kind and pass gets a factor, its measured time divided by the predicted one: here
// (3 ms + 5 ms) / (1 ms + 3 ms) = 2, so 4 ms become 8 ms. Other kinds and passes keep their
// prediction.
TEST(Calibration, KernelsOfAKindHaveAFactor) {
  const OwnRates found = fittedRates({{.kind = "relu", .work = {.bytes = 1e6}, .seconds = 3e-3},
                                      {.kind = "relu", .work = {.bytes = 3e6}, .seconds = 5e-3}},
                                     {}, kBytes, someRates());
  const KernelRates& kernels = found.kernels;
  EXPECT_NEAR(kernels.seconds("relu", kBytes, {.bytes = 4e6}), 8e-3, 1e-12);
  EXPECT_NEAR(kernels.seconds("relu", kBytes, {.pass = KernelPass::Adjoint, .bytes = 4e6}), 4e-3,
              1e-12);
  EXPECT_NEAR(kernels.seconds("tanh", kBytes, {.bytes = 4e6}), 4e-3, 1e-12);
  EXPECT_EQ(kernels.flops, 1e10);
}

TEST(Calibration, KeepsRatesOfWhichNothingWasMeasured) {
  const OwnRates none =
      fittedRates({{.kind = "conv", .work = {.flops = 1}, .seconds = 0}}, {}, kBytes, someRates());
  EXPECT_EQ(none.kernels, someRates().kernels);
  EXPECT_EQ(none.links, someRates().links);
}

// The longer message is the faster one, for which a plain fit would have a negative time per byte.
TEST(Calibration, IsNeverNegative) {
  const LinkRates known = someRates().links;
  std::vector<MeasuredMove> moves = {moveOf(1, 10, known, known), moveOf(1, 1e5, known, known)};
  moves[0].seconds = 2;
  moves[1].seconds = 1;
  const OwnRates found = fittedRates({}, moves, kBytes, someRates());
  EXPECT_GT(found.links.latency, 0);
  EXPECT_GT(found.links.bandwidth, 0);
  EXPECT_LT(found.links.bandwidth, 1e300); // nor is the time per byte 0
}

// At the minimum of the squared relative errors, the residuals are orthogonal to each part. The
// parts are any that do not depend on each other, and no factors give the times exactly.
TEST(Calibration, ResidualsAreOrthogonalToTheParts) {
  std::vector<MeasuredMove> moves;
  for (int m = 1; m < 9; ++m)
    moves.push_back({.parts = {1.0, double(m), double(m * m % 5)},
                     .seconds = 2 + 0.5 * m + 0.3 * (m * m % 5) + 0.1 * (m % 2)});
  const PriceParts factors = fittedFactors(moves);
  for (int part = 0; part < kPriceParts; ++part) {
    double product = 0;
    for (const MeasuredMove& move : moves) {
      double error = 1;
      for (int i = 0; i < kPriceParts; ++i)
        error -= factors[i] * move.parts[i] / move.seconds;
      product += error * move.parts[part] / move.seconds;
    }
    EXPECT_GT(factors[part], 0);
    EXPECT_NEAR(product, 0, 1e-12);
  }
}

// Sums with planted factors, of which one is 0: the fits find them if the times have no error.
TEST(Calibration, LeastSquaresFindPlantedFactors) {
  const std::array<double, 4> planted = {2e-10, 0, 3e-11, 5e-9};
  std::vector<MeasuredSum<4>> sums;
  for (int s = 1; s < 9; ++s) {
    MeasuredSum<4> sum{.parts = {1e6 * s, 1e5 * (s * s % 7), 1e4 * (9 - s), 1e3 * (s * s % 5)}};
    sum.seconds = sumOf(sum, planted);
    sums.push_back(sum);
  }
  for (const auto& found : {leastSquares(sums), leastRatios(sums)}) {
    ASSERT_TRUE(found);
    for (int part = 0; part < 4; ++part)
      EXPECT_NEAR((*found)[part], planted[part], 1e-6 * planted[part] + 1e-18);
  }
  // Only sums with a positive time count, and here is none.
  EXPECT_FALSE(leastSquares(std::vector<MeasuredSum<2>>{{.parts = {1, 1}, .seconds = 0}}));
}

// For times of 1 and 4 seconds for the same work, p / 1 + p / 4 + 1 / p + 4 / p is least at p = 2.
// The squares of relative errors are least at (1 + 1/4) / (1 + 1/16).
TEST(Calibration, LeastRatiosTakeTooLongAsTooShort) {
  const std::vector<MeasuredSum<1>> sums = {{.parts = {1}, .seconds = 1},
                                            {.parts = {1}, .seconds = 4}};
  EXPECT_NEAR((*leastSquares(sums))[0], 1.25 / 1.0625, 1e-14);
  EXPECT_NEAR((*leastRatios(sums))[0], 2, 1e-6);
}

// All ranks get the same rates from a measured run, and a second plan uses them.
TEST(Calibration, OfARunIsTheSameOnAllRanks) {
  const NetworkCase c = caseNamed("residual");
  const Ref<LayerPlan> plan = planOf(c, world());
  plan->setUp();
  logEnable(true);
  trained(plan->layer(), world(), plan->inputLayout(), 4);
  logEnable(false);
  const OwnRates rates = plan->calibrated();
  agreeOnText(*world(), "rates", [&] {
    return fmt::format("{} {} {}", rates.links.describe(), rates.kernels.flops,
                       rates.kernels.scales.size());
  });
  EXPECT_GT(rates.kernels.flops, 0);
  const Ref<LayerPlan> again = planOf(c, world());
  again->setRates(rates);
  again->setUp();
  double predicted = 0, fitted = 0;
  for (const LayerCost& cost : plan->costs(world()->rank(), /*inputCotangent=*/false))
    predicted += sumOf(cost).seconds;
  for (const LayerCost& cost : again->costs(world()->rank(), /*inputCotangent=*/false))
    fitted += sumOf(cost).seconds;
  EXPECT_GT(fitted, 0);
  EXPECT_NE(fitted, predicted);
}

} // namespace
} // namespace tenon::test
