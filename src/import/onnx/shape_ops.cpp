// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: constants, extents, reshapes and transposes. Each function reads the inputs and
// attributes of a node (OnnxCall c: c.x() is input 0, c.operands has the attributes) and appends
// values to the canonical graph by the builder c.b. The table at the end has a row per operator
// (operator_rows.hpp). A graph is built for fixed extents of its inputs, so Shape returns a
// constant, and shapes computed from it are constants too.
#include "import/onnx/operator_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// The value is one of several attributes, by type.
ModelValues onnxConstant(const OnnxCall& c) {
  for (const auto& [name, argument] : c.operands.operation().arguments) {
    if (name == "value" || name == "value_int" || name == "value_float")
      return {c.operands.needed(name)};
    if (name == "value_ints")
      return {c.b.integers(c.operands.integers(name, {}))};
    if (name == "value_floats") {
      const std::vector<double> numbers = c.operands.reals(name);
      return {
          c.b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers))};
    }
  }
  return {c.b.refuse("a constant that is no tensor of numbers", "numbers", {1})};
}
// The default value is 0.
ModelValues onnxConstantOfShape(const OnnxCall& c) {
  const Value value = c.operands.value("value");
  const Shape shape = c.b.integersOf(c.x(), "a shape");
  c.b.checkShape(shape);
  return {c.b.expand(value ? c.b.reshape(value, {}) : c.b.number(0), shape)};
}
// [start, limit) by steps.
ModelValues onnxRange(const OnnxCall& c) {
  const double first = c.numberAt(0, 0), last = c.numberAt(1, 0), step = c.numberAt(2, 1);
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  c.b.check(count < 1e7 && count == count, "its number of steps is out of range");
  std::vector<double> numbers;
  for (double i = 0; i < count; ++i)
    numbers.push_back(first + i * step);
  return {c.b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers,
                                                c.b.numbersOf(c.x(), "a number").isInteger()))};
}
// Extents start ... end - 1; both can be negative.
ModelValues onnxShape(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const auto rank = static_cast<Index>(shape.size());
  const auto bound = [&](Index n) { return std::clamp(n < 0 ? n + rank : n, Index(0), rank); };
  const Index begin = bound(c.operands.integer("start", 0)),
              end = bound(c.operands.integer("end", rank));
  return {c.b.integers(begin < end ? std::vector<Index>(shape.begin() + begin, shape.begin() + end)
                                   : std::vector<Index>())};
}
ModelValues onnxSize(const OnnxCall& c) {
  return {c.b.number(static_cast<double>(elements(c.x()->shape)), /*isInteger=*/true)};
}
ModelValues onnxReshape(const OnnxCall& c) {
  std::vector<Index> shape = c.integersAt(1, "a shape");
  for (std::size_t d = 0; d < shape.size(); ++d)
    // In ONNX an extent of 0 means: copied from the input.
    if (shape[d] == 0 && !c.operands.flag("allowzero", false)) {
      c.b.check(d < c.x()->shape.size(), "a reshape copies an extent that is not there");
      shape[d] = c.x()->shape[d];
    }
  return {c.b.reshape(c.x(), shape)};
}
// Always a matrix: the dimensions before `axis` and those from it on.
ModelValues onnxFlatten(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const Index axis = c.operands.integer("axis", 1);
  const auto k =
      axis == static_cast<Index>(shape.size()) ? axis : c.b.dimension(axis, c.x()->ndim());
  return {c.b.reshape(c.x(), {elements(Shape(shape.begin(), shape.begin() + k)),
                              elements(Shape(shape.begin() + k, shape.end()))})};
}
// The axes are positions in the result.
ModelValues onnxUnsqueeze(const OnnxCall& c) {
  Shape shape = c.x()->shape;
  std::vector<int> dims;
  const std::vector<Index> axes = c.listAt(1, "axes");
  for (const Index d : axes)
    dims.push_back(
        c.b.dimension(d, c.x()->ndim() + static_cast<int>(std::min<std::size_t>(axes.size(), 64))));
  std::sort(dims.begin(), dims.end());
  for (const int d : dims) {
    c.b.check(d <= static_cast<int>(shape.size()), "it puts dimensions in at one place twice");
    shape.insert(shape.begin() + d, 1);
  }
  return {c.b.reshape(c.x(), shape)};
}
// Drops the listed dimensions, or all of extent 1.
ModelValues onnxSqueeze(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->ndim()));
  Shape shape;
  for (int d = 0; d < c.x()->ndim(); ++d) {
    const Index extent = c.x()->shape[static_cast<std::size_t>(d)];
    const bool isNamed = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!(dims.empty() ? extent == 1 : isNamed))
      shape.push_back(extent);
  }
  return {c.b.reshape(c.x(), shape)};
}
// The default reverses the dimensions.
ModelValues onnxTranspose(const OnnxCall& c) {
  std::vector<int> order;
  for (const Index d : c.operands.integers("perm", {}))
    order.push_back(c.b.dimension(d, c.x()->ndim()));
  for (int d = c.x()->ndim(); order.size() < c.x()->shape.size() && !c.operands.has("perm");)
    order.push_back(--d);
  return {c.b.transpose(c.x(), order)};
}
ModelValues onnxTile(const OnnxCall& c) {
  return {c.b.tile(c.x(), c.integersAt(1, "numbers of copies"))};
}
ModelValues onnxExpand(const OnnxCall& c) {
  return {c.b.expand(c.x(), c.integersAt(1, "a shape"))};
}

} // namespace

std::span<const OnnxRow> onnxShapes() {
  static constexpr OnnxRow rows[] = {
      {"Constant", onnxConstant, "", 0, "value value_float value_floats value_int value_ints"},
      {"ConstantOfShape", onnxConstantOfShape, "", 1, "value"},
      {"Expand", onnxExpand, "", 2},
      {"Flatten", onnxFlatten, "", 1, "axis"},
      {"Range", onnxRange, "", 3},
      {"Reshape", onnxReshape, "", 2, "allowzero"},
      {"Shape", onnxShape, "", 1, "end start"},
      {"Size", onnxSize},
      {"Squeeze", onnxSqueeze, "", 2, "axes"},
      {"Tile", onnxTile, "", 2},
      {"Transpose", onnxTranspose, "", 1, "perm"},
      {"Unsqueeze", onnxUnsqueeze, "", 2, "axes"}};
  return rows;
}

} // namespace tenon
