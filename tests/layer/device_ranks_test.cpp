// SPDX-License-Identifier: BSD-2-Clause
// Layers and operators on the device of several processes are refused, on all of them alike.
#include "layer_run.hpp"

namespace tenon {
namespace {

TEST(DeviceOnSeveralRanks, IsRefusedAtSetUp) {
  const auto layer = test::newPointwise(test::world(), "relu");
  layer->setName("rectifier");
  layer->setSpace(Space::Device);
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"\"rectifier\"", "2 processes", "space host"}, [&] {
    layer->setUp(test::onWorld({4, 3}, "S0"));
  });
}

TEST(DeviceOnSeveralRanks, IsRefusedByOperators) {
  const Layout from = test::onWorld({4, 3}, "S0"), to = test::onWorld({4, 3}, "B");
  const auto x = makeRef<DTensor>(test::world(), from, TENON_FLOAT64, Space::Device);
  const auto y = makeRef<DTensor>(test::world(), to, TENON_FLOAT64, Space::Device);
  const auto op = makeConversion(test::world(), from, to, TENON_FLOAT64);
  EXPECT_THROW(op->apply(*x, *y), Error);
  EXPECT_THROW(op->apply(*x, *test::tensor(to)), Error);
}

} // namespace
} // namespace tenon
