// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: layers with weights, sliding windows, norms, attention, reductions, and changes
// of resolution. Each function reads the inputs and attributes of a node (OnnxCall c: c.x() is
// input 0, c.at(i) input i or null, c.operands has the attributes) and appends values to the
// canonical graph by the builder c.b. The table at the end has a row per operator: name, function,
// an argument of the function, maximal number of inputs, and the accepted attributes
// (operator_rows.hpp). ONNX lists paddings by side: the low sides of all dimensions, then the high
// sides.
#include "import/onnx/operator_rows.hpp"

#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Returns the settings of sliding windows. ONNX has two kinds of padding: explicit numbers, or
// auto_pad.
ModelBuilder::Windows onnxWindows(const OnnxCall& c, std::vector<Index> kernel) {
  const int spatial = c.spatial();
  ModelBuilder::Windows w;
  w.kernel = std::move(kernel);
  w.stride = c.operands.perDimension("strides", 1, spatial);
  w.dilation = c.operands.perDimension("dilations", 1, spatial);
  w.groups = c.operands.integer("group", 1);
  const auto count = static_cast<std::size_t>(spatial);
  c.b.check(w.kernel.size() == count && w.stride.size() == count && w.dilation.size() == count,
            "its windows have another number of dimensions than its input");
  std::vector<Index> pads = c.operands.integers("pads", std::vector<Index>(2 * count, 0));
  c.b.check(pads.size() == 2 * count, "it has another number of paddings");
  w.low.assign(pads.begin(), pads.begin() + spatial);
  w.high.assign(pads.begin() + spatial, pads.end());
  const std::string automatic = c.operands.text("auto_pad", "NOTSET");
  c.b.check(automatic == "NOTSET" || automatic == "VALID" || automatic == "SAME_UPPER" ||
                automatic == "SAME_LOWER",
            "its auto_pad is not known");
  c.b.check(automatic == "NOTSET" ||
                std::count(pads.begin(), pads.end(), 0) == static_cast<std::ptrdiff_t>(pads.size()),
            "it has paddings and an auto_pad");
  if (!automatic.starts_with("SAME"))
    return w;
  // SAME: pad such that there are ceil(n / stride) outputs; an odd padding has its larger half at
  // the high side (UPPER) or the low side (LOWER).
  for (std::size_t s = 0; s < count; ++s) {
    constexpr Index kMax = Index(1) << 24;
    c.b.check(w.stride[s] >= 1 && w.dilation[s] >= 1 && w.dilation[s] < kMax && w.kernel[s] < kMax,
              "a window's size is out of range");
    const Index n = c.x()->shape[s + 2], outputs = (n + w.stride[s] - 1) / w.stride[s];
    const Index padding =
        std::max((outputs - 1) * w.stride[s] + (w.kernel[s] - 1) * w.dilation[s] + 1 - n, Index(0));
    w.low[s] = automatic == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
    w.high[s] = padding - w.low[s];
  }
  return w;
}
// kernel_shape is optional, and must be that of the weight.
ModelValues onnxConv(const OnnxCall& c, bool isTransposed) {
  const Value weight = c.operands.neededInput(1);
  c.b.check(weight->rank() >= 2, "its weight has too few dimensions");
  const std::vector<Index> kernel(weight->shape.begin() + 2, weight->shape.end());
  c.b.check(c.operands.integers("kernel_shape", kernel) == kernel,
            "its kernel_shape is not that of its weight");
  ModelBuilder::Windows w = onnxWindows(c, kernel);
  w.isTransposed = isTransposed;
  if (isTransposed) {
    w.outputPadding = c.operands.perDimension("output_padding", 0, c.spatial());
    if (c.operands.has("output_shape") || c.operands.text("auto_pad", "NOTSET").starts_with("SAME"))
      return {
          c.b.refuse("a transposed convolution with an output_shape", "paddings", c.x()->shape)};
  }
  return {c.b.convolution(c.x(), weight, c.at(2), w)};
}
ModelValues onnxConvolution(const OnnxCall& c) {
  return onnxConv(c, /*isTransposed=*/false);
}
ModelValues onnxTransposedConvolution(const OnnxCall& c) {
  return onnxConv(c, /*isTransposed=*/true);
}
// Only the case that is a linear layer: no transA, alpha = beta = 1.
ModelValues onnxGemm(const OnnxCall& c) {
  Value weight = c.operands.neededInput(1);
  const Value bias = c.at(2);
  if (!c.operands.flag("transB", false))
    weight = c.b.transpose(weight, {1, 0});
  if (c.operands.flag("transA", false) || c.operands.real("alpha", 1) != 1 ||
      c.operands.real("beta", 1) != 1)
    return {c.b.refuse("Gemm with transA, alpha or beta", "a linear layer", c.x()->shape)};
  if (bias && (!bias->isConstant() || bias->shape != Shape{weight->shape[0]}))
    return {c.b.binary("add", c.b.linear(c.x(), weight, nullptr), bias)};
  return {c.b.linear(c.x(), weight, bias)};
}
ModelValues onnxMatMul(const OnnxCall& c) {
  return {c.b.matmul(c.x(), c.operands.neededInput(1))};
}
ModelValues onnxEinsum(const OnnxCall& c) {
  ModelValues factors;
  for (std::size_t i = 0; i < c.operands.inputCount(); ++i)
    factors.push_back(c.operands.neededInput(i));
  return {c.b.einsum(c.operands.text("equation", ""), factors)};
}
ModelValues onnxBatchNorm(const OnnxCall& c) {
  c.b.check(!c.operands.flag("training_mode", false), "it takes the statistics of the batch");
  return {
      c.b.batchNorm(c.x(), c.at(1), c.at(2), c.at(3), c.at(4), c.operands.real("epsilon", 1e-5))};
}
ModelValues onnxInstanceNorm(const OnnxCall& c) {
  return {
      c.b.norm(ModelOp::InstanceNorm, c.x(), c.at(1), c.at(2), c.operands.real("epsilon", 1e-5))};
}
// Before operator set 21 there was one weight per group instead of one per channel.
ModelValues onnxGroupNorm(const OnnxCall& c) {
  if (c.opset < 21)
    return {c.b.refuse("GroupNormalization before opset 21", "the file with a newer opset",
                       c.x()->shape)};
  return {c.b.norm(ModelOp::GroupNorm, c.x(), c.at(1), c.at(2), c.operands.real("epsilon", 1e-5),
                   c.operands.integer("num_groups"))};
}
// Normalises the dimensions from `axis` on.
ModelValues onnxRmsNorm(const OnnxCall& c) {
  const int first = c.b.dimension(c.operands.integer("axis", -1), c.x()->rank());
  return {c.b.rmsNorm(c.x(), c.x()->rank() - first, c.at(1), c.operands.real("epsilon", 1e-5))};
}
ModelValues onnxLayerNorm(const OnnxCall& c) {
  const int first = c.b.dimension(c.operands.integer("axis", -1), c.x()->rank());
  return {c.b.norm(ModelOp::LayerNorm, c.x(), c.at(1), c.at(2), c.operands.real("epsilon", 1e-5),
                   c.x()->rank() - first)};
}
ModelValues onnxPool(const OnnxCall& c, ModelBuilder::Pool kind) {
  return {c.b.pooling(c.x(), kind, onnxWindows(c, c.operands.integers("kernel_shape", {})),
                      c.operands.flag("ceil_mode", false))};
}
ModelValues onnxMaxPool(const OnnxCall& c) {
  return onnxPool(c, ModelBuilder::Pool::Maximum);
}
// By default, padding does not count in the divisor.
ModelValues onnxAveragePool(const OnnxCall& c) {
  return onnxPool(c, c.operands.flag("count_include_pad", false)
                         ? ModelBuilder::Pool::Average
                         : ModelBuilder::Pool::AverageInside);
}
ModelValues onnxGlobalPool(const OnnxCall& c) {
  std::vector<int> dims(static_cast<std::size_t>(c.spatial()));
  std::iota(dims.begin(), dims.end(), 2);
  return {c.b.reduce(c.function, c.x(), dims, /*keeps=*/true)};
}
// The dimensions of a reduction; all of them if none is listed, unless noop_with_empty_axes is set.
std::vector<int> onnxDims(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->rank()));
  const bool areAll = dims.empty() && !c.operands.flag("noop_with_empty_axes", false);
  for (int d = 0; areAll && d < c.x()->rank(); ++d)
    dims.push_back(d);
  return dims;
}
// Sums of squares and 2-norms are composed of a product, a sum, and a square root.
ModelValues onnxReduce(const OnnxCall& c) {
  const std::string& type = c.operands.operation().type;
  const std::vector<int> dims = onnxDims(c);
  const bool keeps = c.operands.flag("keepdims", true);
  if (c.isInteger(0) && (type == "ReduceMean" || type == "ReduceL2" || type == "ReduceLogSumExp"))
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
  const Value sum = c.b.reduce("sum", c.b.binary("mul", c.x(), c.x()), dims, keeps);
  return {type == "ReduceL2" ? c.b.unary("sqrt", sum) : sum};
}
ModelValues onnxSoftmax(const OnnxCall& c) {
  return {c.b.softmax(c.x(), c.b.dimension(c.operands.integer("axis", -1), c.x()->rank()))};
}
// x - log(sum(exp(x))).
ModelValues onnxLogSoftmax(const OnnxCall& c) {
  const int d = c.b.dimension(c.operands.integer("axis", -1), c.x()->rank());
  return {c.b.binary("sub", c.x(), c.b.logSumExp(c.x(), {d}, true))};
}
// Heads are a separate dimension [n, heads, sequence, features], or are adjacent in the features
// [n, sequence, heads * features].
ModelValues onnxAttention(const OnnxCall& c) {
  Value q = c.x(), k = c.operands.neededInput(1), v = c.operands.neededInput(2);
  const Index queries = c.operands.integer("q_num_heads", 0),
              keys = c.operands.integer("kv_num_heads", 0);
  const bool isFlat = q->rank() == 3 && k->rank() == 3 && v->rank() == 3 && queries > 0 && keys > 0;
  if (!isFlat && (q->rank() != 4 || k->rank() != 4 || v->rank() != 4))
    return {c.b.refuse("an attention of other dimensions",
                       "an attention [batch, heads, sequence, features]", q->shape)};
  const auto withHeads = [&](Value x, Index heads) {
    c.b.check(heads <= x->shape[2] && x->shape[2] % heads == 0,
              "its heads do not divide its features");
    return c.b.transpose(c.b.reshape(x, {x->shape[0], x->shape[1], heads, x->shape[2] / heads}),
                         {0, 2, 1, 3});
  };
  if (isFlat) {
    q = withHeads(q, queries);
    k = withHeads(k, keys);
    v = withHeads(v, keys);
  }
  const double scale = c.operands.real("scale", 1 / std::sqrt(static_cast<double>(q->shape[3])));
  const Value mask = c.at(3) && c.operands.isFlagInput(3) ? c.b.addedMask(c.at(3)) : c.at(3);
  const Value result = c.b.attention(q, k, v, scale, mask, c.operands.flag("is_causal", false));
  return {isFlat ? c.b.reshape(
                       c.b.transpose(result, {0, 2, 1, 3}),
                       {result->shape[0], result->shape[2], result->shape[1] * result->shape[3]})
                 : result};
}
// Output extents of a Resize. `isExact`: extents are the exact products with the factors, so the
// spacing of outputs is known.
struct ResizedShape {
  Shape shape;
  bool isExact = true;
};
// Resizes all dimensions by one factor p / q of the requested factors sizes[i] / n: the smallest
// (none becomes larger than its size) or the largest (none becomes smaller).
void keepAspectRatio(const OnnxCall& c, bool isSmallest, const std::vector<int>& axes,
                     const std::vector<Index>& sizes, ResizedShape& result) {
  constexpr Index kMax = Index(1) << 30;
  Index p = 0, q = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Index n = c.x()->shape[static_cast<std::size_t>(axes[i])];
    c.b.check(n >= 1 && n <= kMax && sizes[i] >= 1 && sizes[i] <= kMax, "a size is out of range");
    const bool isLess = sizes[i] * q < p * n; // sizes[i] / n < p / q
    if (i == 0 || isLess == isSmallest) {
      p = sizes[i];
      q = n;
    }
  }
  for (const int d : axes) {
    Index& extent = result.shape[static_cast<std::size_t>(d)];
    result.isExact = result.isExact && p * extent % q == 0;
    // Round to the nearest integer, halves up.
    extent = (2 * p * extent + q) / (2 * q);
  }
}
// Returns the output extents by the inputs "sizes" or "scales" of a Resize.
ResizedShape resizedShape(const OnnxCall& c) {
  const Value x = c.x();
  ResizedShape result = {x->shape};
  std::vector<int> axes;
  for (const Index d : c.operands.integers("axes", {}))
    axes.push_back(c.b.dimension(d, x->rank()));
  if (!c.operands.has("axes")) {
    axes.resize(x->shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::size_t i = 0; i < axes.size(); ++i)
    c.b.check(std::count(axes.begin(), axes.end(), axes[i]) == 1, "its axes name one twice");
  const auto isPresent = [&](std::size_t place) {
    return c.at(place) && elements(c.at(place)->shape) > 0;
  };
  if (isPresent(3)) {
    const std::vector<Index> sizes = c.integersAt(3, "a size");
    c.b.check(sizes.size() == axes.size(), "it has another number of sizes than of dimensions");
    const std::string policy = c.operands.text("keep_aspect_ratio_policy", "stretch");
    c.b.check(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
              "its keep_aspect_ratio_policy is not known");
    if (policy != "stretch")
      keepAspectRatio(c, policy == "not_larger", axes, sizes, result);
    for (std::size_t i = 0; policy == "stretch" && i < axes.size(); ++i)
      result.shape[static_cast<std::size_t>(axes[i])] = sizes[i];
    return result;
  }
  c.b.check(isPresent(2), "it has neither sizes nor factors");
  const std::vector<double> factors = c.b.numbersOf(c.at(2), "a factor").numbers();
  c.b.check(factors.size() == axes.size(), "it has another number of factors than of dimensions");
  for (std::size_t i = 0; i < factors.size(); ++i) {
    c.b.check(factors[i] > 0 && factors[i] < 1e6, "a factor is out of range");
    Index& extent = result.shape[static_cast<std::size_t>(axes[i])];
    const double scaled = static_cast<double>(extent) * factors[i];
    extent = static_cast<Index>(std::floor(scaled));
    result.isExact = result.isExact && scaled == std::floor(scaled);
  }
  return result;
}
ModelValues onnxResize(const OnnxCall& c) {
  const Value x = c.x();
  c.b.check(c.spatial() >= 1, "it has no dimensions of space");
  const auto [shape, isExact] = resizedShape(c);
  if (!std::equal(shape.begin(), shape.begin() + 2, x->shape.begin()))
    return {c.b.refuse("a Resize of the batch or the channels", "a Resize of space", shape)};
  const std::vector<Index> size(shape.begin() + 2, shape.end());
  const std::string mode = c.operands.text("mode", "nearest"),
                    coordinates = c.operands.text("coordinate_transformation_mode", "half_pixel"),
                    rounding = c.operands.text("nearest_mode", "round_prefer_floor");
  const bool isNearest = mode == "nearest" && coordinates == "asymmetric" && rounding == "floor";
  const bool isLinear = mode == "linear" && !c.isInteger(0) &&
                        (coordinates == "half_pixel" || coordinates == "pytorch_half_pixel" ||
                         coordinates == "align_corners");
  // An output of extent 1 has a different position with PyTorch's half pixels.
  const bool hasOne =
      coordinates == "pytorch_half_pixel" && std::count(size.begin(), size.end(), 1) > 0;
  if ((isNearest || isLinear) && !hasOne && (isExact || coordinates == "align_corners"))
    return {c.b.resize(x, size, isLinear, coordinates == "align_corners")};
  const std::string difference =
      !isExact ? "by a factor that gives no whole number of points"
               : fmt::format("with mode {}, coordinate_transformation_mode {}{}", printable(mode),
                             printable(coordinates),
                             mode == "nearest" ? " and nearest_mode " + printable(rounding) : "");
  return {c.b.refuse(fmt::format("a Resize {}", difference),
                     "linear with half_pixel or align_corners, nearest with asymmetric and floor, "
                     "to whole numbers of points",
                     shape)};
}
// Whether channels come before the block's index in depth (CRD), or after it (DCR).
bool isChannelFirst(const OnnxCall& c) {
  const std::string mode = c.operands.text("mode", "DCR");
  c.b.check(mode == "DCR" || mode == "CRD", "its mode is neither DCR nor CRD");
  return mode == "CRD";
}
ModelValues onnxDepthToSpace(const OnnxCall& c) {
  const Index size = c.operands.integer("blocksize");
  return {isChannelFirst(c) ? c.b.pixelShuffle(c.x(), size) : c.b.depthToSpace(c.x(), size)};
}
ModelValues onnxSpaceToDepth(const OnnxCall& c) {
  return {c.b.spaceToDepth(c.x(), c.operands.integer("blocksize"), !isChannelFirst(c))};
}

} // namespace

std::span<const OnnxRow> onnxLayers() {
  static constexpr OnnxRow rows[] = {
      {"Attention", onnxAttention, "", 4,
       "is_causal kv_num_heads q_num_heads qk_matmul_output_mode=* scale softcap=0 "
       "softmax_precision=*"},
      {"AveragePool", onnxAveragePool, "", 1,
       "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
      {"BatchNormalization", onnxBatchNorm, "", 5, "epsilon momentum=* training_mode"},
      {"Conv", onnxConvolution, "", 3, "auto_pad dilations group kernel_shape pads strides"},
      {"ConvTranspose", onnxTransposedConvolution, "", 3,
       "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
      {"DepthToSpace", onnxDepthToSpace, "", 1, "blocksize mode"},
      {"Einsum", onnxEinsum, "", kAnyNumber, "equation"},
      {"Gemm", onnxGemm, "", 3, "alpha beta transA transB"},
      {"GlobalAveragePool", onnxGlobalPool, "mean"},
      {"GlobalMaxPool", onnxGlobalPool, "max"},
      {"GroupNormalization", onnxGroupNorm, "", 3, "epsilon num_groups stash_type=*"},
      {"InstanceNormalization", onnxInstanceNorm, "", 3, "epsilon"},
      {"LayerNormalization", onnxLayerNorm, "", 3, "axis epsilon stash_type=*"},
      {"LogSoftmax", onnxLogSoftmax, "", 1, "axis"},
      {"MatMul", onnxMatMul, "", 2},
      {"MaxPool", onnxMaxPool, "", 1,
       "auto_pad ceil_mode dilations kernel_shape pads storage_order=* strides"},
      {"RMSNormalization", onnxRmsNorm, "", 2, "axis epsilon stash_type=*"},
      {"ReduceL2", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceLogSumExp", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceMax", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceMean", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceMin", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceProd", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceSum", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"ReduceSumSquare", onnxReduce, "", 2, "axes keepdims noop_with_empty_axes"},
      {"Resize", onnxResize, "", 4,
       "antialias=0 axes coordinate_transformation_mode cubic_coeff_a=* exclude_outside=0 "
       "extrapolation_value=* keep_aspect_ratio_policy mode nearest_mode"},
      {"Softmax", onnxSoftmax, "", 1, "axis"},
      {"SpaceToDepth", onnxSpaceToDepth, "", 1, "blocksize mode"}};
  return rows;
}

} // namespace tenon
