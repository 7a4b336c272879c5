// SPDX-License-Identifier: BSD-2-Clause
// Tests predicted times of kernels, by the roofline and by measured times, against sums written by
// hand.
#include "machine/kernel_rates.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr KernelPass kApply = KernelPass::Apply, kAdjoint = KernelPass::Adjoint,
                     kParameters = KernelPass::Parameters;

TEST(KernelRates, OperationsOrBytesWhicheverTakesLonger) {
  const KernelRates rates{.flops = 100, .memory = 10, .call = 0.5};
  EXPECT_DOUBLE_EQ(rates.seconds("conv", 4, {.flops = 300, .bytes = 20}), 0.5 + 3);
  EXPECT_DOUBLE_EQ(rates.seconds("relu", 4, {.flops = 0, .bytes = 20}), 0.5 + 2);
  EXPECT_EQ(rates.seconds("relu", 4, {}), 0);
}

TEST(KernelRates, MeasuredKindsAreSums) {
  KernelRates rates{.flops = 1, .memory = 1, .call = 0.5};
  // Kind, pass, bytes of an element, and the seconds per operation, byte, row and column.
  rates.measured = {{"conv", kApply, 8, 2, 3, 5, 7}, {"conv", kParameters, 8, 1, 0, 0, 0}};
  const auto seconds = [&](const char* kind, KernelPass pass, Index elementBytes) {
    return rates.seconds(kind, elementBytes,
                         {.pass = pass, .flops = 1000, .bytes = 100, .rows = 10, .columns = 1});
  };
  EXPECT_DOUBLE_EQ(seconds("conv", kApply, 8), 0.5 + 2 * 1000 + 3 * 100 + 5 * 10 + 7);
  EXPECT_DOUBLE_EQ(seconds("conv", kParameters, 8), 0.5 + 1000);
  // For another kind, pass or element size nothing was measured, so flops and memory give the time.
  rates.flops = 100;
  EXPECT_DOUBLE_EQ(seconds("strided conv", kApply, 8), 0.5 + 100);
  EXPECT_DOUBLE_EQ(seconds("conv", kAdjoint, 8), 0.5 + 100);
  EXPECT_DOUBLE_EQ(seconds("conv", kApply, 4), 0.5 + 100);
}

TEST(KernelRates, FactorsOfAKindMultiplyAll) {
  KernelRates rates{.flops = 1, .memory = 1, .call = 1};
  rates.scales[{"relu", kAdjoint}] = 3;
  EXPECT_DOUBLE_EQ(rates.seconds("relu", 8, {.pass = kAdjoint, .bytes = 9}), 30);
  EXPECT_DOUBLE_EQ(rates.seconds("relu", 8, {.bytes = 9}), 10);
}

} // namespace
} // namespace tenon
