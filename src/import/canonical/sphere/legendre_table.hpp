// SPDX-License-Identifier: BSD-2-Clause
// Tables of associated Legendre functions in model files. Networks on the sphere have such a table
// [order, degree, row] for each transform, most often rounded to float32. The table says which
// transform it is: it is compared with the tables of all grids and norms that Tenon's layers have.
#pragma once

#include "import/canonical/model_constant.hpp"

#include <optional>
#include <string>

namespace tenon {

// What a table equals, up to `factor`: of a synthesis f P_lm(t_y), of an analysis f P_lm(t_y) w_y,
// where f has the norm and the sign (declaration/sphere). Versions of the exporting libraries
// differ in whether 2 pi is part of the table.
struct LegendreTable {
  std::string grid; // gauss, poles, cells
  bool isSchmidt, hasSign, southFirst;
  double factor;
};

// Compares all elements of a table [order, degree, row]; none if it is another table. Reads the
// file in blocks.
std::optional<LegendreTable> recognisedTable(const ModelWeights& weights,
                                             const ModelConstant& table, bool isSynthesis);

} // namespace tenon
