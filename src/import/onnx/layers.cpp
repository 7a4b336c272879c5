// SPDX-License-Identifier: BSD-2-Clause
// Layers with weights, windows, norms and attention in ONNX, and what is taken over dimensions. Padding is by side, all
// low ones before all high ones. What changes the resolution is here too.
#include "import/onnx/rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

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
  ModelValues factors;
  for (std::size_t i = 0; i < c.given.inputCount(); ++i)
    factors.push_back(c.given.neededInput(i));
  return {c.b.einsum(c.given.text("equation", ""), factors)};
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
ModelValues onnxRmsNorm(const OnnxCall& c) {
  const int first = c.b.dimension(c.given.integer("axis", -1), c.x()->rank());
  return {c.b.rmsNorm(c.x(), c.x()->rank() - first, c.at(1), c.given.real("epsilon", 1e-5))};
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
ModelValues onnxGlobalPool(const OnnxCall& c) {
  std::vector<int> dims(static_cast<std::size_t>(c.spatial()));
  std::iota(dims.begin(), dims.end(), 2);
  return {c.b.reduce(c.of, c.x(), dims, true)};
}
std::vector<int> onnxDims(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->rank()));
  const bool areAll = dims.empty() && !c.given.flag("noop_with_empty_axes", false);
  for (int d = 0; areAll && d < c.x()->rank(); ++d)
    dims.push_back(d);
  return dims;
}
ModelValues onnxReduce(const OnnxCall& c) {
  const std::string& type = c.given.operation().type;
  const std::vector<int> dims = onnxDims(c);
  const bool keeps = c.given.flag("keepdims", true);
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
  return {c.b.softmax(c.x(), c.b.dimension(c.given.integer("axis", -1), c.x()->rank()))};
}
ModelValues onnxLogSoftmax(const OnnxCall& c) {
  const int d = c.b.dimension(c.given.integer("axis", -1), c.x()->rank());
  return {c.b.binary("sub", c.x(), c.b.logSumExp(c.x(), {d}, true))};
}
// With heads in a dimension of their own, or side by side in the features.
ModelValues onnxAttention(const OnnxCall& c) {
  Value q = c.x(), k = c.given.neededInput(1), v = c.given.neededInput(2);
  const Index queries = c.given.integer("q_num_heads", 0),
              keys = c.given.integer("kv_num_heads", 0);
  const bool isFlat = q->rank() == 3 && k->rank() == 3 && v->rank() == 3 && queries > 0 && keys > 0;
  if ((!isFlat && (q->rank() != 4 || k->rank() != 4 || v->rank() != 4)) || c.at(4) || c.at(5) ||
      c.given.real("softcap", 0) != 0)
    return {c.b.refuse("an attention with a cache or a cap",
                       "an attention [batch, heads, sequence, features]", q->shape)};
  const auto divided = [&](Value x, Index heads) {
    c.b.check(heads <= x->shape[2] && x->shape[2] % heads == 0,
              "its heads do not divide its features");
    return c.b.transpose(c.b.reshape(x, {x->shape[0], x->shape[1], heads, x->shape[2] / heads}),
                         {0, 2, 1, 3});
  };
  if (isFlat) {
    q = divided(q, queries);
    k = divided(k, keys);
    v = divided(v, keys);
  }
  const double scale = c.given.real("scale", 1 / std::sqrt(static_cast<double>(q->shape[3])));
  const Value mask = c.at(3) && c.given.isFlagInput(3) ? c.b.addedMask(c.at(3)) : c.at(3);
  const Value made = c.b.attention(q, k, v, scale, mask, c.given.flag("is_causal", false));
  return {isFlat ? c.b.reshape(c.b.transpose(made, {0, 2, 1, 3}),
                               {made->shape[0], made->shape[2], made->shape[1] * made->shape[3]})
                 : made};
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
  const Index size = c.given.integer("blocksize");
  return {c.given.text("mode", "DCR") == "CRD" ? c.b.pixelShuffle(c.x(), size)
                                               : c.b.depthToSpace(c.x(), size)};
}
ModelValues onnxSpaceToDepth(const OnnxCall& c) {
  return {c.b.spaceToDepth(c.x(), c.given.integer("blocksize"), true)};
}

} // namespace

std::span<const OnnxRow> onnxLayers() {
  static constexpr OnnxRow rows[] = {{"Attention", onnxAttention},
                                     {"AveragePool", onnxAveragePool},
                                     {"BatchNormalization", onnxBatchNorm},
                                     {"Conv", onnxConvolution},
                                     {"ConvTranspose", onnxTransposedConvolution},
                                     {"DepthToSpace", onnxDepthToSpace},
                                     {"Einsum", onnxEinsum},
                                     {"Gemm", onnxGemm},
                                     {"GlobalAveragePool", onnxGlobalPool, "mean"},
                                     {"GlobalMaxPool", onnxGlobalPool, "max"},
                                     {"GroupNormalization", onnxGroupNorm},
                                     {"InstanceNormalization", onnxInstanceNorm},
                                     {"LayerNormalization", onnxLayerNorm},
                                     {"LogSoftmax", onnxLogSoftmax},
                                     {"MatMul", onnxMatMul},
                                     {"MaxPool", onnxMaxPool},
                                     {"RMSNormalization", onnxRmsNorm},
                                     {"ReduceL2", onnxReduce},
                                     {"ReduceLogSumExp", onnxReduce},
                                     {"ReduceMax", onnxReduce},
                                     {"ReduceMean", onnxReduce},
                                     {"ReduceMin", onnxReduce},
                                     {"ReduceProd", onnxReduce},
                                     {"ReduceSum", onnxReduce},
                                     {"ReduceSumSquare", onnxReduce},
                                     {"Resize", onnxResize},
                                     {"Softmax", onnxSoftmax},
                                     {"SpaceToDepth", onnxSpaceToDepth}};
  return rows;
}

} // namespace tenon
