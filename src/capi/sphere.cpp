// SPDX-License-Identifier: BSD-2-Clause
// Grids on the sphere and the folded order of spherical harmonic coefficients, which programs need
// to fill fields and to read coefficients. These calls are local and do not require an initialised
// library. The calls are declared in tenon/sphere.h.
#include "capi/arguments.hpp"
#include "kernels/sphere/rows.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/sphere.h>

using namespace tenon;

TenonErrorCode TenonSphereGetRows(const char* grid, TenonInt rows, double colatitude[],
                                  double weight[]) noexcept {
  return guard(__func__, [&] {
    const SphereRows result = sphereRows(sphereGridNamed(textOf(grid, "grid")), rows);
    required(colatitude, "colatitude");
    required(weight, "weight");
    copyList(result.colatitude, colatitude, "colatitude");
    copyList(result.weight, weight, "weight");
  });
}

TenonErrorCode TenonSphereGetOrders(TenonInt orders, TenonInt order[]) noexcept {
  return guard(__func__, [&] {
    if (orders < 0)
      throw Error(TENON_ERR_ARG, fmt::format("orders is {}; expected 0 or more", orders));
    std::vector<TenonInt> result;
    for (TenonInt place = 0; place < orders; ++place)
      result.push_back(orderAtPlace(place, orders));
    copyList(result, order, "order");
  });
}
