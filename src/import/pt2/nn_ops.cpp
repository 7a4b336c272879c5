// SPDX-License-Identifier: BSD-2-Clause
// Layers with weights, windows, norms and attention in PyTorch. One number for a window stands for
// all of its dimensions. What changes the resolution is here too.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelBuilder::Windows windowsOf(const Operands& given, Value x) {
  const int spatial = spatialOf(x);
  ModelBuilder::Windows w;
  w.stride = given.perDimension("stride", 1, spatial);
  w.dilation = given.perDimension("dilation", 1, spatial);
  w.low = w.high = given.perDimension("padding", 0, spatial);
  w.groups = given.integer("groups", 1);
  return w;
}
ModelValues transposedConvolution(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  ModelBuilder::Windows w = windowsOf(given, x);
  w.outputPadding = given.perDimension("output_padding", 0, spatialOf(x));
  w.isTransposed = true;
  return {b.convolution(x, given.needed("weight"), given.value("bias"), w)};
}
ModelValues convolution(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), weight = given.needed("weight");
  if (given.flag("transposed", false))
    return transposedConvolution(b, given, "");
  ModelBuilder::Windows w;
  if (given.operation().type.ends_with(".padding")) {
    // "same" or "valid".
    const int spatial = spatialOf(x);
    b.check(weight->rank() == x->rank(), "its weight has another number of dimensions");
    w.stride = given.perDimension("stride", 1, spatial);
    w.dilation = given.perDimension("dilation", 1, spatial);
    w.groups = given.integer("groups", 1);
    const bool isSame = given.text("padding", "valid") == "same";
    for (int s = 0; s < spatial; ++s) {
      const auto i = static_cast<std::size_t>(s);
      b.check(i < w.dilation.size(),
              "its windows have another number of dimensions than its input");
      const Index all = isSame ? w.dilation[i] * (weight->shape[i + 2] - 1) : 0;
      w.low.push_back(all / 2);
      w.high.push_back(all - all / 2);
    }
  } else {
    w = windowsOf(given, x);
  }
  return {b.convolution(x, weight, given.value("bias"), w)};
}
ModelValues linear(ModelBuilder& b, const Operands& given, const char*) {
  return {b.linear(self(given), given.needed("weight"), given.value("bias"))};
}
ModelValues addmm(ModelBuilder& b, const Operands& given, const char*) {
  b.check(given.real("beta", 1) == 1 && given.real("alpha", 1) == 1,
          "it has factors alpha or beta");
  const bool isOne = given.has("mat1");
  const Value product =
      b.matmul(given.needed(isOne ? "mat1" : "batch1"), given.needed(isOne ? "mat2" : "batch2"));
  return {b.binary("add", product, given.needed("self"))};
}
ModelValues matmul(ModelBuilder& b, const Operands& given, const char*) {
  return {b.matmul(self(given), given.has("other") ? given.value("other") : given.needed("mat2"))};
}
ModelValues dot(ModelBuilder& b, const Operands& given, const char*) {
  const Value other = given.needed(given.has("tensor") ? "tensor" : "other");
  return {b.reduce("sum", b.binary("mul", self(given), other), {0}, false)};
}
ModelValues product(ModelBuilder& b, const Operands& given, const char*) {
  return {b.matmul(self(given), given.needed("vec"))};
}
ModelValues attention(ModelBuilder& b, const Operands& given, const char*) {
  const Value q = given.needed("query"), k = given.needed("key"), v = given.needed("value");
  b.check(q->rank() >= 3 && k->rank() >= 3 && v->rank() >= 3,
          "it needs tensors [..., sequence, features]");
  if (given.real("dropout_p", 0) != 0)
    return {b.refuse("an attention with dropout", "one without, in eval mode", q->shape)};
  Value mask = given.value("attn_mask");
  if (given.isFlag("attn_mask"))
    mask = b.addedMask(mask);
  const double scale = given.real("scale", 1 / std::sqrt(static_cast<double>(q->shape.back())));
  return {b.attention(q, k, v, scale, mask, given.flag("is_causal", false))};
}
ModelValues batchNorm(ModelBuilder& b, const Operands& given, const char*) {
  const bool inTraining = given.flag("training", false);
  return {b.batchNorm(self(given), given.value("weight"), given.value("bias"),
                      inTraining ? nullptr : given.value("running_mean"),
                      inTraining ? nullptr : given.value("running_var"), given.real("eps", 1e-5))};
}
ModelValues instanceNorm(ModelBuilder& b, const Operands& given, const char*) {
  if (!given.flag("use_input_stats", true))
    return {b.batchNorm(self(given), given.value("weight"), given.value("bias"),
                        given.value("running_mean"), given.value("running_var"),
                        given.real("eps", 1e-5))};
  return {b.norm(ModelOp::InstanceNorm, self(given), given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5))};
}
// With the statistics of one sample, as instance norms consist of.
ModelValues statelessNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  if (given.has("running_mean") || x->rank() < 2 || x->shape[0] != 1)
    return {b.refuse("a batch norm that takes the statistics of the batch",
                     "the model in eval mode", x->shape)};
  return {b.norm(ModelOp::InstanceNorm, x, given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5))};
}
ModelValues groupNorm(ModelBuilder& b, const Operands& given, const char*) {
  return {b.norm(ModelOp::GroupNorm, self(given), given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5),
                 given.integer(given.has("num_groups") ? "num_groups" : "group"))};
}
ModelValues layerNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::vector<Index> shape = given.integers("normalized_shape", {});
  b.check(static_cast<int>(shape.size()) <= x->rank() &&
              std::equal(shape.rbegin(), shape.rend(), x->shape.rbegin()),
          "its normalized_shape is not that of its input's last dimensions");
  return {b.norm(ModelOp::LayerNorm, x, given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5), static_cast<Index>(shape.size()))};
}
ModelValues rmsNorm(ModelBuilder& b, const Operands& given, const char*) {
  return {b.rmsNorm(self(given), static_cast<int>(given.integers("normalized_shape", {}).size()),
                    given.value("weight"),
                    given.real("eps", std::numeric_limits<double>::epsilon()))};
}
ModelValues pool(ModelBuilder& b, const Operands& given, ModelBuilder::Pool kind) {
  const Value x = self(given);
  const int spatial = spatialOf(x);
  ModelBuilder::Windows w = windowsOf(given, x);
  w.kernel = given.perDimension("kernel_size", 1, spatial);
  if (given.integers("stride", {}).empty())
    w.stride = w.kernel;
  return {b.pooling(x, kind, w, given.flag("ceil_mode", false))};
}
ModelValues maxPool(ModelBuilder& b, const Operands& given, const char*) {
  return pool(b, given, ModelBuilder::Pool::Maximum);
}
ModelValues averagePool(ModelBuilder& b, const Operands& given, const char*) {
  if (given.has("divisor_override"))
    return {b.refuse("an average pooling with a divisor", "one that divides by its size",
                     self(given)->shape)};
  return pool(b, given,
              given.flag("count_include_pad", true) ? ModelBuilder::Pool::Average
                                                    : ModelBuilder::Pool::AverageInside);
}
ModelValues adaptiveMaxPool(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::vector<Index> size = given.perDimension("output_size", 1, spatialOf(x));
  std::vector<int> space;
  for (int d = x->rank() - spatialOf(x); d < x->rank(); ++d)
    space.push_back(d);
  if (std::all_of(size.begin(), size.end(), [](Index n) { return n == 1; }))
    return {b.reduce("max", x, space, true)};
  return {b.refuse("an adaptive maximum pooling to several elements", "one to a single element",
                   x->shape)};
}
ModelValues adaptivePool(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.adaptivePooling(x, given.perDimension("output_size", 1, spatialOf(x)))};
}
ModelValues upsample(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::string& type = given.operation().type;
  std::vector<Index> sizes = given.integers("output_size", {});
  bool isExact = true;
  if (sizes.empty()) {
    const std::vector<double> factors = given.reals("scale_factors");
    b.check(static_cast<int>(factors.size()) == spatialOf(x), "it has another number of factors");
    for (std::size_t s = 0; s < factors.size(); ++s) {
      b.check(factors[s] > 0 && factors[s] < 1e6, "a factor is out of range");
      const double wanted = static_cast<double>(x->shape[s + 2]) * factors[s];
      sizes.push_back(static_cast<Index>(std::floor(wanted)));
      isExact = isExact && wanted == std::floor(wanted);
    }
  }
  const bool isNearest = type.find("nearest") != type.npos;
  // PyTorch steps by the factor, also where the size is not the product.
  isExact = isExact || given.flag("align_corners", false);
  if (type.find("bicubic") != type.npos || type.find("exact") != type.npos || !isExact) {
    Shape shape = {x->shape[0], x->shape[1]};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    return {b.refuse("bicubic or exact nearest interpolation, or a factor that gives no whole size",
                     "nearest or linear interpolation to a size", shape)};
  }
  return {b.resize(x, sizes, !isNearest, given.flag("align_corners", false))};
}
ModelValues pixelShuffle(ModelBuilder& b, const Operands& given, const char*) {
  return {b.pixelShuffle(self(given), given.integer("upscale_factor"))};
}
ModelValues pixelUnshuffle(ModelBuilder& b, const Operands& given, const char*) {
  return {b.spaceToDepth(self(given), given.integer("downscale_factor"), false)};
}

} // namespace

std::span<const Pt2Row> pt2Layers() {
  static constexpr Pt2Row rows[] = {{"_adaptive_avg_pool", adaptivePool},
                                    {"_native_batch_norm_legit", statelessNorm},
                                    {"_native_batch_norm_legit_no_training", batchNorm},
                                    {"_scaled_dot_product_flash_attention_for_cpu", attention},
                                    {"adaptive_avg_pool", adaptivePool},
                                    {"adaptive_max_pool", adaptiveMaxPool},
                                    {"addmm", addmm},
                                    {"avg_pool", averagePool},
                                    {"baddbmm", addmm},
                                    {"batch_norm", batchNorm},
                                    {"bmm", matmul},
                                    {"conv", convolution},
                                    {"conv_transpose", transposedConvolution},
                                    {"convolution", convolution},
                                    {"dot", dot},
                                    {"group_norm", groupNorm},
                                    {"instance_norm", instanceNorm},
                                    {"layer_norm", layerNorm},
                                    {"linear", linear},
                                    {"matmul", matmul},
                                    {"max_pool", maxPool},
                                    {"max_pool2d_with_indices", maxPool},
                                    {"max_pool3d_with_indices", maxPool},
                                    {"mm", matmul},
                                    {"mv", product},
                                    {"native_group_norm", groupNorm},
                                    {"native_layer_norm", layerNorm},
                                    {"pixel_shuffle", pixelShuffle},
                                    {"pixel_unshuffle", pixelUnshuffle},
                                    {"rms_norm", rmsNorm},
                                    {"scaled_dot_product_attention", attention},
                                    {"upsample_bicubic", upsample},
                                    {"upsample_bilinear", upsample},
                                    {"upsample_linear", upsample},
                                    {"upsample_nearest", upsample},
                                    {"upsample_trilinear", upsample},
                                    {"vdot", dot}};
  return rows;
}

} // namespace tenon
