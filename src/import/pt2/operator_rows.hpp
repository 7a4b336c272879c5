// SPDX-License-Identifier: BSD-2-Clause
// The operators of PyTorch (aten) as rows of tables, one row for each family: "conv" is conv1d to
// conv3d, and "relu" includes relu_, which changes its argument in place. Overloads
// ("aten.add.Tensor", "aten.add.Scalar") use the same names for the same arguments.
#pragma once

#include "import/canonical/operands.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace tenon {

// One family of operators.
struct Pt2Row {
  // `variant` is the row's last member. It selects the function, operation, relation or method
  // where several families share one Build.
  using Build = ModelValues (*)(ModelBuilder&, const Operands&, const char* variant);
  std::string_view name;
  Build build;
  const char* variant = "";
};

// The rows of each source file.
std::span<const Pt2Row> pt2Functions();
std::span<const Pt2Row> pt2Arithmetic();
std::span<const Pt2Row> pt2Special();
std::span<const Pt2Row> pt2Losses();
std::span<const Pt2Row> pt2Layers();
std::span<const Pt2Row> pt2Products();
std::span<const Pt2Row> pt2Reductions();
std::span<const Pt2Row> pt2Recurrent();
std::span<const Pt2Row> pt2Shapes();
std::span<const Pt2Row> pt2Parts();
std::span<const Pt2Row> pt2Joins();
std::span<const Pt2Row> pt2Differences();
std::span<const Pt2Row> pt2Places();
std::span<const Pt2Row> pt2Constants();
std::span<const Pt2Row> pt2Spectral();
std::span<const Pt2Row> pt2Sampling();
std::span<const Pt2Row> pt2Filters(); // not in aten

// Returns the first argument, which is called "self" or "input".
inline ModelBuilder::Value self(const Operands& operands) {
  const ModelBuilder::Value x = operands.value("self");
  return x ? x : operands.needed("input");
}
inline ModelBuilder::Value scaled(ModelBuilder& b, ModelBuilder::Value x, double factor) {
  return b.affine(x, {factor}, {0});
}
// Returns "zeros" for "aten.zeros.default"; "" if it is not in aten.
inline std::string_view atenName(std::string_view type) {
  constexpr std::string_view kAten = "aten.";
  if (!type.starts_with(kAten))
    return "";
  type.remove_prefix(kAten.size());
  return type.substr(0, type.find('.'));
}
// PyTorch's numbers of types.
struct TorchType {
  static constexpr Index kUint8 = 1, kInt16 = 3, kInt32 = 4, kInt64 = 5, kFloat16 = 6, kFloat32 = 7,
                         kFloat64 = 8, kFirstComplex = 9, kLastComplex = 11, kBool = 12,
                         kBfloat16 = 13;
  static bool isInteger(Index type) { return type >= kUint8 && type <= kInt64; }
  static bool isReal(Index type) {
    return (type >= kFloat16 && type <= kFloat64) || type == kBfloat16;
  }
};
// Returns the number of spatial dimensions of a field [batch, channels, space...].
inline int spatialOf(ModelBuilder::Value x) {
  return std::max(x->ndim() - 2, 0);
}

} // namespace tenon
