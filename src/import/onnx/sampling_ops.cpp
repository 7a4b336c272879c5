// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: losses of classes, elements at computed places (GridSample, OneHot), and boxes in
// the middle of a field. Each function reads the inputs and attributes of a node (OnnxCall c: c.x()
// is input 0, c.at(i) input i or null, c.operands has the attributes) and appends values to the
// canonical graph by the builder c.b. The table at the end has a row per operator
// (operator_rows.hpp).
#include "import/onnx/operator_rows.hpp"

#include <optional>
#include <span>
#include <string>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

Value lossOf(const OnnxCall& c, Value logarithms) {
  std::optional<Index> ignored;
  if (c.operands.has("ignore_index"))
    ignored = c.operands.integer("ignore_index");
  const std::string reduction = c.operands.text("reduction", "mean");
  return c.b.likelihoodLoss(logarithms, c.operands.neededInput(1), c.at(2), ignored, reduction);
}
ModelValues onnxLikelihoodLoss(const OnnxCall& c) {
  return {lossOf(c, c.x())};
}
// Result 1 has the logarithms of the probabilities.
ModelValues onnxCrossEntropy(const OnnxCall& c) {
  c.b.check(c.x()->ndim() >= 2, "a loss of classes needs [n, classes, ...]");
  const Value logarithms = c.b.binary("sub", c.x(), c.b.logSumExp(c.x(), {1}, /*keeps=*/true));
  return {lossOf(c, logarithms), logarithms};
}
// Before operator set 20 the methods were called bilinear and bicubic.
ModelValues onnxGridSample(const OnnxCall& c) {
  using Sampling = ModelBuilder::Sampling;
  const std::string mode = c.operands.text("mode", "linear"),
                    outside = c.operands.text("padding_mode", "zeros");
  c.b.check(mode == "linear" || mode == "bilinear" || mode == "nearest" || mode == "cubic" ||
                mode == "bicubic",
            "its mode is not known");
  c.b.check(outside == "zeros" || outside == "border" || outside == "reflection",
            "its padding_mode is not known");
  Sampling how;
  how.method = mode == "nearest"         ? Sampling::Method::Nearest
               : mode.ends_with("cubic") ? Sampling::Method::Cubic
                                         : Sampling::Method::Linear;
  how.outside = outside == "zeros"    ? Sampling::Outside::Zeros
                : outside == "border" ? Sampling::Outside::Border
                                      : Sampling::Outside::Reflection;
  how.alignsCorners = c.operands.flag("align_corners", false);
  return {c.b.sampled(c.x(), c.operands.neededInput(1), how)};
}
// The size is [n, channels, space...].
ModelValues onnxAffineGrid(const OnnxCall& c) {
  const bool alignsCorners = c.operands.flag("align_corners", false);
  std::vector<Index> size = c.integersAt(1, "its size");
  c.b.check(size.size() >= 3 && c.x()->ndim() == 3 && size[0] == c.x()->shape[0],
            "its size is not that of a field [n, channels, space...]");
  size.erase(size.begin(), size.begin() + 2);
  return {c.b.affineGrid(c.x(), size, alignsCorners)};
}
// Input 1 is the number of classes, input 2 the values of all others and of the class. Negative
// classes count from the end.
ModelValues onnxOneHot(const OnnxCall& c) {
  const int d = c.b.dimension(c.operands.integer("axis", -1), c.x()->ndim() + 1);
  const std::vector<Index> counts = c.integersAt(1, "a number of classes");
  c.b.check(counts.size() == 1 && counts[0] >= 0 && counts[0] <= kMaxModelNumbers,
            "its number of classes is out of range");
  const Value x = c.x(), values = c.operands.neededInput(2);
  c.b.check(values->shape == Shape{2}, "it needs two values");
  const Value fromEnd = c.b.affine(x, {1}, {static_cast<double>(counts[0])}),
              classes = c.b.where(c.b.compare("lt", x, c.b.number(0)), fromEnd, x);
  return {c.b.where(c.b.oneHot(classes, d, counts[0]), c.b.slice(values, 0, 1, 2),
                    c.b.slice(values, 0, 0, 1))};
}
// A matrix of the input's shape with ones on a diagonal.
ModelValues onnxEye(const OnnxCall& c) {
  const auto k = static_cast<double>(c.operands.integer("k", 0));
  const Shape shape = c.x()->shape;
  c.b.check(shape.size() == 2, "it needs a matrix");
  return {c.b.triangle(c.b.triangle(c.b.expand(c.b.number(1), shape), /*isUpper=*/true, k),
                       /*isUpper=*/false, k)};
}
// The middle of a dimension, or the dimension in the middle of zeros. The smaller half is in front.
ModelValues onnxCenter(const OnnxCall& c) {
  Value x = c.x();
  const std::vector<Index> size = c.integersAt(1, "its shape");
  std::vector<Index> axes = c.operands.integers("axes", {});
  for (int d = 0; !c.operands.has("axes") && d < x->ndim(); ++d)
    axes.push_back(d);
  c.b.check(size.size() == axes.size(), "it has another number of extents");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int d = c.b.dimension(axes[i], x->ndim());
    const Index n = x->shape[static_cast<std::size_t>(d)], missing = size[i] - n;
    c.b.check(size[i] >= 0, "an extent is negative");
    x = missing >= 0 ? c.b.pad(x, d, missing / 2, missing - missing / 2, "values")
                     : c.b.slice(x, d, -missing / 2, -missing / 2 + size[i]);
  }
  return {x};
}

} // namespace

std::span<const OnnxRow> onnxSampling() {
  static constexpr OnnxRow rows[] = {
      {"AffineGrid", onnxAffineGrid, "", 2, "align_corners"},
      {"CenterCropPad", onnxCenter, "", 2, "axes"},
      {"EyeLike", onnxEye, "", 1, "dtype=* k"},
      {"GridSample", onnxGridSample, "", 2, "align_corners mode padding_mode"},
      {"NegativeLogLikelihoodLoss", onnxLikelihoodLoss, "", 3, "ignore_index reduction"},
      {"OneHot", onnxOneHot, "", 3, "axis"},
      {"SoftmaxCrossEntropyLoss", onnxCrossEntropy, "", 3, "ignore_index reduction"}};
  return rows;
}

} // namespace tenon
