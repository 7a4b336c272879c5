// SPDX-License-Identifier: BSD-2-Clause
// Layers with weights, windows, norms, attention, and what is taken over dimensions, in PyTorch. One number for a
// window stands for all of its dimensions.
#include "import/pt2_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
ModelValues convolution(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), weight = given.needed("weight");
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
ModelValues transposedConvolution(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  ModelBuilder::Windows w = windowsOf(given, x);
  w.outputPadding = given.perDimension("output_padding", 0, spatialOf(x));
  w.isTransposed = true;
  return {b.convolution(x, given.needed("weight"), given.value("bias"), w)};
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
ModelValues groupNorm(ModelBuilder& b, const Operands& given, const char*) {
  return {b.norm(ModelOp::GroupNorm, self(given), given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5), given.integer("num_groups"))};
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
ModelValues softmax(ModelBuilder& b, const Operands& given, const char*) {
  return {b.softmax(self(given), static_cast<int>(given.integer("dim")))};
}
std::vector<int> dimsOf(ModelBuilder& b, const Operands& given, Value x) {
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  const bool areAll = dims.empty();
  for (int d = 0; areAll && d < x->rank(); ++d)
    dims.push_back(d);
  return dims;
}
ModelValues reduction(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given);
  return {b.reduce(of, x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
// The mean of squares of what differs from the mean, of one element fewer.
Value variance(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const std::vector<int> dims = dimsOf(b, given, x);
  double count = 1;
  for (const int d : dims)
    count *= static_cast<double>(x->shape[static_cast<std::size_t>(d)]);
  const double fewer =
      given.has("correction") ? given.real("correction") : given.flag("unbiased", true);
  b.check(count > fewer, "a variance of too few elements");
  const Value difference = b.binary("sub", x, b.reduce("mean", x, dims, true));
  return b.affine(
      b.reduce("mean", b.binary("mul", difference, difference), dims, given.flag("keepdim", false)),
      {count / (count - fewer)}, {0});
}
ModelValues varianceOf(ModelBuilder& b, const Operands& given, const char*) {
  return {variance(b, given)};
}
ModelValues deviationOf(ModelBuilder& b, const Operands& given, const char*) {
  return {b.unary("sqrt", variance(b, given))};
}
// Both, of which either may be unused.
ModelValues meanAnd(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given), v = variance(b, given);
  return {std::string_view(of) == "std" ? b.unary("sqrt", v) : v,
          b.reduce("mean", x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
// x - log of the sum of exponentials, which are of what differs from the largest.
Value logSum(ModelBuilder& b, Value x, const std::vector<int>& dims) {
  const Value most = b.reduce("max", x, dims, true);
  return b.binary(
      "add", b.unary("log", b.reduce("sum", b.unary("exp", b.binary("sub", x, most)), dims, true)),
      most);
}
ModelValues logSumExp(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::vector<int> dims = dimsOf(b, given, x);
  const Value sum = logSum(b, x, dims);
  if (given.flag("keepdim", false))
    return {sum};
  Shape left;
  for (int d = 0; d < x->rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(x->shape[static_cast<std::size_t>(d)]);
  return {b.reshape(sum, left)};
}
ModelValues logSoftmax(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.binary("sub", x, logSum(b, x, {b.dimension(given.integer("dim"), x->rank())}))};
}
// x / sqrt(mean of squares + epsilon), times a weight.
ModelValues rmsNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int count = static_cast<int>(given.integers("normalized_shape", {}).size());
  b.check(count >= 1 && count <= x->rank(), "it normalises more dimensions than there are");
  std::vector<int> dims;
  for (int d = x->rank() - count; d < x->rank(); ++d)
    dims.push_back(d);
  const Value square = b.reduce("mean", b.binary("mul", x, x), dims, true);
  const double epsilon = given.real("eps", std::numeric_limits<double>::epsilon());
  const Value made = b.binary("div", x, b.unary("sqrt", b.affine(square, {1}, {epsilon})));
  return {given.value("weight") ? b.binary("mul", made, given.value("weight")) : made};
}
ModelValues euclideanNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  if (given.real("ord", 2) != 2 || given.real("p", 2) != 2)
    return {b.refuse("a norm other than the Euclidean one", "the Euclidean norm", {1})};
  return {b.unary("sqrt", b.reduce("sum", b.binary("mul", x, x), dimsOf(b, given, x),
                                   given.flag("keepdim", false)))};
}

} // namespace

std::span<const Pt2Row> pt2Layers() {
  static constexpr Pt2Row rows[] = {{"adaptive_avg_pool", adaptivePool},
                                    {"adaptive_max_pool", adaptiveMaxPool},
                                    {"addmm", addmm},
                                    {"amax", reduction, "max"},
                                    {"amin", reduction, "min"},
                                    {"avg_pool", averagePool},
                                    {"baddbmm", addmm},
                                    {"batch_norm", batchNorm},
                                    {"bmm", matmul},
                                    {"conv", convolution},
                                    {"conv_transpose", transposedConvolution},
                                    {"dot", dot},
                                    {"group_norm", groupNorm},
                                    {"instance_norm", instanceNorm},
                                    {"layer_norm", layerNorm},
                                    {"linalg_vector_norm", euclideanNorm},
                                    {"linear", linear},
                                    {"logsumexp", logSumExp},
                                    {"log_softmax", logSoftmax},
                                    {"_log_softmax", logSoftmax},
                                    {"matmul", matmul},
                                    {"max_pool", maxPool},
                                    {"mean", reduction, "mean"},
                                    {"mm", matmul},
                                    {"mv", product},
                                    {"norm", euclideanNorm},
                                    {"pixel_shuffle", pixelShuffle},
                                    {"pixel_unshuffle", pixelUnshuffle},
                                    {"rms_norm", rmsNorm},
                                    {"scaled_dot_product_attention", attention},
                                    {"softmax", softmax},
                                    {"_softmax", softmax},
                                    {"std", deviationOf},
                                    {"std_mean", meanAnd, "std"},
                                    {"sum", reduction, "sum"},
                                    {"upsample_bicubic", upsample},
                                    {"upsample_bilinear", upsample},
                                    {"upsample_linear", upsample},
                                    {"upsample_nearest", upsample},
                                    {"upsample_trilinear", upsample},
                                    {"var", varianceOf},
                                    {"var_mean", meanAnd, "var"},
                                    {"vdot", dot}};
  return rows;
}

} // namespace tenon
