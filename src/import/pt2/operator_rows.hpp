// SPDX-License-Identifier: BSD-2-Clause
// The operators of PyTorch (aten) as rows of tables, one row for each family: "conv" is conv1d to
// conv3d, "relu" also relu_, which changes its argument. Overloads ("aten.add.Tensor",
// "aten.add.Scalar") have the same arguments by the same names.
#pragma once

#include "import/canonical/operands.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace tenon {

struct Pt2Row {
  // `of` is the row's: the function, operation, relation or method.
  using Build = ModelValues (*)(ModelBuilder&, const Operands&, const char* of);
  std::string_view name;
  Build build;
  const char* of = "";
};

// The rows of each source.
std::span<const Pt2Row> pt2Functions();
std::span<const Pt2Row> pt2Arithmetic();
std::span<const Pt2Row> pt2Layers();
std::span<const Pt2Row> pt2Reductions();
std::span<const Pt2Row> pt2Recurrent();
std::span<const Pt2Row> pt2Shapes();
std::span<const Pt2Row> pt2Parts();
std::span<const Pt2Row> pt2Places();
std::span<const Pt2Row> pt2Constants();
std::span<const Pt2Row> pt2Spectral();

// The first argument, which some operators call otherwise.
inline ModelBuilder::Value self(const Operands& given) {
  const ModelBuilder::Value x = given.value("self");
  return x ? x : given.needed("input");
}
inline int spatialOf(ModelBuilder::Value x) {
  return std::max(x->rank() - 2, 0);
}

} // namespace tenon
