// SPDX-License-Identifier: BSD-2-Clause
// Operators of torch-harmonics, which are not in aten: convolutions with filters of compact support
// on the sphere (canonical/sphere/filters.cpp). Each has lists of the filters' entries, which its
// module has as buffers; other orders of the same lists, for its kernels, are not read. The table
// of rows is declared in operator_rows.hpp, readsFilterLists() in pt2.hpp.
#include "import/pt2/operator_rows.hpp"
#include "import/pt2/pt2.hpp"

#include <span>
#include <string_view>

namespace tenon {

namespace {

constexpr std::string_view kTorchHarmonics = "torch.ops.disco_kernels.";

FilterLists listsOf(const Operands& operands, bool isTransposed) {
  for (const char* name :
       {"roff_idx", "split_roff_idx", "split_nnz_off", "split_ker_idx", "split_row_idx",
        "split_col_idx", "split_vals", "split_row_offsets", "split_nnz_offsets"})
    operands.has(name); // has no effect
  return {.functions = operands.needed("ker_idx"),
          .rows = operands.needed("row_idx"),
          .points = operands.needed("col_idx"),
          .values = operands.needed("vals"),
          .functionCount = operands.integer("kernel_size"),
          .outputRows = operands.integer("nlat_out"),
          .outputColumns = operands.integer("nlon_out"),
          .isTransposed = isTransposed};
}

// `variant`: "transposed" or "".
ModelValues filtered(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.filtered(operands.needed("inp"), listsOf(operands, *variant != '\0'))};
}
// With the product with a weight [groups, out, in, functions].
ModelValues convolved(ModelBuilder& b, const Operands& operands, const char*) {
  const auto z = b.filtered(operands.needed("inp"), listsOf(operands, /*isTransposed=*/false)),
             w = operands.needed("weight");
  const Index groups = operands.integer("groups"), inputs = operands.integer("groupsize");
  b.check(w->ndim() == 4 && w->shape[0] == groups && w->shape[2] == inputs && z->ndim() == 5 &&
              z->shape[1] == groups * inputs,
          "its weight does not fit its groups");
  const auto y = b.einsum(
      "bgckxy,gock->bgoxy",
      {b.reshape(z, {z->shape[0], groups, inputs, z->shape[2], z->shape[3], z->shape[4]}), w});
  return {b.reshape(y, {z->shape[0], groups * w->shape[1], z->shape[3], z->shape[4]})};
}

} // namespace

bool readsFilterLists(const std::string& type) {
  return type.starts_with(kTorchHarmonics);
}

std::span<const Pt2Row> pt2Filters() {
  static constexpr Pt2Row rows[] = {
      {"torch.ops.disco_kernels._disco_s2_contraction_optimized.default", filtered},
      {"torch.ops.disco_kernels._disco_s2_fused_conv_optimized.default", convolved},
      {"torch.ops.disco_kernels._disco_s2_transpose_contraction_optimized.default", filtered,
       "transposed"},
      {"torch.ops.disco_kernels.forward.default", filtered}};
  return rows;
}

} // namespace tenon
