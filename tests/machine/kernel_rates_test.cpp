// SPDX-License-Identifier: BSD-2-Clause
// Kernels by the roof and by measured curves.
#include "machine/kernel_rates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

constexpr KernelPass kApply = KernelPass::Apply, kAdjoint = KernelPass::Adjoint;

TEST(KernelRates, OperationsOrBytesWhicheverTakesLonger) {
  const KernelRates rates{.flops = 100, .memory = 10, .call = 0.5};
  EXPECT_DOUBLE_EQ(rates.seconds("conv", kApply, 4, {.flops = 300, .bytes = 20}), 0.5 + 3);
  EXPECT_DOUBLE_EQ(rates.seconds("relu", kApply, 4, {.flops = 0, .bytes = 20}), 0.5 + 2);
  EXPECT_EQ(rates.seconds("relu", kApply, 4, {}), 0);
}

TEST(KernelRates, CurvesAreMetAtTheirPoints) {
  KernelRates rates{.flops = 1, .memory = 1};
  rates.curves = {{"conv", kApply, 8, {{2, 50}, {8, 25}}}};
  const auto seconds = [&](double flopsOfAByte) {
    return rates.seconds("conv", kApply, 8, {.flops = 100 * flopsOfAByte, .bytes = 100});
  };
  EXPECT_DOUBLE_EQ(seconds(2), 2);
  EXPECT_DOUBLE_EQ(seconds(8), 4);
  EXPECT_NEAR(seconds(4), 2 * std::sqrt(2.0), 1e-12);
  // Limited by memory before them, and by operations behind.
  EXPECT_DOUBLE_EQ(seconds(0.1), 2);
  EXPECT_DOUBLE_EQ(seconds(80), 40);
  // Of another type, pass or size of elements there is none.
  EXPECT_DOUBLE_EQ(rates.seconds("affine", kApply, 8, {.bytes = 100}), 100);
  EXPECT_DOUBLE_EQ(rates.seconds("conv", kAdjoint, 8, {.bytes = 100}), 100);
  EXPECT_DOUBLE_EQ(rates.seconds("conv", kApply, 4, {.bytes = 100}), 100);
}

TEST(KernelRates, FactorsOfATypeMultiplyAll) {
  KernelRates rates{.flops = 1, .memory = 1, .call = 1};
  rates.scales[{"relu", kAdjoint}] = 3;
  EXPECT_DOUBLE_EQ(rates.seconds("relu", kAdjoint, 8, {.bytes = 9}), 30);
  EXPECT_DOUBLE_EQ(rates.seconds("relu", kApply, 8, {.bytes = 9}), 10);
}

} // namespace
} // namespace tenon
