// SPDX-License-Identifier: BSD-2-Clause
// ONNX's operators by name, and what each is in the canonical graph, for the operator sets 13 to 23.
// What newer sets have as inputs and older ones as attributes is read from either.
#include "import/model_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

struct OnnxCall {
  ModelBuilder& b;
  const Operands& given;
  int opset;

  Value x() const { return given.neededInput(0); }
  Value at(std::size_t place) const { return given.input(place); }
  std::vector<Index> integersAt(std::size_t place, const char* what) const {
    return b.integersOf(given.neededInput(place), what);
  }
  double numberAt(std::size_t place, double otherwise) const {
    if (!at(place))
      return otherwise;
    const std::vector<double> numbers = b.numbersOf(at(place), "a number").numbers();
    b.check(numbers.size() == 1, "an input is not one number");
    return numbers[0];
  }
  int spatial() const { return std::max(x()->rank() - 2, 0); }
  // From an input, as newer operator sets have it, or an attribute.
  std::vector<Index> listAt(std::size_t place, const char* attribute) const {
    return at(place) ? integersAt(place, "a list of dimensions") : given.integers(attribute, {});
  }
};
using BuildOnnx = ModelValues (*)(const OnnxCall&);

template <const char* Name>
ModelValues onnxFunction(const OnnxCall& c) {
  return {c.b.unary(Name, c.x())};
}
template <const char* Name>
ModelValues onnxArithmetic(const OnnxCall& c) {
  return {c.b.binary(Name, c.x(), c.given.neededInput(1))};
}
template <const char* Name>
ModelValues onnxComparison(const OnnxCall& c) {
  return {c.b.compare(Name, c.x(), c.given.neededInput(1))};
}
constexpr char kONeg[] = "neg", kORelu[] = "relu", kOTanh[] = "tanh", kOSigmoid[] = "sigmoid",
               kOExp[] = "exp", kOSine[] = "sine", kOCosine[] = "cosine", kOErf[] = "erf",
               kOSqrt[] = "sqrt", kOAbs[] = "abs", kOReciprocal[] = "reciprocal",
               kOFloor[] = "floor", kOCeil[] = "ceil", kONot[] = "not", kOMish[] = "mish",
               kOHardSwish[] = "hardswish", kOSoftsign[] = "softsign", kOSilu[] = "silu",
               kOSoftplus[] = "softplus", kOLog[] = "log", kOSelu[] = "selu", kOAdd[] = "add",
               kOSub[] = "sub", kOMul[] = "mul", kODiv[] = "div", kOPow[] = "pow", kOMod[] = "mod",
               kOGreater[] = "gt", kOLess[] = "lt", kOEqual[] = "eq", kOGreaterEqual[] = "ge",
               kOLessEqual[] = "le", kOAnd[] = "and", kOMax[] = "max", kOMin[] = "min";

ModelValues onnxSame(const OnnxCall& c) {
  return {c.x()};
}
ModelValues onnxConstant(const OnnxCall& c) {
  for (const auto& [name, argument] : c.given.operation().arguments) {
    if (name == "value" || name == "value_int" || name == "value_float")
      return {c.given.needed(name)};
    if (name == "value_ints")
      return {c.b.integers(c.given.integers(name, {}))};
    if (name == "value_floats") {
      const std::vector<double> numbers = c.given.reals(name);
      return {
          c.b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers))};
    }
  }
  return {c.b.refuse("a constant that is no tensor of numbers", "numbers", {1})};
}
ModelValues onnxShape(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const auto rank = static_cast<Index>(shape.size());
  const auto bound = [&](Index n) { return std::clamp(n < 0 ? n + rank : n, Index(0), rank); };
  const Index begin = bound(c.given.integer("start", 0)), end = bound(c.given.integer("end", rank));
  return {c.b.integers(begin < end ? std::vector<Index>(shape.begin() + begin, shape.begin() + end)
                                   : std::vector<Index>())};
}
ModelValues onnxSize(const OnnxCall& c) {
  return {c.b.number(static_cast<double>(elements(c.x()->shape)), true)};
}

ModelValues onnxGelu(const OnnxCall& c) {
  return {c.b.unary(c.given.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu", c.x())};
}
ModelValues onnxLeakyRelu(const OnnxCall& c) {
  return {c.b.unary("leakyrelu", c.x(), {{"slope", c.given.real("alpha", 0.01)}})};
}
ModelValues onnxElu(const OnnxCall& c) {
  return {c.b.unary("elu", c.x(), {{"alpha", c.given.real("alpha", 1)}})};
}
ModelValues onnxCelu(const OnnxCall& c) {
  return {c.b.unary("celu", c.x(), {{"alpha", c.given.real("alpha", 1)}})};
}
ModelValues onnxHardSigmoid(const OnnxCall& c) {
  // 1/6 has no short decimal.
  constexpr double kSixth = 1.0 / 6;
  const double alpha = c.given.real("alpha", 0.2);
  const bool isSixth = static_cast<float>(alpha) == static_cast<float>(kSixth);
  return {c.b.unary("clamp",
                    c.b.affine(c.x(), {isSixth ? kSixth : alpha}, {c.given.real("beta", 0.5)}),
                    {{"low", 0}, {"high", 1}})};
}
ModelValues onnxClip(const OnnxCall& c) {
  std::vector<std::pair<std::string, double>> bounds;
  if (c.at(1) || c.given.has("min"))
    bounds.emplace_back("low", c.at(1) ? c.numberAt(1, 0) : c.given.real("min"));
  if (c.at(2) || c.given.has("max"))
    bounds.emplace_back("high", c.at(2) ? c.numberAt(2, 0) : c.given.real("max"));
  return {c.b.unary("clamp", c.x(), bounds)};
}
ModelValues onnxPRelu(const OnnxCall& c) {
  return {c.b.prelu(c.x(), c.given.neededInput(1))};
}
ModelValues onnxWhere(const OnnxCall& c) {
  return {c.b.where(c.x(), c.given.neededInput(1), c.given.neededInput(2))};
}
// Of types of elements; an integer is cut off.
ModelValues onnxCast(const OnnxCall& c) {
  const Index to = c.given.integer("to");
  const bool isInteger = to != 1 && to != 10 && to != 11 && to != 16;
  if (!c.x()->isConstant())
    return isInteger
               ? ModelValues{c.b.refuse("a conversion to integers", "real numbers", c.x()->shape)}
               : ModelValues{c.x()};
  const ModelConstant source = c.b.numbersOf(c.x(), "a constant");
  std::vector<double> numbers = source.numbers();
  if (isInteger)
    for (double& number : numbers)
      number = to == 9 ? double(number != 0) : std::trunc(number);
  return {c.b.constant(ModelConstant::ofNumbers(source.shape(), std::move(numbers), isInteger)
                           .renamed(source.name()))};
}

ModelBuilder::Windows onnxWindows(const OnnxCall& c, std::vector<Index> kernel) {
  const int spatial = c.spatial();
  ModelBuilder::Windows w;
  w.kernel = std::move(kernel);
  w.stride = c.given.perDimension("strides", 1, spatial);
  w.dilation = c.given.perDimension("dilations", 1, spatial);
  w.groups = c.given.integer("group", 1);
  const auto count = static_cast<std::size_t>(spatial);
  c.b.check(w.kernel.size() == count && w.stride.size() == count && w.dilation.size() == count,
            "its windows have another number of dimensions than its input");
  std::vector<Index> pads = c.given.integers("pads", std::vector<Index>(2 * count, 0));
  c.b.check(pads.size() == 2 * count, "it has another number of paddings");
  w.low.assign(pads.begin(), pads.begin() + spatial);
  w.high.assign(pads.begin() + spatial, pads.end());
  const std::string automatic = c.given.text("auto_pad", "NOTSET");
  c.b.check(automatic == "NOTSET" || automatic == "VALID" || automatic == "SAME_UPPER" ||
                automatic == "SAME_LOWER",
            "its auto_pad is not known");
  if (!automatic.starts_with("SAME"))
    return w;
  for (std::size_t s = 0; s < count; ++s) {
    constexpr Index kMost = Index(1) << 24;
    c.b.check(w.stride[s] >= 1 && w.dilation[s] >= 1 && w.dilation[s] < kMost &&
                  w.kernel[s] < kMost,
              "a window's size is out of range");
    const Index n = c.x()->shape[s + 2], outputs = (n + w.stride[s] - 1) / w.stride[s];
    const Index all =
        std::max((outputs - 1) * w.stride[s] + (w.kernel[s] - 1) * w.dilation[s] + 1 - n, Index(0));
    w.low[s] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    w.high[s] = all - w.low[s];
  }
  return w;
}
ModelValues onnxConv(const OnnxCall& c, bool isTransposed) {
  const Value weight = c.given.neededInput(1);
  c.b.check(weight->rank() >= 2, "its weight has too few dimensions");
  ModelBuilder::Windows w = onnxWindows(c, {weight->shape.begin() + 2, weight->shape.end()});
  w.isTransposed = isTransposed;
  if (isTransposed) {
    w.outputPadding = c.given.perDimension("output_padding", 0, c.spatial());
    if (c.given.has("output_shape") || c.given.text("auto_pad", "NOTSET").starts_with("SAME"))
      return {
          c.b.refuse("a transposed convolution with an output_shape", "paddings", c.x()->shape)};
  }
  return {c.b.convolution(c.x(), weight, c.at(2), w)};
}
ModelValues onnxConvolution(const OnnxCall& c) {
  return onnxConv(c, false);
}
ModelValues onnxTransposedConvolution(const OnnxCall& c) {
  return onnxConv(c, true);
}
ModelValues onnxGemm(const OnnxCall& c) {
  Value weight = c.given.neededInput(1);
  const Value bias = c.at(2);
  if (!c.given.flag("transB", false))
    weight = c.b.transpose(weight, {1, 0});
  if (c.given.flag("transA", false) || c.given.real("alpha", 1) != 1 ||
      c.given.real("beta", 1) != 1)
    return {c.b.refuse("Gemm with transA, alpha or beta", "a linear layer", c.x()->shape)};
  if (bias && (!bias->isConstant() || bias->shape != Shape{weight->shape[0]}))
    return {c.b.binary("add", c.b.linear(c.x(), weight, nullptr), bias)};
  return {c.b.linear(c.x(), weight, bias)};
}
ModelValues onnxMatMul(const OnnxCall& c) {
  return {c.b.matmul(c.x(), c.given.neededInput(1))};
}
ModelValues onnxEinsum(const OnnxCall& c) {
  const std::string equation = c.given.text("equation", "");
  if (equation == "bk,pk->bp" && c.at(1))
    return {c.b.matmul(c.x(), c.b.transpose(c.at(1), {1, 0}))};
  return {c.b.refuse("this Einsum", "a product of two matrices, or a convolution", {1})};
}
ModelValues onnxBatchNorm(const OnnxCall& c) {
  c.b.check(!c.given.flag("training_mode", false), "it takes the statistics of the batch");
  return {c.b.batchNorm(c.x(), c.at(1), c.at(2), c.at(3), c.at(4), c.given.real("epsilon", 1e-5))};
}
ModelValues onnxInstanceNorm(const OnnxCall& c) {
  return {c.b.norm(ModelOp::InstanceNorm, c.x(), c.at(1), c.at(2), c.given.real("epsilon", 1e-5))};
}
// Before operator set 21 it had one weight for each group.
ModelValues onnxGroupNorm(const OnnxCall& c) {
  if (c.opset < 21)
    return {c.b.refuse("GroupNormalization before opset 21", "the file with a newer opset",
                       c.x()->shape)};
  return {c.b.norm(ModelOp::GroupNorm, c.x(), c.at(1), c.at(2), c.given.real("epsilon", 1e-5),
                   c.given.integer("num_groups"))};
}
ModelValues onnxLayerNorm(const OnnxCall& c) {
  const int first = c.b.dimension(c.given.integer("axis", -1), c.x()->rank());
  return {c.b.norm(ModelOp::LayerNorm, c.x(), c.at(1), c.at(2), c.given.real("epsilon", 1e-5),
                   c.x()->rank() - first)};
}

ModelValues onnxPool(const OnnxCall& c, ModelBuilder::Pool kind) {
  return {c.b.pooling(c.x(), kind, onnxWindows(c, c.given.integers("kernel_shape", {})),
                      c.given.flag("ceil_mode", false))};
}
ModelValues onnxMaxPool(const OnnxCall& c) {
  return onnxPool(c, ModelBuilder::Pool::Maximum);
}
ModelValues onnxAveragePool(const OnnxCall& c) {
  return onnxPool(c, c.given.flag("count_include_pad", false) ? ModelBuilder::Pool::Average
                                                              : ModelBuilder::Pool::AverageInside);
}
ModelValues onnxGlobalAveragePool(const OnnxCall& c) {
  std::vector<int> dims(static_cast<std::size_t>(c.spatial()));
  std::iota(dims.begin(), dims.end(), 2);
  return {c.b.mean(c.x(), dims, true)};
}
std::vector<int> onnxDims(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->rank()));
  for (int d = 0; dims.empty() && d < c.x()->rank(); ++d)
    dims.push_back(d);
  return dims;
}
ModelValues onnxMean(const OnnxCall& c) {
  return {c.b.mean(c.x(), onnxDims(c), c.given.flag("keepdims", true))};
}
// Of constants: products of extents, norms of weights.
ModelValues onnxReduce(const OnnxCall& c) {
  const std::string& type = c.given.operation().type;
  std::vector<int> dims = onnxDims(c);
  std::sort(dims.begin(), dims.end());
  Shape kept = c.x()->shape, left;
  for (int d = 0; d < c.x()->rank(); ++d)
    if (std::binary_search(dims.begin(), dims.end(), d))
      kept[static_cast<std::size_t>(d)] = 1;
    else
      left.push_back(kept[static_cast<std::size_t>(d)]);
  const Shape shape = c.given.flag("keepdims", true) ? kept : left;
  if (!c.x()->isConstant())
    return {c.b.refuse(fmt::format("the operator {}", type), "ReduceMean", shape)};
  const ModelConstant source = c.b.numbersOf(c.x(), "a constant");
  const bool isProduct = type == "ReduceProd", isNorm = type == "ReduceL2";
  std::vector<double> numbers(static_cast<std::size_t>(elements(kept)), isProduct ? 1 : 0);
  forEachPlace(source.shape(), [&](const std::vector<Index>& index, Index place) {
    Index to = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      to = to * kept[d] + (kept[d] == 1 ? 0 : index[d]);
    double& sum = numbers[static_cast<std::size_t>(to)];
    const double number = source.numbers()[static_cast<std::size_t>(place)];
    sum = isProduct ? sum * number : isNorm ? sum + number * number : sum + number;
  });
  if (isNorm)
    for (double& number : numbers)
      number = std::sqrt(number);
  return {c.b.constant(ModelConstant::ofNumbers(shape, std::move(numbers), source.isInteger()))};
}

ModelValues onnxPad(const OnnxCall& c) {
  Value x = c.x();
  const std::string mode = c.given.text("mode", "constant");
  const char* ours = mode == "constant"  ? "values"
                     : mode == "reflect" ? "reflect"
                     : mode == "edge"    ? "replicate"
                     : mode == "wrap"    ? "periodic"
                                         : nullptr;
  c.b.check(ours != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = c.integersAt(1, "its padding");
  std::vector<Index> axes;
  if (c.at(3))
    axes = c.integersAt(3, "a list of dimensions");
  else
    for (int d = 0; d < x->rank(); ++d)
      axes.push_back(d);
  c.b.check(pads.size() == 2 * axes.size(), "it has another number of paddings");
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.pad(x, c.b.dimension(axes[i], x->rank()), pads[i], pads[i + axes.size()], ours,
                c.numberAt(2, 0));
  return {x};
}
ModelValues onnxResize(const OnnxCall& c) {
  const Value x = c.x();
  const int spatial = c.spatial();
  std::vector<Index> sizes;
  bool isExact = true; // a factor is also what the outputs step by
  const auto isGiven = [&](std::size_t place) {
    return c.at(place) && elements(c.at(place)->shape) > 0;
  };
  if (isGiven(3)) {
    sizes = c.integersAt(3, "a size");
  } else {
    c.b.check(isGiven(2), "it has neither sizes nor factors");
    const std::vector<double> factors = c.b.numbersOf(c.at(2), "a factor").numbers();
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const std::size_t d = i + x->shape.size() - factors.size();
      c.b.check(factors.size() <= x->shape.size() && factors[i] > 0 && factors[i] < 1e6,
                "a factor is out of range");
      const double wanted = static_cast<double>(x->shape[d]) * factors[i];
      sizes.push_back(static_cast<Index>(std::floor(wanted)));
      isExact = isExact && wanted == std::floor(wanted);
    }
  }
  c.b.check(static_cast<int>(sizes.size()) >= spatial && spatial >= 1, "it has too few sizes");
  const std::size_t extra = sizes.size() - static_cast<std::size_t>(spatial);
  for (std::size_t i = 0; i < extra; ++i)
    c.b.check(sizes.size() == x->shape.size() && sizes[i] == x->shape[i],
              "it changes the batch or the channels");
  const std::vector<Index> size(sizes.begin() + static_cast<std::ptrdiff_t>(extra), sizes.end());
  const std::string mode = c.given.text("mode", "nearest"),
                    where = c.given.text("coordinate_transformation_mode", "half_pixel");
  const bool isNearest = mode == "nearest" && where == "asymmetric" &&
                         c.given.text("nearest_mode", "round_prefer_floor") == "floor";
  const bool isLinear =
      mode == "linear" &&
      (where == "half_pixel" || where == "pytorch_half_pixel" || where == "align_corners");
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  // PyTorch's half pixels are others where one output is left.
  const bool hasOne = where == "pytorch_half_pixel" && std::count(size.begin(), size.end(), 1) > 0;
  if ((!isNearest && !isLinear) || hasOne || (!isExact && where != "align_corners") ||
      c.given.flag("antialias", false))
    return {c.b.refuse("this Resize", "PyTorch's nearest or linear interpolation", shape)};
  return {c.b.resize(x, size, isLinear, where == "align_corners")};
}
ModelValues onnxDepthToSpace(const OnnxCall& c) {
  if (c.given.text("mode", "DCR") != "CRD")
    return {
        c.b.refuse("DepthToSpace of mode DCR", "mode CRD, PyTorch's pixel shuffle", c.x()->shape)};
  return {c.b.pixelShuffle(c.x(), c.given.integer("blocksize"))};
}

ModelValues onnxConcat(const OnnxCall& c) {
  ModelValues values;
  for (std::size_t i = 0; i < c.given.inputCount(); ++i)
    values.push_back(c.given.neededInput(i));
  return {c.b.concatenate(
      values, static_cast<int>(std::clamp(c.given.integer("axis"), Index(-64), Index(64))))};
}
ModelValues onnxSplit(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.given.integer("axis", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  std::vector<Index> sizes = c.listAt(1, "split");
  if (sizes.empty()) {
    const Index count =
        c.given.integer("num_outputs", static_cast<Index>(c.given.operation().results.size()));
    c.b.check(count >= 1 && count <= 65536, "it makes no pieces, or too many");
    const Index step = std::max((n + count - 1) / count, Index(1));
    for (Index at = 0; at < n; at += step)
      sizes.push_back(std::min(step, n - at));
  }
  ModelValues made;
  Index at = 0;
  for (const Index size : sizes) {
    c.b.check(size >= 0 && size <= n - at, "its pieces do not fit");
    made.push_back(c.b.slice(x, d, at, at + size));
    at += size;
  }
  return made;
}
ModelValues onnxSlice(const OnnxCall& c) {
  Value x = c.x();
  const std::vector<Index> begin = c.integersAt(1, "where a slice begins"),
                           end = c.integersAt(2, "where a slice ends");
  std::vector<Index> axes, steps(begin.size(), 1);
  if (c.at(3))
    axes = c.integersAt(3, "a list of dimensions");
  else
    for (std::size_t i = 0; i < begin.size(); ++i)
      axes.push_back(static_cast<Index>(i));
  if (c.at(4))
    steps = c.integersAt(4, "a step");
  c.b.check(end.size() == begin.size() && axes.size() == begin.size() &&
                steps.size() == begin.size(),
            "its lists have different lengths");
  constexpr Index kFar = Index(1) << 61;
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.slice(x, c.b.dimension(axes[i], x->rank()), std::clamp(begin[i], -kFar, kFar),
                  std::clamp(end[i], -kFar, kFar), steps[i]);
  return {x};
}
ModelValues onnxGather(const OnnxCall& c) {
  const Value x = c.x(), indices = c.given.neededInput(1);
  const int d = c.b.dimension(c.given.integer("axis", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  Shape shape(x->shape.begin(), x->shape.begin() + d);
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + d + 1, x->shape.end());
  if (!indices->isConstant() || (!x->isConstant() && elements(indices->shape) != 1))
    return {c.b.refuse("Gather by a tensor of indices",
                       "an operator of an index map (TenonLinearOpCreateGather) before the network",
                       shape)};
  ModelValues parts;
  for (const Index index : c.b.integersOf(indices, "an index")) {
    c.b.check(index >= -n && index < n, "an index is out of range");
    const Index begin = index < 0 ? index + n : index;
    parts.push_back(c.b.slice(x, d, begin, begin + 1));
  }
  if (parts.empty())
    parts = {c.b.slice(x, d, 0, 0)};
  return {c.b.reshape(c.b.concatenate(parts, d), shape)};
}
ModelValues onnxIndexed(const OnnxCall& c) {
  return {c.b.refuse(fmt::format("{} by a tensor of indices", c.given.operation().type),
                     "an operator of an index map (TenonLinearOpCreateGather) before the network",
                     c.x()->shape)};
}

ModelValues onnxReshape(const OnnxCall& c) {
  std::vector<Index> shape = c.integersAt(1, "a shape");
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 0 && !c.given.flag("allowzero", false)) {
      c.b.check(d < c.x()->shape.size(), "a reshape copies an extent that is not there");
      shape[d] = c.x()->shape[d];
    }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxFlatten(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const Index axis = c.given.integer("axis", 1);
  const auto k =
      axis == static_cast<Index>(shape.size()) ? axis : c.b.dimension(axis, c.x()->rank());
  return {c.b.reshape(c.x(), {elements(Shape(shape.begin(), shape.begin() + k)),
                              elements(Shape(shape.begin() + k, shape.end()))})};
}
ModelValues onnxUnsqueeze(const OnnxCall& c) {
  Shape shape = c.x()->shape;
  std::vector<int> dims;
  const std::vector<Index> axes = c.listAt(1, "axes");
  for (const Index d : axes)
    dims.push_back(
        c.b.dimension(d, c.x()->rank() + static_cast<int>(std::min<std::size_t>(axes.size(), 64))));
  std::sort(dims.begin(), dims.end());
  for (const int d : dims) {
    c.b.check(d <= static_cast<int>(shape.size()), "it puts dimensions in at one place twice");
    shape.insert(shape.begin() + d, 1);
  }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxSqueeze(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->rank()));
  Shape shape;
  for (int d = 0; d < c.x()->rank(); ++d) {
    const Index extent = c.x()->shape[static_cast<std::size_t>(d)];
    const bool isNamed = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!(dims.empty() ? extent == 1 : isNamed))
      shape.push_back(extent);
  }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxTranspose(const OnnxCall& c) {
  std::vector<int> order;
  for (const Index d : c.given.integers("perm", {}))
    order.push_back(c.b.dimension(d, c.x()->rank()));
  for (int d = c.x()->rank(); order.size() < c.x()->shape.size() && !c.given.has("perm");)
    order.push_back(--d);
  return {c.b.transpose(c.x(), order)};
}
ModelValues onnxExpand(const OnnxCall& c) {
  return {c.b.expand(c.x(), c.integersAt(1, "a shape"))};
}
ModelValues onnxConstantOfShape(const OnnxCall& c) {
  const Value value = c.given.value("value");
  const Shape shape = c.b.integersOf(c.x(), "a shape");
  c.b.checkShape(shape);
  return {c.b.expand(value ? c.b.reshape(value, {}) : c.b.number(0), shape)};
}
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
ModelValues onnxSoftmax(const OnnxCall& c) {
  return {c.b.softmax(c.x(), c.b.dimension(c.given.integer("axis", -1), c.x()->rank()))};
}
ModelValues onnxAttention(const OnnxCall& c) {
  const Value q = c.x(), k = c.given.neededInput(1), v = c.given.neededInput(2);
  if (q->rank() != 4 || k->rank() != 4 || v->rank() != 4 || c.at(3) || c.at(4) || c.at(5) ||
      c.given.flag("is_causal", false) || c.given.real("softcap", 0) != 0)
    return {c.b.refuse("an attention with a mask, a cache or causality", "an attention over all",
                       q->shape)};
  const double scale = c.given.real("scale", 1 / std::sqrt(static_cast<double>(q->shape[3])));
  const Value scores = c.b.affine(c.b.matmul(q, c.b.transpose(k, {0, 1, 3, 2})), {scale}, {0});
  return {c.b.matmul(c.b.softmax(scores, 3), v)};
}
ModelValues onnxDropout(const OnnxCall& c) {
  c.b.check(c.numberAt(2, 0) == 0, "it drops elements as in training");
  return {c.x()};
}

const std::map<std::string, BuildOnnx, std::less<>>& onnxOperators() {
  static const std::map<std::string, BuildOnnx, std::less<>> table = {
      {"Abs", onnxFunction<kOAbs>},
      {"Add", onnxArithmetic<kOAdd>},
      {"And", onnxComparison<kOAnd>},
      {"Attention", onnxAttention},
      {"AveragePool", onnxAveragePool},
      {"BatchNormalization", onnxBatchNorm},
      {"Cast", onnxCast},
      {"Ceil", onnxFunction<kOCeil>},
      {"Celu", onnxCelu},
      {"Clip", onnxClip},
      {"Concat", onnxConcat},
      {"Constant", onnxConstant},
      {"ConstantOfShape", onnxConstantOfShape},
      {"Conv", onnxConvolution},
      {"ConvTranspose", onnxTransposedConvolution},
      {"Cos", onnxFunction<kOCosine>},
      {"DepthToSpace", onnxDepthToSpace},
      {"Div", onnxArithmetic<kODiv>},
      {"Dropout", onnxDropout},
      {"Einsum", onnxEinsum},
      {"Elu", onnxElu},
      {"Equal", onnxComparison<kOEqual>},
      {"Erf", onnxFunction<kOErf>},
      {"Exp", onnxFunction<kOExp>},
      {"Expand", onnxExpand},
      {"Flatten", onnxFlatten},
      {"Floor", onnxFunction<kOFloor>},
      {"Gather", onnxGather},
      {"GatherElements", onnxIndexed},
      {"GatherND", onnxIndexed},
      {"Gelu", onnxGelu},
      {"Gemm", onnxGemm},
      {"GlobalAveragePool", onnxGlobalAveragePool},
      {"Greater", onnxComparison<kOGreater>},
      {"GreaterOrEqual", onnxComparison<kOGreaterEqual>},
      {"GroupNormalization", onnxGroupNorm},
      {"HardSigmoid", onnxHardSigmoid},
      {"HardSwish", onnxFunction<kOHardSwish>},
      {"Identity", onnxSame},
      {"InstanceNormalization", onnxInstanceNorm},
      {"LayerNormalization", onnxLayerNorm},
      {"LeakyRelu", onnxLeakyRelu},
      {"Less", onnxComparison<kOLess>},
      {"LessOrEqual", onnxComparison<kOLessEqual>},
      {"Log", onnxFunction<kOLog>},
      {"MatMul", onnxMatMul},
      {"Max", onnxArithmetic<kOMax>},
      {"MaxPool", onnxMaxPool},
      {"Min", onnxArithmetic<kOMin>},
      {"Mish", onnxFunction<kOMish>},
      {"Mod", onnxArithmetic<kOMod>},
      {"Mul", onnxArithmetic<kOMul>},
      {"Neg", onnxFunction<kONeg>},
      {"Not", onnxFunction<kONot>},
      {"PRelu", onnxPRelu},
      {"Pad", onnxPad},
      {"Pow", onnxArithmetic<kOPow>},
      {"Range", onnxRange},
      {"Reciprocal", onnxFunction<kOReciprocal>},
      {"ReduceL2", onnxReduce},
      {"ReduceMean", onnxMean},
      {"ReduceProd", onnxReduce},
      {"ReduceSum", onnxReduce},
      {"Relu", onnxFunction<kORelu>},
      {"Reshape", onnxReshape},
      {"Resize", onnxResize},
      {"ScatterElements", onnxIndexed},
      {"ScatterND", onnxIndexed},
      {"Selu", onnxFunction<kOSelu>},
      {"Shape", onnxShape},
      {"Sigmoid", onnxFunction<kOSigmoid>},
      {"Sin", onnxFunction<kOSine>},
      {"Size", onnxSize},
      {"Slice", onnxSlice},
      {"Softmax", onnxSoftmax},
      {"Softplus", onnxFunction<kOSoftplus>},
      {"Softsign", onnxFunction<kOSoftsign>},
      {"Split", onnxSplit},
      {"Sqrt", onnxFunction<kOSqrt>},
      {"Squeeze", onnxSqueeze},
      {"Sub", onnxArithmetic<kOSub>},
      {"Swish", onnxFunction<kOSilu>},
      {"Tanh", onnxFunction<kOTanh>},
      {"Transpose", onnxTranspose},
      {"Unsqueeze", onnxUnsqueeze},
      {"Where", onnxWhere}};
  return table;
}

} // namespace

ModelValues buildOnnx(ModelBuilder& b, const Operands& given, int opset) {
  const ModelOperation& operation = given.operation();
  if (const auto found = onnxOperators().find(operation.type); found != onnxOperators().end())
    return found->second({b, given, opset});
  const ModelBuilder::Value x = given.input(0);
  return ModelValues(operation.results.size(),
                     b.refuse(fmt::format("the operator {} of ONNX", operation.type),
                              "the operators that doc/import.md lists", x ? x->shape : Shape{1}));
}

} // namespace tenon
