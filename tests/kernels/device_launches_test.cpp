// SPDX-License-Identifier: BSD-2-Clause
// How many CUDA kernels a reduction launches, counted by the stand-in for CUDA: one where each
// group of terms is reduced by one thread or by some threads of a block, and two where groups are
// divided into pieces. The results are compared with the host's in device_sums_test.cpp.
#include "kernels/movement/block_copy.hpp"
#include "kernels/on_device.hpp"
#include "kernels/rows/softmax.hpp"
#include "standin/calls.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tenon::test {
namespace {

std::uint64_t kernelsOf(const std::function<void()>& work) {
  const std::uint64_t before = tenonStandinCalls().kernels;
  work();
  return tenonStandinCalls().kernels - before;
}

// Sums along 20 elements (one thread each), 64 (eight threads) and 200,000 (pieces).
TEST(DeviceReductions, AreOneKernelUnlessGroupsHavePieces) {
  KernelContext& at = *deviceContext();
  const struct {
    AxisShape shape;
    std::uint64_t kernels;
  } cases[] = {{{2, 20, 16}, 1}, {{1, 64, 1000}, 1}, {{1, 200'000, 2}, 2}};
  for (const auto& [shape, kernels] : cases) {
    const std::vector<float> values(std::size_t(shape.outer * shape.n * shape.inner), 1.0F);
    DeviceCopy<float> x(at, values.data(), Index(values.size())),
        sums(at, values.data(), shape.outer * shape.inner);
    EXPECT_EQ(kernelsOf([&] { axisSums(at, shape, x.data(), sums.data()); }), kernels) << shape.n;
    EXPECT_EQ(kernelsOf([&] { axisMaxima(at, shape, x.data(), sums.data()); }), kernels) << shape.n;
  }
}

// The gradient of a bias of 3 channels at 25 points.
TEST(DeviceReductions, OfBoxesAreOneKernelForFewTerms) {
  KernelContext& at = *deviceContext();
  const std::vector<double> values(75, 1.0);
  DeviceCopy<double> dy(at, values.data(), 75), db(at, values.data(), 3);
  const Index extent[] = {3, 25}, ofPoints[] = {25, 1}, ofChannels[] = {1, 0};
  EXPECT_EQ(kernelsOf([&] {
              blockMultiplyAdd<double>(at, 2, extent, 1.0, nullptr, nullptr, dy.data(), ofPoints,
                                       db.data(), ofChannels);
            }),
            1u);
}

} // namespace
} // namespace tenon::test
