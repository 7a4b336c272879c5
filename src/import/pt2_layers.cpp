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
// 0 where a row has none but -infinity, and the softmax is NaN.
ModelValues safeSoftmax(ModelBuilder& b, const Operands& given, const char*) {
  const Value made = softmax(b, given, "")[0];
  return {b.where(b.compare("ne", made, made), b.number(0), made)};
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
// Of flags: whether one holds, or all of them.
ModelValues holds(ModelBuilder& b, const Operands& given, const char* of) {
  const Value x = self(given), flags = given.isFlag("self") ? x : b.compare("ne", x, b.number(0));
  return {b.reduce(of, flags, dimsOf(b, given, x), given.flag("keepdim", false))};
}
// Of all elements, or along a dimension, where only the values are computed and not their places; or of two tensors.
ModelValues extreme(ModelBuilder& b, const Operands& given, const char* of) {
  if (given.has("other"))
    return {b.binary(of, self(given), given.value("other"))};
  return reduction(b, given, of);
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
ModelValues logSumExp(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.logSumExp(x, dimsOf(b, given, x), given.flag("keepdim", false))};
}
ModelValues logSoftmax(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.binary("sub", x, b.logSumExp(x, {b.dimension(given.integer("dim"), x->rank())}, true))};
}
ModelValues rmsNorm(ModelBuilder& b, const Operands& given, const char*) {
  return {b.rmsNorm(self(given), static_cast<int>(given.integers("normalized_shape", {}).size()),
                    given.value("weight"),
                    given.real("eps", std::numeric_limits<double>::epsilon()))};
}
ModelValues euclideanNorm(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  if (given.real("ord", 2) != 2 || given.real("p", 2) != 2)
    return {b.refuse("a norm other than the Euclidean one", "the Euclidean norm", {1})};
  return {b.unary("sqrt", b.reduce("sum", b.binary("mul", x, x), dimsOf(b, given, x),
                                   given.flag("keepdim", false)))};
}

// -- recurrent cells, and networks of one or several layers and one or both directions

ModelBuilder::Cell cellOf(const Operands& given, bool isLstm) {
  return {given.needed("w_ih"), given.needed("w_hh"), given.value("b_ih"), given.value("b_hh"),
          isLstm};
}
ModelValues gruCell(ModelBuilder& b, const Operands& given, const char*) {
  return {b.step(cellOf(given, false), {given.needed("hx"), nullptr}, self(given)).h};
}
// A list of so many values, all of them there.
ModelValues listed(ModelBuilder& b, const Operands& given, const char* name, std::size_t count) {
  const ModelValues values = given.values(name);
  b.check(values.size() == count &&
              std::find(values.begin(), values.end(), nullptr) == values.end(),
          "it has another number of states or weights");
  return values;
}
ModelValues lstmCell(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues state = listed(b, given, "hx", 2);
  const ModelBuilder::State made = b.step(cellOf(given, true), {state[0], state[1]}, self(given));
  return {made.h, made.c};
}

ModelValues recurrent(ModelBuilder& b, const Operands& given, const char* of) {
  const bool isLstm = *of == 'l', hasBiases = given.flag("has_biases", true);
  const auto layers = static_cast<std::size_t>(given.integer("num_layers", 1)),
             directions = std::size_t(given.flag("bidirectional", false) ? 2 : 1),
             weights = std::size_t(hasBiases ? 4 : 2);
  constexpr std::size_t kMostLayers = 64;
  b.check(layers >= 1 && layers <= kMostLayers, "its number of layers is out of range");
  Value x = self(given);
  if (!given.has("hx") || x->rank() != 3 || given.flag("train", false))
    return ModelValues(isLstm ? 3 : 2,
                       b.refuse("a recurrent network of a sequence without batch, or in training",
                                "an input of 3 dimensions, in eval mode", x->shape));
  const ModelValues parameters = listed(b, given, "params", layers * directions * weights);
  const ModelValues states =
      isLstm ? listed(b, given, "hx", 2) : ModelValues{given.needed("hx"), nullptr};
  const auto initial = [&](Value all, std::size_t i) -> Value {
    if (!all)
      return nullptr;
    b.check(all->rank() == 3, "its first state has not three dimensions");
    const auto at = static_cast<Index>(i);
    return b.reshape(b.slice(all, 0, at, at + 1), {all->shape[1], all->shape[2]});
  };
  const bool isBatchFirst = given.flag("batch_first", false);
  x = isBatchFirst ? b.transpose(x, {1, 0, 2}) : x;
  ModelValues h, c;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    ModelValues outputs;
    for (std::size_t direction = 0; direction < directions; ++direction) {
      const std::size_t i = layer * directions + direction, first = i * weights;
      const ModelBuilder::Cell cell = {parameters[first], parameters[first + 1],
                                       hasBiases ? parameters[first + 2] : nullptr,
                                       hasBiases ? parameters[first + 3] : nullptr, isLstm};
      const ModelBuilder::Sequence made =
          b.recurrence(cell, x, {initial(states[0], i), initial(states[1], i)}, direction == 1);
      outputs.push_back(made.outputs);
      const auto stacked = [&](Value value) {
        return b.reshape(value, {1, value->shape[0], value->shape[1]});
      };
      h.push_back(stacked(made.last.h));
      if (isLstm)
        c.push_back(stacked(made.last.c));
    }
    x = b.concatenate(outputs, 2);
  }
  ModelValues results = {isBatchFirst ? b.transpose(x, {1, 0, 2}) : x, b.concatenate(h, 0)};
  if (isLstm)
    results.push_back(b.concatenate(c, 0));
  return results;
}

} // namespace

std::span<const Pt2Row> pt2Layers() {
  static constexpr Pt2Row rows[] = {{"adaptive_avg_pool", adaptivePool},
                                    {"_adaptive_avg_pool", adaptivePool},
                                    {"adaptive_max_pool", adaptiveMaxPool},
                                    {"addmm", addmm},
                                    {"all", holds, "min"},
                                    {"amax", reduction, "max"},
                                    {"amin", reduction, "min"},
                                    {"any", holds, "max"},
                                    {"avg_pool", averagePool},
                                    {"baddbmm", addmm},
                                    {"batch_norm", batchNorm},
                                    {"bmm", matmul},
                                    {"conv", convolution},
                                    {"conv_transpose", transposedConvolution},
                                    {"convolution", convolution},
                                    {"dot", dot},
                                    {"group_norm", groupNorm},
                                    {"gru", recurrent, "gru"},
                                    {"gru_cell", gruCell},
                                    {"instance_norm", instanceNorm},
                                    {"layer_norm", layerNorm},
                                    {"linalg_vector_norm", euclideanNorm},
                                    {"linear", linear},
                                    {"logsumexp", logSumExp},
                                    {"log_softmax", logSoftmax},
                                    {"_log_softmax", logSoftmax},
                                    {"lstm", recurrent, "lstm"},
                                    {"lstm_cell", lstmCell},
                                    {"matmul", matmul},
                                    {"max", extreme, "max"},
                                    {"max_pool", maxPool},
                                    {"max_pool2d_with_indices", maxPool},
                                    {"max_pool3d_with_indices", maxPool},
                                    {"mean", reduction, "mean"},
                                    {"min", extreme, "min"},
                                    {"mm", matmul},
                                    {"mv", product},
                                    {"_native_batch_norm_legit", statelessNorm},
                                    {"_native_batch_norm_legit_no_training", batchNorm},
                                    {"native_group_norm", groupNorm},
                                    {"native_layer_norm", layerNorm},
                                    {"norm", euclideanNorm},
                                    {"pixel_shuffle", pixelShuffle},
                                    {"pixel_unshuffle", pixelUnshuffle},
                                    {"rms_norm", rmsNorm},
                                    {"_safe_softmax", safeSoftmax},
                                    {"scaled_dot_product_attention", attention},
                                    {"_scaled_dot_product_flash_attention_for_cpu", attention},
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
