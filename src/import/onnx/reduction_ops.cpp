// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: reductions, normalisations without weights, softmax, the places of extremes, and
// Fourier transforms.
// Each function reads the inputs and attributes of a node (OnnxCall c: c.x() is input 0, c.operands
// has the attributes) and appends values to the canonical graph by the builder c.b. The table at
// the end has a row per operator: name, function, an argument of the function, maximal number of
// inputs, and the accepted attributes (operator_rows.hpp). Reduced dimensions are an attribute
// `axes` in older operator sets, and an input in newer ones.
#include "import/onnx/operator_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// The dimensions of a reduction; all of them if none is listed, unless noop_with_empty_axes is set.
std::vector<int> onnxDims(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->ndim()));
  const bool areAll = dims.empty() && !c.operands.flag("noop_with_empty_axes", false);
  for (int d = 0; areAll && d < c.x()->ndim(); ++d)
    dims.push_back(d);
  return dims;
}
// Norms and logarithms are composed of a sum and functions.
ModelValues onnxReduce(const OnnxCall& c) {
  const std::string& type = c.operands.operation().type;
  const std::vector<int> dims = onnxDims(c);
  const bool keeps = c.operands.flag("keepdims", true);
  if (c.isInteger(0) && (type == "ReduceMean" || type == "ReduceL2" || type == "ReduceLogSum" ||
                         type == "ReduceLogSumExp"))
    return c.refuseIntegers();
  static const std::map<std::string, std::string, std::less<>> methods = {
      {"ReduceMean", "mean"},
      {"ReduceSum", "sum"},
      {"ReduceMax", "max"},
      {"ReduceMin", "min"},
      {"ReduceProd", "product"}};
  if (const auto method = methods.find(type); method != methods.end())
    return {c.b.reduce(method->second, c.x(), dims, keeps)};
  if (type == "ReduceLogSumExp")
    return {c.b.logSumExp(c.x(), dims, keeps)};
  if (type == "ReduceL1")
    return {c.b.reduce("sum", c.b.unary("abs", c.x()), dims, keeps)};
  if (type == "ReduceLogSum")
    return {c.b.unary("log", c.b.reduce("sum", c.x(), dims, keeps))};
  const Value sum = c.b.reduce("sum", c.b.binary("mul", c.x(), c.x()), dims, keeps);
  return {type == "ReduceL2" ? c.b.rootOfSquares(sum) : sum};
}
ModelValues onnxSoftmax(const OnnxCall& c) {
  return {c.b.softmax(c.x(), c.b.dimension(c.operands.integer("axis", -1), c.x()->ndim()))};
}
// x - log(sum(exp(x))).
ModelValues onnxLogSoftmax(const OnnxCall& c) {
  const int d = c.b.dimension(c.operands.integer("axis", -1), c.x()->ndim());
  return {c.b.binary("sub", c.x(), c.b.logSumExp(c.x(), {d}, /*keeps=*/true))};
}
// The place of the largest or smallest element of one dimension.
ModelValues onnxPlace(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.operands.integer("axis", 0), x->ndim());
  const Value place =
      c.b.placeOfExtreme(x, d, c.function[0] == 'l', c.operands.flag("select_last_index", false));
  Shape shape = place->shape;
  if (!c.operands.flag("keepdims", true))
    shape.erase(shape.begin() + d);
  return {c.b.reshape(place, shape)};
}
// 1 at the first of the largest elements of a dimension, 0 elsewhere.
ModelValues onnxHardmax(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.operands.integer("axis", -1), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  Shape shape(x->shape.size(), 1);
  shape[static_cast<std::size_t>(d)] = n;
  std::vector<double> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return {c.b.compare("eq", c.b.placeOfExtreme(x, d, /*isMaximum=*/true, /*isLast=*/false),
                      c.b.constant(ModelConstant::ofNumbers(shape, std::move(numbers))))};
}
// x / (sum |x|^p)^(1/p), for p = 1 or 2; 0 where the norm is 0.
ModelValues onnxNormalised(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.operands.integer("axis", -1), x->ndim());
  const Index p = c.operands.integer("p", 2);
  c.b.check(p == 1 || p == 2, "its p is neither 1 nor 2");
  const Value sum = c.b.reduce("sum", p == 1 ? c.b.unary("abs", x) : c.b.binary("mul", x, x), {d},
                               /*keeps=*/true);
  // Where the sum is 0, x is 0 and can be divided by 1.
  const Value safe = c.b.where(c.b.compare("eq", sum, c.b.number(0)), c.b.number(1), sum);
  return {c.b.binary("div", x, p == 1 ? safe : c.b.unary("sqrt", safe))};
}
// (x - mean) / (sqrt(variance) + 1e-9) over the dimensions `axes`.
ModelValues onnxMeanVariance(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.operands.integers("axes", {0, 2, 3}))
    dims.push_back(c.b.dimension(d, c.x()->ndim()));
  const Value difference =
      c.b.binary("sub", c.x(), c.b.reduce("mean", c.x(), dims, /*keeps=*/true));
  const Value variance =
      c.b.reduce("mean", c.b.binary("mul", difference, difference), dims, /*keeps=*/true);
  return {c.b.binary("div", difference, c.b.affine(c.b.unary("sqrt", variance), {1}, {1e-9}))};
}

// A Fourier transform along one dimension. The last dimension of input and result has the real and
// the imaginary parts; without the latter it has one element. Input 1 is the number of points.
ModelValues onnxTransform(const OnnxCall& c) {
  const Value x = c.x();
  const bool isInverse = c.operands.flag("inverse", false),
             isOneSided = c.operands.flag("onesided", false);
  // The dimension is an attribute before operator set 20, and then an input.
  Index axis = c.operands.integer("axis", c.opset < 20 ? 1 : -2);
  axis = c.at(2) ? c.integersAt(2, "a dimension").at(0) : axis;
  c.b.check(x->ndim() >= 2 && (x->shape.back() == 1 || x->shape.back() == 2),
            "it needs real numbers [..., 1] or complex ones [..., 2]");
  const int d = c.b.dimension(axis, x->ndim());
  c.b.check(d + 1 < x->ndim(), "it transforms the parts of complex numbers");
  const bool isReal = x->shape.back() == 1;
  if (isOneSided && (isInverse || !isReal))
    return {c.b.refuse("a one-sided transform that is inverse, or of complex numbers",
                       "a transform of real numbers, or of all modes", x->shape)};
  Value z = isReal ? c.b.reshape(x, Shape(x->shape.begin(), x->shape.end() - 1)) : c.b.complex(x);
  if (c.at(1))
    z = c.b.resizedByZeros(z, d, c.integersAt(1, "a number of points").at(0));
  return {c.b.pairsOf(isOneSided ? c.b.fourier(z, {d}, "backward")
                                 : c.b.complexFourier(z, {d}, "backward", isInverse))};
}

} // namespace

std::span<const OnnxRow> onnxReductions() {
  static constexpr const char* kAttributes = "axes keepdims noop_with_empty_axes";
  static constexpr OnnxRow rows[] = {
      {"ArgMax", onnxPlace, "largest", 1, "axis keepdims select_last_index"},
      {"ArgMin", onnxPlace, "smallest", 1, "axis keepdims select_last_index"},
      {"DFT", onnxTransform, "", 3, "axis inverse onesided"},
      {"Hardmax", onnxHardmax, "", 1, "axis"},
      {"LogSoftmax", onnxLogSoftmax, "", 1, "axis"},
      {"LpNormalization", onnxNormalised, "", 1, "axis p"},
      {"MeanVarianceNormalization", onnxMeanVariance, "", 1, "axes"},
      {"ReduceL1", onnxReduce, "", 2, kAttributes},
      {"ReduceL2", onnxReduce, "", 2, kAttributes},
      {"ReduceLogSum", onnxReduce, "", 2, kAttributes},
      {"ReduceLogSumExp", onnxReduce, "", 2, kAttributes},
      {"ReduceMax", onnxReduce, "", 2, kAttributes},
      {"ReduceMean", onnxReduce, "", 2, kAttributes},
      {"ReduceMin", onnxReduce, "", 2, kAttributes},
      {"ReduceProd", onnxReduce, "", 2, kAttributes},
      {"ReduceSum", onnxReduce, "", 2, kAttributes},
      {"ReduceSumSquare", onnxReduce, "", 2, kAttributes},
      {"Softmax", onnxSoftmax, "", 1, "axis"}};
  return rows;
}

} // namespace tenon
