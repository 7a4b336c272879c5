// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: layers with weights, sliding windows, norms, attention, and changes of
// resolution. Each function reads the arguments of an operation by name (Operands) and appends
// values to the canonical graph by the builder b; self() is the first argument. The table at the
// end has a row per family of operators: name, function, and the function's last argument
// `variant`, which selects what a shared function computes (operator_rows.hpp). A single number for
// a window's size applies to all of its dimensions.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Missing settings have PyTorch's defaults.
ModelBuilder::Windows windowsOf(const Operands& operands, Value x) {
  const int spatial = spatialOf(x);
  ModelBuilder::Windows w;
  w.stride = operands.perDimension("stride", 1, spatial);
  w.dilation = operands.perDimension("dilation", 1, spatial);
  w.low = w.high = operands.perDimension("padding", 0, spatial);
  w.groups = operands.integer("groups", 1);
  return w;
}
ModelValues transposedConvolution(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  ModelBuilder::Windows w = windowsOf(operands, x);
  w.outputPadding = operands.perDimension("output_padding", 0, spatialOf(x));
  w.isTransposed = true;
  return {b.convolution(x, operands.needed("weight"), operands.value("bias"), w)};
}
ModelValues convolution(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), weight = operands.needed("weight");
  if (operands.flag("transposed", false))
    return transposedConvolution(b, operands, "");
  ModelBuilder::Windows w;
  if (operands.operation().type.ends_with(".padding")) {
    // Padding "same" or "valid"; an odd padding has its larger half at the high side.
    const int spatial = spatialOf(x);
    b.check(weight->ndim() == x->ndim(), "its weight has another number of dimensions");
    w.stride = operands.perDimension("stride", 1, spatial);
    w.dilation = operands.perDimension("dilation", 1, spatial);
    w.groups = operands.integer("groups", 1);
    const bool isSame = operands.text("padding", "valid") == "same";
    for (int s = 0; s < spatial; ++s) {
      const auto i = static_cast<std::size_t>(s);
      b.check(i < w.dilation.size(),
              "its windows have another number of dimensions than its input");
      const Index padding = isSame ? w.dilation[i] * (weight->shape[i + 2] - 1) : 0;
      w.low.push_back(padding / 2);
      w.high.push_back(padding - padding / 2);
    }
  } else {
    w = windowsOf(operands, x);
  }
  return {b.convolution(x, weight, operands.value("bias"), w)};
}
ModelValues linear(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.linear(self(operands), operands.needed("weight"), operands.value("bias"))};
}
// The default scale is 1 / sqrt(features); a boolean mask is true where a key is visible.
ModelValues attention(ModelBuilder& b, const Operands& operands, const char*) {
  const Value q = operands.needed("query"), k = operands.needed("key"),
              v = operands.needed("value");
  b.check(q->ndim() >= 3 && k->ndim() >= 3 && v->ndim() >= 3,
          "it needs tensors [..., sequence, features]");
  if (operands.real("dropout_p", 0) != 0)
    return {b.refuse("an attention with dropout", "one without, in eval mode", q->shape)};
  Value mask = operands.value("attn_mask");
  if (operands.isFlag("attn_mask"))
    mask = b.addedMask(mask);
  const double scale = operands.real("scale", 1 / std::sqrt(static_cast<double>(q->shape.back())));
  return {b.attention(q, k, v, scale, mask, operands.flag("is_causal", false))};
}
// Normalisation by the statistics of the batch, of all dimensions but the channels: an instance
// norm if the batch is one sample that is a field.
ModelValues statelessNorm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), weight = operands.value("weight"), bias = operands.value("bias");
  const double epsilon = operands.real("eps", 1e-5);
  if (operands.has("running_mean") || !operands.flag("training", true) || x->ndim() < 2)
    return {b.refuse("a batch norm that takes the statistics of the batch",
                     "the model in eval mode", x->shape)};
  if (x->shape[0] == 1 && !x->isOfParameters())
    return {b.norm(ModelOp::InstanceNorm, x, weight, bias, epsilon)};
  std::vector<int> dims = {0};
  for (int d = 2; d < x->ndim(); ++d)
    dims.push_back(d);
  Shape channels(x->shape.size() - 1, 1);
  channels[0] = x->shape[1];
  const Value difference = b.binary("sub", x, b.reduce("mean", x, dims, /*keeps=*/true));
  const Value variance =
      b.reduce("mean", b.binary("mul", difference, difference), dims, /*keeps=*/true);
  Value result = b.binary("div", difference, b.unary("sqrt", b.affine(variance, {1}, {epsilon})));
  if (weight)
    result = b.binary("mul", result, b.reshape(weight, channels));
  return {bias ? b.binary("add", result, b.reshape(bias, channels)) : result};
}
// Without running statistics (training mode) the builder refuses it.
ModelValues batchNorm(ModelBuilder& b, const Operands& operands, const char*) {
  const bool inTraining = operands.flag("training", false);
  if (inTraining && !operands.has("running_mean"))
    return statelessNorm(b, operands, "");
  return {b.batchNorm(self(operands), operands.value("weight"), operands.value("bias"),
                      inTraining ? nullptr : operands.value("running_mean"),
                      inTraining ? nullptr : operands.value("running_var"),
                      operands.real("eps", 1e-5), operands.real("momentum", 0.1))};
}
// With running statistics an instance norm is a batch norm with fixed statistics.
ModelValues instanceNorm(ModelBuilder& b, const Operands& operands, const char*) {
  if (!operands.flag("use_input_stats", true))
    return {b.batchNorm(self(operands), operands.value("weight"), operands.value("bias"),
                        operands.value("running_mean"), operands.value("running_var"),
                        operands.real("eps", 1e-5))};
  if (operands.has("running_mean"))
    return {b.refuse("an instance norm that changes its running statistics",
                     "the model in eval mode", self(operands)->shape)};
  return {b.norm(ModelOp::InstanceNorm, self(operands), operands.value("weight"),
                 operands.value("bias"), operands.real("eps", 1e-5))};
}
// The number of groups has two names, in group_norm and native_group_norm.
ModelValues groupNorm(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.norm(ModelOp::GroupNorm, self(operands), operands.value("weight"),
                 operands.value("bias"), operands.real("eps", 1e-5),
                 operands.integer(operands.has("num_groups") ? "num_groups" : "group"))};
}
ModelValues layerNorm(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const std::vector<Index> shape = operands.integers("normalized_shape", {});
  b.check(static_cast<int>(shape.size()) <= x->ndim() &&
              std::equal(shape.rbegin(), shape.rend(), x->shape.rbegin()),
          "its normalized_shape is not that of its input's last dimensions");
  return {b.norm(ModelOp::LayerNorm, x, operands.value("weight"), operands.value("bias"),
                 operands.real("eps", 1e-5), static_cast<Index>(shape.size()))};
}
// The default epsilon is that of the type in PyTorch; float64 here.
ModelValues rmsNorm(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.rmsNorm(
      self(operands), static_cast<int>(operands.integers("normalized_shape", {}).size()),
      operands.value("weight"), operands.real("eps", std::numeric_limits<double>::epsilon()))};
}
// The default stride is the kernel size.
ModelValues pool(ModelBuilder& b, const Operands& operands, ModelBuilder::Pool kind) {
  const Value x = self(operands);
  const int spatial = spatialOf(x);
  ModelBuilder::Windows w = windowsOf(operands, x);
  w.kernel = operands.perDimension("kernel_size", 1, spatial);
  if (operands.integers("stride", {}).empty())
    w.stride = w.kernel;
  return {b.pooling(x, kind, w, operands.flag("ceil_mode", false))};
}
ModelValues maxPool(ModelBuilder& b, const Operands& operands, const char*) {
  return pool(b, operands, ModelBuilder::Pool::Maximum);
}
ModelValues averagePool(ModelBuilder& b, const Operands& operands, const char*) {
  if (operands.has("divisor_override"))
    return {b.refuse("an average pooling with a divisor", "one that divides by its size",
                     self(operands)->shape)};
  return pool(b, operands,
              operands.flag("count_include_pad", true) ? ModelBuilder::Pool::Average
                                                       : ModelBuilder::Pool::AverageInside);
}
// Maxima over all of space, or of windows of one size.
ModelValues adaptiveMaxPool(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const std::vector<Index> size = operands.perDimension("output_size", 1, spatialOf(x));
  std::vector<int> space;
  for (int d = x->ndim() - spatialOf(x); d < x->ndim(); ++d)
    space.push_back(d);
  if (std::all_of(size.begin(), size.end(), [](Index n) { return n == 1; }))
    return {b.reduce("max of first", x, space, /*keeps=*/true)};
  ModelBuilder::Windows w;
  for (std::size_t s = 0; s < size.size(); ++s) {
    const Index extent = x->shape[static_cast<std::size_t>(space[s])];
    if (size[s] < 1 || extent % size[s] != 0)
      return {b.refuse("an adaptive maximum pooling to sizes that do not divide the extents",
                       "sizes that do", x->shape)};
    w.kernel.push_back(extent / size[s]);
    w.stride.push_back(extent / size[s]);
    w.dilation.push_back(1);
    w.low.push_back(0);
    w.high.push_back(0);
  }
  return {b.pooling(x, ModelBuilder::Pool::Maximum, w, /*ceil=*/false)};
}
ModelValues adaptivePool(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.adaptivePooling(x, operands.perDimension("output_size", 1, spatialOf(x)))};
}
// A change of resolution to a size, by factors, or to a size with factors, from which PyTorch takes
// the distance of the results even if the size was rounded.
struct Upsampling {
  std::vector<Index> sizes;
  std::vector<double> steps; // distance of two results in elements of the input
  bool isExact = true;       // the distances are the quotients of the extents

  Upsampling(ModelBuilder& b, const Operands& operands, Value x)
      : sizes(operands.integers("output_size", {})) {
    const auto space = static_cast<std::size_t>(spatialOf(x));
    const bool isOfSizes = !sizes.empty();
    const std::vector<double> given =
        isOfSizes ? std::vector<double>() : operands.reals("scale_factors");
    b.check((isOfSizes ? sizes.size() : given.size()) == space && space <= 3,
            "it has another number of sizes or factors");
    for (std::size_t s = 0; s < space; ++s) {
      const auto n = static_cast<double>(x->shape[s + 2]);
      // Zero and negative factors beside a size are none, in PyTorch.
      const double factor = isOfSizes ? operands.real(nameOfFactor(s, space), 0) : given[s];
      if (!isOfSizes) {
        b.check(factor > 0 && factor < 1e6, "a factor is out of range");
        sizes.push_back(static_cast<Index>(std::floor(n * factor)));
      }
      b.check(sizes[s] >= 1 && n >= 1, "a size is out of range");
      const auto m = static_cast<double>(sizes[s]);
      isExact = isExact && (factor <= 0 || n * factor == m);
      steps.push_back(factor <= 0 ? n / m : 1 / factor);
    }
  }
  static const char* nameOfFactor(std::size_t s, std::size_t space) {
    constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
    return space == 1 ? "scales" : kNames[s + 3 - space];
  }
};
// Interpolates each dimension by a matrix; `isAntialiased` averages over as many elements as a
// smaller result replaces.
Value resampled(ModelBuilder& b, Value x, const std::string& type, const Upsampling& to,
                bool alignsCorners) {
  const auto is = [&](const char* word) { return type.find(word) != type.npos; };
  const bool isAntialiased = is("_aa");
  for (std::size_t s = 0; s < to.sizes.size(); ++s) {
    const auto n = static_cast<double>(x->shape[s + 2]), m = static_cast<double>(to.sizes[s]);
    std::vector<double> places;
    for (Index i = 0; i < to.sizes[s]; ++i) {
      const auto at = static_cast<double>(i);
      if (is("nearest"))
        places.push_back(std::min(std::floor((at + (is("exact") ? 0.5 : 0)) * to.steps[s]), n - 1));
      else if (alignsCorners)
        places.push_back(m > 1 ? at * (n - 1) / (m - 1) : 0);
      else
        places.push_back((at + 0.5) * to.steps[s] - 0.5);
    }
    x = b.interpolated(x, static_cast<int>(s) + 2, places,
                       {.isCubic = is("cubic"),
                        .cubicFactor = isAntialiased ? -0.5 : -0.75,
                        .spread = isAntialiased ? std::min(1 / to.steps[s], 1.0) : 1,
                        .excludesOutside = isAntialiased});
  }
  return x;
}
ModelValues upsample(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const std::string& type = operands.operation().type;
  const auto is = [&](const char* word) { return type.find(word) != type.npos; };
  const bool alignsCorners = operands.flag("align_corners", false);
  const Upsampling to(b, operands, x);
  if (is("cubic") || is("exact") || is("_aa") || !(to.isExact || alignsCorners))
    return {resampled(b, x, type, to, alignsCorners)};
  return {b.resize(x, to.sizes, !is("nearest"), alignsCorners)};
}
ModelValues pixelShuffle(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.pixelShuffle(self(operands), operands.integer("upscale_factor"))};
}
ModelValues pixelUnshuffle(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.spaceToDepth(self(operands), operands.integer("downscale_factor"),
                         /*blockFirst=*/false)};
}

} // namespace

std::span<const Pt2Row> pt2Layers() {
  static constexpr Pt2Row rows[] = {{"_adaptive_avg_pool", adaptivePool},
                                    {"_native_batch_norm_legit", statelessNorm},
                                    {"_native_batch_norm_legit_no_training", batchNorm},
                                    {"_scaled_dot_product_flash_attention_for_cpu", attention},
                                    {"_upsample_bicubic2d_aa", upsample},
                                    {"_upsample_bilinear2d_aa", upsample},
                                    {"_upsample_nearest_exact", upsample},
                                    {"adaptive_avg_pool", adaptivePool},
                                    {"adaptive_max_pool", adaptiveMaxPool},
                                    {"avg_pool", averagePool},
                                    {"batch_norm", batchNorm},
                                    {"conv", convolution},
                                    {"conv_transpose", transposedConvolution},
                                    {"convolution", convolution},
                                    {"group_norm", groupNorm},
                                    {"instance_norm", instanceNorm},
                                    {"layer_norm", layerNorm},
                                    {"linear", linear},
                                    {"max_pool", maxPool},
                                    {"max_pool2d_with_indices", maxPool},
                                    {"max_pool3d_with_indices", maxPool},
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
                                    {"upsample_trilinear", upsample}};
  return rows;
}

} // namespace tenon
