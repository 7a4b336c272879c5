// SPDX-License-Identifier: BSD-2-Clause
// Grids on the sphere and the order of coefficients in the C API, with numbers from their rules.
#include "capi/expect_code.hpp"

#include <tenon/sphere.h>

#include <cmath>
#include <vector>

namespace tenon::test {
namespace {

class SphereCApi : public CApi {};

TEST_F(SphereCApi, HasRowsWithWeights) {
  std::vector<double> colatitude(5), weight(5);
  expectSuccess(TenonSphereGetRows("poles", 5, colatitude.data(), weight.data()));
  const double weights[] = {1. / 15, 8. / 15, 4. / 5, 8. / 15, 1. / 15}; // Clenshaw and Curtis
  for (int y = 0; y < 5; ++y) {
    EXPECT_NEAR(colatitude[y], std::acos(-1.0) * y / 4, 1e-15);
    EXPECT_NEAR(weight[y], weights[y], 1e-15);
  }
  expectSuccess(TenonSphereGetRows("gauss", 2, colatitude.data(), weight.data()));
  EXPECT_NEAR(colatitude[0], std::acos(std::sqrt(1. / 3)), 1e-15);
  EXPECT_NEAR(weight[0], 1, 1e-15);
  expectCode(TENON_ERR_ARG, TenonSphereGetRows("icosahedral", 5, colatitude.data(), weight.data()),
             {"'icosahedral'", "'gauss'"});
  expectCode(TENON_ERR_ARG, TenonSphereGetRows("poles", 1, colatitude.data(), weight.data()),
             {"1 rows", "at least 2"});
  expectCode(TENON_ERR_NULL, TenonSphereGetRows("gauss", 5, nullptr, weight.data()),
             {"colatitude"});
}

TEST_F(SphereCApi, HasOrdersInPairs) {
  std::vector<TenonInt> order(5);
  expectSuccess(TenonSphereGetOrders(5, order.data()));
  EXPECT_EQ(order, (std::vector<TenonInt>{0, 4, 1, 3, 2}));
  expectSuccess(TenonSphereGetOrders(0, nullptr));
  expectCode(TENON_ERR_ARG, TenonSphereGetOrders(-1, order.data()), {"orders is -1"});
}

} // namespace
} // namespace tenon::test
