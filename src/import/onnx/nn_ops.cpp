// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: layers with weights, sliding windows, norms, and changes of depth.
// Each function reads the inputs and attributes of a node (OnnxCall c: c.x() is input 0, c.at(i)
// input i or null, c.operands has the attributes) and appends values to the canonical graph by the
// builder c.b. The table at the end has a row per operator: name, function, an argument of the
// function, maximal number of inputs, and the accepted attributes (operator_rows.hpp). ONNX lists
// paddings by side: the low sides of all dimensions, then the high sides.
#include "import/onnx/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
// Paddings of a transposed convolution whose outputs are prescribed: the attribute output_shape, or
// auto_pad = SAME_*, which is n * stride. Outputs beyond those of the window are zeros.
void fitOutputs(const OnnxCall& c, ModelBuilder::Windows& w) {
  const std::string automatic = c.operands.text("auto_pad", "NOTSET");
  const bool isSame = automatic.starts_with("SAME");
  const auto count = static_cast<std::size_t>(c.spatial());
  const std::vector<Index> outputs = c.operands.integers("output_shape", {});
  if (!isSame && outputs.empty())
    return;
  c.b.check(outputs.empty() || outputs.size() == count, "it has another number of outputs");
  for (std::size_t s = 0; s < count; ++s) {
    constexpr Index kMax = Index(1) << 24;
    const Index n = c.x()->shape[s + 2], stride = w.stride[s], dilation = w.dilation[s];
    c.b.check(stride >= 1 && stride < kMax && dilation >= 1 && dilation < kMax &&
                  w.kernel[s] < kMax && n < kMax,
              "a window's size is out of range");
    const Index wanted = outputs.empty() ? n * stride : outputs[s];
    const Index padding =
        stride * (n - 1) + w.outputPadding[s] + (w.kernel[s] - 1) * dilation + 1 - wanted;
    w.outputPadding[s] += std::max(-padding, Index(0));
    const Index sum = std::max(padding, Index(0));
    w.low[s] = automatic == "SAME_UPPER" ? sum / 2 : sum - sum / 2;
    w.high[s] = sum - w.low[s];
  }
}
// kernel_shape is optional, and must be that of the weight.
ModelValues onnxConv(const OnnxCall& c, bool isTransposed) {
  const Value weight = c.operands.neededInput(1);
  c.b.check(weight->ndim() >= 2, "its weight has too few dimensions");
  const std::vector<Index> kernel(weight->shape.begin() + 2, weight->shape.end());
  c.b.check(c.operands.integers("kernel_shape", kernel) == kernel,
            "its kernel_shape is not that of its weight");
  ModelBuilder::Windows w = onnxWindows(c, kernel);
  w.isTransposed = isTransposed;
  if (isTransposed) {
    w.outputPadding = c.operands.perDimension("output_padding", 0, c.spatial());
    fitOutputs(c, w);
  }
  return {c.b.convolution(c.x(), weight, c.at(2), w)};
}
ModelValues onnxConvolution(const OnnxCall& c) {
  return onnxConv(c, /*isTransposed=*/false);
}
ModelValues onnxTransposedConvolution(const OnnxCall& c) {
  return onnxConv(c, /*isTransposed=*/true);
}
// alpha a b + beta c, where a and b can be transposed.
ModelValues onnxGemm(const OnnxCall& c) {
  Value x = c.x(), weight = c.operands.neededInput(1), bias = c.at(2);
  if (c.operands.flag("transA", false))
    x = c.b.transpose(x, {1, 0});
  if (!c.operands.flag("transB", false))
    weight = c.b.transpose(weight, {1, 0});
  const double alpha = c.operands.real("alpha", 1), beta = c.operands.real("beta", 1);
  if (bias && beta == 0)
    bias = nullptr;
  if (alpha == 1 && beta == 1 &&
      (!bias || (bias->isConstant() && bias->shape == Shape{weight->shape[0]})))
    return {c.b.linear(x, weight, bias)};
  const Value product = c.b.affine(c.b.linear(x, weight, nullptr), {alpha}, {0});
  return {bias ? c.b.binary("add", product, c.b.affine(bias, {beta}, {0})) : product};
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
  if (c.operands.flag("training_mode", false))
    return ModelValues(c.operands.operation().results.size(),
                       c.b.refuse("a batch norm that takes the statistics of the batch",
                                  "the model in eval mode", c.x()->shape));
  // ONNX's momentum is the share of the old statistics.
  return {c.b.batchNorm(c.x(), c.at(1), c.at(2), c.at(3), c.at(4), c.operands.real("epsilon", 1e-5),
                        1 - c.operands.real("momentum", 0.9))};
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
  const int first = c.b.dimension(c.operands.integer("axis", -1), c.x()->ndim());
  return {c.b.rmsNorm(c.x(), c.x()->ndim() - first, c.at(1), c.operands.real("epsilon", 1e-5))};
}
// The results are the normalised values, and their mean and inverse deviation before.
ModelValues onnxLayerNorm(const OnnxCall& c) {
  const int first = c.b.dimension(c.operands.integer("axis", -1), c.x()->ndim());
  const double epsilon = c.operands.real("epsilon", 1e-5);
  ModelValues results = {
      c.b.norm(ModelOp::LayerNorm, c.x(), c.at(1), c.at(2), epsilon, c.x()->ndim() - first)};
  if (c.operands.operation().results.size() > 1) {
    std::vector<int> dims(static_cast<std::size_t>(c.x()->ndim() - first));
    std::iota(dims.begin(), dims.end(), first);
    const Value mean = c.b.reduce("mean", c.x(), dims, /*keeps=*/true),
                difference = c.b.binary("sub", c.x(), mean),
                variance = c.b.reduce("mean", c.b.binary("mul", difference, difference), dims,
                                      /*keeps=*/true);
    results.push_back(mean);
    results.push_back(
        c.b.unary("reciprocal", c.b.unary("sqrt", c.b.affine(variance, {1}, {epsilon}))));
  }
  return results;
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
// The p-norm of |x| over a window: its mean, multiplied by the number of elements, which padding
// increases by zeros.
ModelValues onnxNormPool(const OnnxCall& c) {
  const auto p = static_cast<double>(c.operands.integer("p", 2));
  const ModelBuilder::Windows w = onnxWindows(c, c.operands.integers("kernel_shape", {}));
  if (p < 1 || c.operands.flag("ceil_mode", false))
    return {c.b.refuse("LpPool with ceil_mode, or with p < 1", "p >= 1 and ceil_mode = 0",
                       c.x()->shape)};
  const auto power = [&](Value x, double exponent) {
    return exponent == 1 ? x : c.b.binary("pow", x, c.b.number(exponent));
  };
  const auto size = static_cast<double>(elements(w.kernel));
  const Value mean = c.b.pooling(power(c.b.unary("abs", c.x()), p), ModelBuilder::Pool::Average, w,
                                 /*ceil=*/false);
  return {power(c.b.affine(mean, {size}, {0}), 1 / p)};
}
// The sum of windows, the columns of x, at their places in a field of the size of input 1.
ModelValues onnxColumns(const OnnxCall& c) {
  const std::vector<Index> size = c.integersAt(1, "its size"),
                           kernel = c.integersAt(2, "its windows");
  const auto spatial = static_cast<int>(kernel.size());
  const std::vector<Index> pads =
      c.operands.integers("pads", std::vector<Index>(2 * kernel.size(), 0));
  c.b.check(pads.size() == 2 * kernel.size(), "it has another number of paddings");
  return {c.b.foldedWindows(c.x(), size,
                            {.kernel = kernel,
                             .stride = c.operands.perDimension("strides", 1, spatial),
                             .dilation = c.operands.perDimension("dilations", 1, spatial),
                             .low = {pads.begin(), pads.begin() + spatial},
                             .high = {pads.begin() + spatial, pads.end()}})};
}
// x / (bias + alpha / size sum x^2)^beta, where the sum is over `size` neighbouring channels.
ModelValues onnxChannelNorm(const OnnxCall& c) {
  const Value x = c.x();
  const Index size = c.operands.integer("size"), before = (size - 1) / 2;
  c.b.check(x->ndim() >= 2 && size >= 1 && size < kMaxModelWindow, "its size is out of range");
  const Value sums = c.b.along(c.b.binary("mul", x, x), 1, x->shape[1], [=](Index i, Index j) {
    return double(j >= i - before && j < i - before + size);
  });
  const Value base = c.b.affine(sums, {c.operands.real("alpha", 1e-4) / static_cast<double>(size)},
                                {c.operands.real("bias", 1)});
  return {c.b.binary("div", x, c.b.binary("pow", base, c.b.number(c.operands.real("beta", 0.75))))};
}
ModelValues onnxGlobalPool(const OnnxCall& c) {
  std::vector<int> dims(static_cast<std::size_t>(c.spatial()));
  std::iota(dims.begin(), dims.end(), 2);
  return {c.b.reduce(c.function, c.x(), dims, /*keeps=*/true)};
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
      {"AveragePool", onnxAveragePool, "", 1,
       "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
      {"BatchNormalization", onnxBatchNorm, "", 5, "epsilon momentum=* training_mode"},
      {"Col2Im", onnxColumns, "", 3, "dilations pads strides"},
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
      {"LRN", onnxChannelNorm, "", 1, "alpha beta bias size"},
      {"LpPool", onnxNormPool, "", 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
      {"MatMul", onnxMatMul, "", 2},
      {"MaxPool", onnxMaxPool, "", 1,
       "auto_pad ceil_mode dilations kernel_shape pads storage_order=* strides"},
      {"RMSNormalization", onnxRmsNorm, "", 2, "axis epsilon stash_type=*"},
      {"SpaceToDepth", onnxSpaceToDepth, "", 1, "blocksize mode"}};
  return rows;
}

} // namespace tenon
