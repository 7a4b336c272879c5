// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: fields at computed points, rows of a table at computed places, and the
// elements of windows. Each function reads the arguments of an operation by name (Operands) and
// appends values to the canonical graph by the builder b; self() is the first argument. The table
// at the end has a row per family of operators: name, function, and the function's last argument
// `variant`, which selects what a shared function computes (operator_rows.hpp).
#include "import/pt2/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// PyTorch's numbers of the methods, of what is outside, and of the reductions.
ModelValues gridSample(ModelBuilder& b, const Operands& operands, const char*) {
  using Sampling = ModelBuilder::Sampling;
  constexpr Sampling::Method kMethods[] = {Sampling::Method::Linear, Sampling::Method::Nearest,
                                           Sampling::Method::Cubic};
  constexpr Sampling::Outside kOutside[] = {Sampling::Outside::Zeros, Sampling::Outside::Border,
                                            Sampling::Outside::Reflection};
  const Index method = operands.integer("interpolation_mode"),
              outside = operands.integer("padding_mode");
  b.check(method >= 0 && method < 3 && outside >= 0 && outside < 3, "its mode is not known");
  return {b.sampled(self(operands), operands.needed("grid"),
                    {.method = kMethods[method],
                     .outside = kOutside[outside],
                     .alignsCorners = operands.flag("align_corners", false)})};
}
// The size is [n, channels, space...].
ModelValues affineGrid(ModelBuilder& b, const Operands& operands, const char*) {
  std::vector<Index> size = operands.integers("size", {});
  b.check(size.size() >= 3, "its size is not that of a field [n, channels, space...]");
  size.erase(size.begin(), size.begin() + 2);
  return {b.affineGrid(operands.needed("theta"), size, operands.flag("align_corners", false))};
}
// A row of flags for each class.
ModelValues oneHot(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const Index classes = operands.integer("num_classes", -1);
  if (classes < 0 || classes > kMaxModelNumbers)
    return {b.refuse("one_hot without a number of classes", "num_classes", x->shape)};
  return {b.oneHot(x, x->ndim(), classes)};
}
// Rows of a table: those of constant places, or products with a row of flags.
ModelValues embedding(ModelBuilder& b, const Operands& operands, const char*) {
  const Value table = operands.needed("weight"), places = operands.needed("indices");
  b.check(table->ndim() == 2, "its table has another number of dimensions than two");
  Shape shape = places->shape;
  shape.push_back(table->shape[1]);
  // It changes the gradient of the table alone.
  if (operands.flag("scale_grad_by_freq", false) && !table->isKnown() &&
      b.mode() == ModelMode::Training)
    return {b.refuse("an embedding with scale_grad_by_freq, whose table is trained",
                     "one without it, a table that is a buffer, or the network in eval mode",
                     shape)};
  const Value rows =
      places->isKnown()
          ? b.reshape(b.gather(table, 0, b.reshape(places, {elements(places->shape)})), shape)
          : b.chosenRows(b.oneHot(places, places->ndim(), table->shape[0]), table);
  // The row with this index gets no gradient.
  const Index padding = operands.integer("padding_idx", -1);
  if (padding < 0 || table->isKnown())
    return {rows};
  shape.back() = 1;
  const Value isPadding = b.compare("eq", b.reshape(places, shape), b.number(double(padding)));
  return {b.where(isPadding, b.stopped(rows), rows)};
}
ModelBuilder::Windows windowsOf(const Operands& operands) {
  const auto both = [&](const char* name, Index otherwise) {
    return operands.perDimension(name, otherwise, 2);
  };
  return {.kernel = both("kernel_size", 1),
          .stride = both("stride", 1),
          .dilation = both("dilation", 1),
          .low = both("padding", 0),
          .high = both("padding", 0)};
}
Value withBatch(ModelBuilder& b, Value x) {
  Shape shape = x->shape;
  shape.insert(shape.begin(), 1);
  return b.reshape(x, shape);
}
Value withoutBatch(ModelBuilder& b, Value x) {
  return b.reshape(x, Shape(x->shape.begin() + 1, x->shape.end()));
}
// The batch can be absent.
ModelValues unfold(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const ModelBuilder::Windows windows = windowsOf(operands);
  return {x->ndim() == 3 ? withoutBatch(b, b.unfolded(withBatch(b, x), windows))
                         : b.unfolded(x, windows)};
}
ModelValues fold(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const ModelBuilder::Windows windows = windowsOf(operands);
  const std::vector<Index> size = operands.integers("output_size", {});
  return {x->ndim() == 2 ? withoutBatch(b, b.foldedWindows(withBatch(b, x), size, windows))
                         : b.foldedWindows(x, size, windows)};
}
// Windows of one dimension, whose elements become the last dimension.
ModelValues windowsAlong(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dimension"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], size = operands.integer("size"),
              step = operands.integer("step");
  b.check(size >= 1 && size <= n && step >= 1, "its windows do not fit the dimension");
  const Index last = (n - size) / step * step; // where the last window begins
  ModelValues elements;
  for (Index i = 0; i < size; ++i) {
    const Value part = b.slice(x, d, i, last + i + 1, step);
    Shape shape = part->shape;
    shape.push_back(1);
    elements.push_back(b.reshape(part, shape));
  }
  return {b.concatenate(elements, x->ndim())};
}

} // namespace

std::span<const Pt2Row> pt2Sampling() {
  static constexpr Pt2Row rows[] = {{"affine_grid_generator", affineGrid},
                                    {"col2im", fold},
                                    {"embedding", embedding},
                                    {"grid_sampler", gridSample},
                                    {"grid_sampler_2d", gridSample},
                                    {"grid_sampler_3d", gridSample},
                                    {"im2col", unfold},
                                    {"one_hot", oneHot},
                                    {"unfold", windowsAlong}};
  return rows;
}

} // namespace tenon
