// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's operators (aten) by name, and what each is in the canonical graph. Overloads
// ("aten.add.Tensor", "aten.add.Scalar") have the same arguments by the same names.
#include "import/model_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;
using Build = ModelValues (*)(ModelBuilder&, const Operands&);

Value self(const Operands& given) {
  const Value x = given.value("self");
  return x ? x : given.needed("input");
}
int spatialOf(Value x) {
  return std::max(x->rank() - 2, 0);
}

// -- functions of elements

template <const char* Name>
ModelValues function(ModelBuilder& b, const Operands& given) {
  return {b.unary(Name, self(given))};
}
constexpr char kRelu[] = "relu", kTanh[] = "tanh", kSigmoid[] = "sigmoid", kSilu[] = "silu",
               kSine[] = "sine", kCosine[] = "cosine", kExp[] = "exp", kLog[] = "log",
               kSqrt[] = "sqrt", kAbs[] = "abs", kMish[] = "mish", kHardSwish[] = "hardswish",
               kSelu[] = "selu", kErf[] = "erf", kNeg[] = "neg", kReciprocal[] = "reciprocal",
               kSoftsign[] = "softsign";

ModelValues same(ModelBuilder&, const Operands& given) {
  return {self(given)};
}
// A conversion of the elements; between real types it changes nothing, as the run has its own.
ModelValues converted(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const Index type = given.integer("dtype", 7); // PyTorch's number: 6, 7, 8 and 13 are real
  if (type == 6 || type == 7 || type == 8 || type == 13 ||
      (x->isConstant() && x->constant->isInteger()))
    return {x};
  return {b.refuse("a conversion to integers or flags", "real numbers", x->shape)};
}
ModelValues dropout(ModelBuilder& b, const Operands& given) {
  b.check(!given.flag("train", false),
          "it drops elements as in training; call eval() before the export");
  return {self(given)};
}
ModelValues gelu(ModelBuilder& b, const Operands& given) {
  return {b.unary(given.text("approximate", "none") == "tanh" ? "gelutanh" : "gelu", self(given))};
}
ModelValues leakyRelu(ModelBuilder& b, const Operands& given) {
  return {b.unary("leakyrelu", self(given), {{"slope", given.real("negative_slope", 0.01)}})};
}
ModelValues elu(ModelBuilder& b, const Operands& given) {
  if (given.real("scale", 1) != 1 || given.real("input_scale", 1) != 1)
    return {b.refuse("an elu with scales", "elu with alpha, or selu", self(given)->shape)};
  return {b.unary("elu", self(given), {{"alpha", given.real("alpha", 1)}})};
}
ModelValues celu(ModelBuilder& b, const Operands& given) {
  return {b.unary("celu", self(given), {{"alpha", given.real("alpha", 1)}})};
}
ModelValues softplus(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const double beta = given.real("beta", 1);
  b.check(beta != 0, "its beta is 0");
  return {b.affine(b.unary("softplus", b.affine(x, {beta}, {0})), {1 / beta}, {0})};
}
Value clamp(ModelBuilder& b, Value x, std::optional<double> low, std::optional<double> high) {
  std::vector<std::pair<std::string, double>> bounds;
  if (low)
    bounds.emplace_back("low", *low);
  if (high)
    bounds.emplace_back("high", *high);
  return b.unary("clamp", x, bounds);
}
ModelValues hardTanh(ModelBuilder& b, const Operands& given) {
  return {clamp(b, self(given), given.real("min_val", -1), given.real("max_val", 1))};
}
ModelValues clampBetween(ModelBuilder& b, const Operands& given) {
  const auto bound = [&](const char* name) {
    return given.has(name) ? std::optional(given.real(name)) : std::nullopt;
  };
  return {clamp(b, self(given), bound("min"), bound("max"))};
}
ModelValues relu6(ModelBuilder& b, const Operands& given) {
  return {clamp(b, self(given), 0, 6)};
}
ModelValues hardSigmoid(ModelBuilder& b, const Operands& given) {
  return {clamp(b, b.affine(self(given), {1.0 / 6}, {0.5}), 0, 1)};
}
ModelValues prelu(ModelBuilder& b, const Operands& given) {
  return {b.prelu(self(given), given.needed("weight"))};
}

// -- arithmetic

template <const char* Name>
ModelValues arithmetic(ModelBuilder& b, const Operands& given) {
  Value other = given.needed("other");
  if (given.has("alpha"))
    other = b.binary("mul", other, given.value("alpha"));
  if (given.has("rounding_mode"))
    return {b.refuse("a division that rounds", "a division of real numbers", self(given)->shape)};
  return {b.binary(Name, self(given), other)};
}
constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kDiv[] = "div";
ModelValues reversedSub(ModelBuilder& b, const Operands& given) {
  b.check(given.real("alpha", 1) == 1, "it has a factor alpha");
  return {b.binary("sub", given.needed("other"), self(given))};
}
ModelValues power(ModelBuilder& b, const Operands& given) {
  return {b.binary("pow", self(given), given.needed("exponent"))};
}
template <const char* Name>
ModelValues comparison(ModelBuilder& b, const Operands& given) {
  return {b.compare(Name, self(given), given.needed("other"))};
}
constexpr char kGreater[] = "gt", kLess[] = "lt", kGreaterEqual[] = "ge", kLessEqual[] = "le",
               kEqual[] = "eq";
ModelValues where(ModelBuilder& b, const Operands& given) {
  return {b.where(given.needed("condition"), given.needed("self"), given.needed("other"))};
}

// -- computations of shapes

template <const char* Name>
ModelValues scalar(ModelBuilder& b, const Operands& given) {
  const auto& arguments = given.operation().arguments;
  b.check(arguments.size() == 2, "it needs two numbers");
  return {b.binary(Name, given.needed(arguments[0].first), given.needed(arguments[1].first))};
}
constexpr char kFloorDiv[] = "floordiv", kMod[] = "mod";
ModelValues size(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const auto d = static_cast<std::size_t>(b.dimension(given.integer("dim"), x->rank()));
  return {b.number(static_cast<double>(x->shape[d]), true)};
}

// -- layers

ModelBuilder::Windows windowsOf(const Operands& given, Value x) {
  const int spatial = spatialOf(x);
  ModelBuilder::Windows w;
  w.stride = given.perDimension("stride", 1, spatial);
  w.dilation = given.perDimension("dilation", 1, spatial);
  w.low = w.high = given.perDimension("padding", 0, spatial);
  w.groups = given.integer("groups", 1);
  return w;
}
ModelValues convolution(ModelBuilder& b, const Operands& given) {
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
ModelValues transposedConvolution(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  ModelBuilder::Windows w = windowsOf(given, x);
  w.outputPadding = given.perDimension("output_padding", 0, spatialOf(x));
  w.isTransposed = true;
  return {b.convolution(x, given.needed("weight"), given.value("bias"), w)};
}
ModelValues linear(ModelBuilder& b, const Operands& given) {
  return {b.linear(self(given), given.needed("weight"), given.value("bias"))};
}
ModelValues addmm(ModelBuilder& b, const Operands& given) {
  b.check(given.real("beta", 1) == 1 && given.real("alpha", 1) == 1,
          "it has factors alpha or beta");
  return {
      b.binary("add", b.matmul(given.needed("mat1"), given.needed("mat2")), given.needed("self"))};
}
ModelValues matmul(ModelBuilder& b, const Operands& given) {
  return {b.matmul(self(given), given.has("other") ? given.value("other") : given.needed("mat2"))};
}
ModelValues attention(ModelBuilder& b, const Operands& given) {
  const Value q = given.needed("query"), k = given.needed("key"), v = given.needed("value");
  b.check(q->rank() == 4 && k->rank() == 4 && v->rank() == 4, "it needs tensors of 4 dimensions");
  if (given.has("attn_mask") || given.flag("is_causal", false) || given.real("dropout_p", 0) != 0)
    return {b.refuse("an attention with a mask, causality or dropout", "an attention over all",
                     q->shape)};
  const double scale = given.real("scale", 1 / std::sqrt(static_cast<double>(q->shape[3])));
  const Value scores = b.affine(b.matmul(q, b.transpose(k, {0, 1, 3, 2})), {scale}, {0});
  return {b.matmul(b.softmax(scores, 3), v)};
}
ModelValues batchNorm(ModelBuilder& b, const Operands& given) {
  const bool inTraining = given.flag("training", false);
  return {b.batchNorm(self(given), given.value("weight"), given.value("bias"),
                      inTraining ? nullptr : given.value("running_mean"),
                      inTraining ? nullptr : given.value("running_var"), given.real("eps", 1e-5))};
}
ModelValues instanceNorm(ModelBuilder& b, const Operands& given) {
  if (!given.flag("use_input_stats", true))
    return {b.batchNorm(self(given), given.value("weight"), given.value("bias"),
                        given.value("running_mean"), given.value("running_var"),
                        given.real("eps", 1e-5))};
  return {b.norm(ModelOp::InstanceNorm, self(given), given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5))};
}
ModelValues groupNorm(ModelBuilder& b, const Operands& given) {
  return {b.norm(ModelOp::GroupNorm, self(given), given.value("weight"), given.value("bias"),
                 given.real("eps", 1e-5), given.integer("num_groups"))};
}
ModelValues layerNorm(ModelBuilder& b, const Operands& given) {
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
ModelValues maxPool(ModelBuilder& b, const Operands& given) {
  return pool(b, given, ModelBuilder::Pool::Maximum);
}
ModelValues averagePool(ModelBuilder& b, const Operands& given) {
  if (given.has("divisor_override"))
    return {b.refuse("an average pooling with a divisor", "one that divides by its size",
                     self(given)->shape)};
  return pool(b, given,
              given.flag("count_include_pad", true) ? ModelBuilder::Pool::Average
                                                    : ModelBuilder::Pool::AverageInside);
}
ModelValues adaptivePool(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  return {b.adaptivePooling(x, given.perDimension("output_size", 1, spatialOf(x)))};
}
ModelValues upsample(ModelBuilder& b, const Operands& given) {
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
ModelValues pixelShuffle(ModelBuilder& b, const Operands& given) {
  return {b.pixelShuffle(self(given), given.integer("upscale_factor"))};
}
ModelValues softmax(ModelBuilder& b, const Operands& given) {
  return {b.softmax(self(given), static_cast<int>(given.integer("dim")))};
}
ModelValues mean(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  for (int d = 0; dims.empty() && d < x->rank(); ++d)
    dims.push_back(d);
  return {b.mean(x, dims, given.flag("keepdim", false))};
}

// -- structure

ModelValues pad(ModelBuilder& b, const Operands& given) {
  Value x = self(given);
  const std::string mode = given.text("mode", "constant");
  const char* ours = mode == "constant"    ? "values"
                     : mode == "circular"  ? "periodic"
                     : mode == "reflect"   ? "reflect"
                     : mode == "replicate" ? "replicate"
                                           : nullptr;
  b.check(ours != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = given.integers("pad", {});
  b.check(pads.size() % 2 == 0 && static_cast<int>(pads.size()) <= 2 * x->rank(),
          "it has another number of paddings");
  for (std::size_t i = 0; 2 * i < pads.size(); ++i)
    x = b.pad(x, x->rank() - 1 - static_cast<int>(i), pads[2 * i], pads[2 * i + 1], ours,
              given.real("value", 0));
  return {x};
}
ModelValues concatenate(ModelBuilder& b, const Operands& given) {
  const ModelValues values = given.values("tensors");
  b.check(!values.empty() && std::none_of(values.begin(), values.end(), [](Value v) { return !v; }),
          "it concatenates nothing");
  return {b.concatenate(values, static_cast<int>(given.integer("dim", 0)))};
}
ModelValues pieces(ModelBuilder& b, Value x, int d, const std::vector<Index>& sizes) {
  ModelValues made;
  Index at = 0;
  for (const Index size : sizes) {
    b.check(size >= 0 && size <= x->shape[static_cast<std::size_t>(d)] - at,
            "its pieces do not fit");
    made.push_back(b.slice(x, d, at, at + size));
    at += size;
  }
  return made;
}
ModelValues splitEvenly(ModelBuilder& b, Value x, int d, Index step) {
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(step >= 1 && n / step < 65536, "the size of its pieces is out of range");
  std::vector<Index> sizes;
  for (Index at = 0; at < n; at += std::min(step, n - at))
    sizes.push_back(std::min(step, n - at));
  return pieces(b, x, d, sizes);
}
ModelValues split(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  const auto sizes = given.integers(given.has("split_sizes") ? "split_sizes" : "split_size", {});
  return given.operation().type.find("with_sizes") != std::string::npos || sizes.size() != 1
             ? pieces(b, x, d, sizes)
             : splitEvenly(b, x, d, sizes[0]);
}
ModelValues chunk(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], count = given.integer("chunks");
  b.check(count >= 1, "it makes no pieces");
  return splitEvenly(b, x, d, std::max((n + count - 1) / count, Index(1)));
}
Value without(ModelBuilder& b, Value x, int d) {
  Shape shape = x->shape;
  shape.erase(shape.begin() + d);
  return b.reshape(x, shape);
}
ModelValues unbind(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  ModelValues made = splitEvenly(b, x, d, 1);
  for (Value& value : made)
    value = without(b, value, d);
  return made;
}
ModelValues select(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], i = given.integer("index");
  b.check(i >= -n && i < n, "its index is out of range");
  const Index begin = i < 0 ? i + n : i;
  return {without(b, b.slice(x, d, begin, begin + 1), d)};
}
constexpr Index kEnd = Index(1) << 61; // a slice goes to the end
ModelValues slice(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  return {b.slice(x, b.dimension(given.integer("dim", 0), x->rank()),
                  std::clamp(given.integer("start", 0), -kEnd, kEnd),
                  std::clamp(given.integer("end", kEnd), -kEnd, kEnd), given.integer("step", 1))};
}
ModelValues reshape(ModelBuilder& b, const Operands& given) {
  return {b.reshape(self(given), given.integers(given.has("shape") ? "shape" : "size", {}))};
}
ModelValues flatten(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  const int first = b.dimension(given.integer("start_dim", 0), x->rank());
  const int last = b.dimension(given.integer("end_dim", -1), x->rank());
  b.check(first <= last, "its dimensions are in the wrong order");
  Shape shape(x->shape.begin(), x->shape.begin() + first);
  shape.push_back(elements(Shape(x->shape.begin() + first, x->shape.begin() + last + 1)));
  shape.insert(shape.end(), x->shape.begin() + last + 1, x->shape.end());
  return {b.reshape(x, shape)};
}
ModelValues unsqueeze(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  Shape shape = x->shape;
  shape.insert(shape.begin() + b.dimension(given.integer("dim"), x->rank() + 1), 1);
  return {b.reshape(x, shape)};
}
ModelValues squeeze(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  Shape shape;
  for (int d = 0; d < x->rank(); ++d) {
    const bool isNamed = !given.has("dim") || std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!isNamed || x->shape[static_cast<std::size_t>(d)] != 1)
      shape.push_back(x->shape[static_cast<std::size_t>(d)]);
  }
  return {b.reshape(x, shape)};
}
ModelValues permute(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  std::vector<int> order;
  for (const Index d : given.integers("dims", {}))
    order.push_back(b.dimension(d, x->rank()));
  return {b.transpose(x, order)};
}
ModelValues transpose(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  std::vector<int> order;
  for (int d = 0; d < x->rank(); ++d)
    order.push_back(d);
  if (x->rank() > 0)
    std::swap(order[static_cast<std::size_t>(b.dimension(given.integer("dim0", -1), x->rank()))],
              order[static_cast<std::size_t>(b.dimension(given.integer("dim1", -2), x->rank()))]);
  return {b.transpose(x, order)};
}
ModelValues expand(ModelBuilder& b, const Operands& given) {
  return {b.expand(self(given), given.integers("size", {}))};
}

// -- constants

ModelValues filled(ModelBuilder& b, const Operands& given, double number) {
  const Shape shape = given.has("self") ? given.value("self")->shape : given.integers("size", {});
  b.checkShape(shape);
  return {b.expand(b.number(number), shape)};
}
ModelValues zeros(ModelBuilder& b, const Operands& given) {
  return filled(b, given, 0);
}
ModelValues ones(ModelBuilder& b, const Operands& given) {
  return filled(b, given, 1);
}
ModelValues full(ModelBuilder& b, const Operands& given) {
  return filled(b, given, given.real("fill_value"));
}
ModelValues linspace(ModelBuilder& b, const Operands& given) {
  const double first = given.real("start"), last = given.real("end");
  const Index steps = given.integer("steps");
  b.check(steps >= 1 && steps <= Index(1) << 23, "its number of steps is out of range");
  std::vector<double> numbers;
  for (Index i = 0; i < steps; ++i)
    numbers.push_back(steps == 1 ? first
                                 : first + (last - first) * static_cast<double>(i) /
                                               static_cast<double>(steps - 1));
  return {b.constant(ModelConstant::ofNumbers({steps}, std::move(numbers)))};
}
// The weight v g / |v|, the norm over all dimensions but one.
ModelValues weightNorm(ModelBuilder& b, const Operands& given) {
  const ModelConstant v = b.numbersOf(given.needed("v"), "a weight"),
                      g = b.numbersOf(given.needed("g"), "the norm of a weight");
  const int dim = b.dimension(given.integer("dim", 0), v.rank());
  const Index n = v.shape()[static_cast<std::size_t>(dim)];
  b.check(g.elements() == n, "it needs one norm for each output");
  std::vector<double> squares(static_cast<std::size_t>(n), 0), numbers = v.numbers();
  const auto at = [&](const std::vector<Index>& index) {
    return static_cast<std::size_t>(index[static_cast<std::size_t>(dim)]);
  };
  forEachPlace(v.shape(), [&](const auto& index, Index place) {
    squares[at(index)] +=
        v.numbers()[static_cast<std::size_t>(place)] * v.numbers()[static_cast<std::size_t>(place)];
  });
  forEachPlace(v.shape(), [&](const auto& index, Index place) {
    numbers[static_cast<std::size_t>(place)] *=
        g.numbers()[at(index)] / std::sqrt(squares[at(index)]);
  });
  return {b.constant(ModelConstant::ofNumbers(v.shape(), std::move(numbers)))};
}

// -- spectral convolutions, and what has no layer

ModelValues fourier(ModelBuilder& b, const Operands& given) {
  b.check(!given.has("s") && !given.has("norm"), "it has a size or a norm of its own");
  return {b.fourier(self(given))};
}
ModelValues inverseFourier(ModelBuilder& b, const Operands& given) {
  return {b.inverseFourier(self(given), given.integers("s", {}))};
}
ModelValues viewAsComplex(ModelBuilder& b, const Operands& given) {
  return {b.complex(self(given))};
}
ModelValues copyInto(ModelBuilder& b, const Operands& given) {
  const Value part = self(given), source = given.needed("src");
  const Value base = [&] {
    Value at = part;
    while (at->op == ModelOp::Slice)
      at = at->inputs[0];
    return at;
  }();
  if (base->op != ModelOp::InverseFourierInput)
    return {b.refuse("a value that is written into another", "a concatenation", part->shape)};
  b.write(part, source);
  return {part};
}
ModelValues einsum(ModelBuilder& b, const Operands& given) {
  const std::string equation = given.text("equation", "");
  const ModelValues factors = given.values("tensors");
  b.check(factors.size() == 2 && factors[0] && factors[1], "it does not have two factors");
  if (equation == "bixy,ioxy->boxy" && factors[1]->op == ModelOp::Complex)
    return {b.modes(factors[0], factors[1])};
  if (equation == "bk,pk->bp")
    return {b.matmul(factors[0], b.transpose(factors[1], {1, 0}))};
  return {b.refuse(fmt::format("einsum {}", equation),
                   "a product of two matrices, or a convolution", {1})};
}
ModelValues indexed(ModelBuilder& b, const Operands& given) {
  const Value x = self(given);
  return {b.refuse(fmt::format("{} by a tensor of indices", given.operation().type),
                   "an operator of an index map (TenonLinearOpCreateGather) before the network",
                   x->shape)};
}

const std::map<std::string, Build, std::less<>>& operators() {
  static const std::map<std::string, Build, std::less<>> table = {
      {"abs", function<kAbs>},
      {"adaptive_avg_pool1d", adaptivePool},
      {"adaptive_avg_pool2d", adaptivePool},
      {"adaptive_avg_pool3d", adaptivePool},
      {"add", arithmetic<kAdd>},
      {"add_", arithmetic<kAdd>},
      {"addmm", addmm},
      {"alias", same},
      {"avg_pool1d", averagePool},
      {"avg_pool2d", averagePool},
      {"avg_pool3d", averagePool},
      {"batch_norm", batchNorm},
      {"bmm", matmul},
      {"cat", concatenate},
      {"celu", celu},
      {"chunk", chunk},
      {"clamp", clampBetween},
      {"clone", same},
      {"contiguous", same},
      {"conv1d", convolution},
      {"conv2d", convolution},
      {"conv3d", convolution},
      {"conv_transpose1d", transposedConvolution},
      {"conv_transpose2d", transposedConvolution},
      {"conv_transpose3d", transposedConvolution},
      {"copy_", copyInto},
      {"cos", function<kCosine>},
      {"detach", same},
      {"detach_", same},
      {"div", arithmetic<kDiv>},
      {"dropout", dropout},
      {"einsum", einsum},
      {"elu", elu},
      {"elu_", elu},
      {"eq", comparison<kEqual>},
      {"erf", function<kErf>},
      {"exp", function<kExp>},
      {"expand", expand},
      {"feature_dropout", dropout},
      {"fft_irfft2", inverseFourier},
      {"fft_rfft2", fourier},
      {"flatten", flatten},
      {"full", full},
      {"gather", indexed},
      {"ge", comparison<kGreaterEqual>},
      {"gelu", gelu},
      {"group_norm", groupNorm},
      {"gt", comparison<kGreater>},
      {"hardsigmoid", hardSigmoid},
      {"hardswish", function<kHardSwish>},
      {"hardtanh", hardTanh},
      {"hardtanh_", hardTanh},
      {"index", indexed},
      {"index_add", indexed},
      {"index_select", indexed},
      {"instance_norm", instanceNorm},
      {"layer_norm", layerNorm},
      {"le", comparison<kLessEqual>},
      {"leaky_relu", leakyRelu},
      {"leaky_relu_", leakyRelu},
      {"lift_fresh_copy", same},
      {"linear", linear},
      {"linspace", linspace},
      {"log", function<kLog>},
      {"lt", comparison<kLess>},
      {"matmul", matmul},
      {"max_pool1d", maxPool},
      {"max_pool2d", maxPool},
      {"max_pool3d", maxPool},
      {"mean", mean},
      {"mish", function<kMish>},
      {"mm", matmul},
      {"mul", arithmetic<kMul>},
      {"mul_", arithmetic<kMul>},
      {"neg", function<kNeg>},
      {"ones", ones},
      {"ones_like", ones},
      {"pad", pad},
      {"permute", permute},
      {"pixel_shuffle", pixelShuffle},
      {"pow", power},
      {"prelu", prelu},
      {"reciprocal", function<kReciprocal>},
      {"relu", function<kRelu>},
      {"relu6", relu6},
      {"relu_", function<kRelu>},
      {"reshape", reshape},
      {"rsub", reversedSub},
      {"scaled_dot_product_attention", attention},
      {"scatter_add", indexed},
      {"select", select},
      {"selu", function<kSelu>},
      {"selu_", function<kSelu>},
      {"sigmoid", function<kSigmoid>},
      {"silu", function<kSilu>},
      {"silu_", function<kSilu>},
      {"sin", function<kSine>},
      {"slice", slice},
      {"softmax", softmax},
      {"softplus", softplus},
      {"split", split},
      {"split_with_sizes", split},
      {"sqrt", function<kSqrt>},
      {"squeeze", squeeze},
      {"sub", arithmetic<kSub>},
      {"sym_size", size},
      {"t", transpose},
      {"tanh", function<kTanh>},
      {"tanh_", function<kTanh>},
      {"to", converted},
      {"_to_copy", converted},
      {"transpose", transpose},
      {"unbind", unbind},
      {"unsqueeze", unsqueeze},
      {"upsample_bicubic2d", upsample},
      {"upsample_bilinear2d", upsample},
      {"upsample_linear1d", upsample},
      {"upsample_nearest1d", upsample},
      {"upsample_nearest2d", upsample},
      {"upsample_nearest3d", upsample},
      {"upsample_trilinear3d", upsample},
      {"view", reshape},
      {"view_as_complex", viewAsComplex},
      {"_weight_norm", weightNorm},
      {"where", where},
      {"zeros", zeros},
      {"zeros_like", zeros}};
  return table;
}

const std::map<std::string, Build, std::less<>>& pythonOperators() {
  static const std::map<std::string, Build, std::less<>> table = {
      {"_operator.add", scalar<kAdd>}, {"_operator.sub", scalar<kSub>},
      {"_operator.mul", scalar<kMul>}, {"_operator.floordiv", scalar<kFloorDiv>},
      {"_operator.mod", scalar<kMod>}, {"_operator.truediv", scalar<kDiv>}};
  return table;
}

} // namespace

ModelValues buildPt2(ModelBuilder& b, const Operands& given, bool isWritten) {
  const std::string& type = given.operation().type;
  if (const auto found = pythonOperators().find(type); found != pythonOperators().end())
    return found->second(b, given);
  constexpr std::string_view kAten = "aten.";
  if (type.starts_with(kAten)) {
    const std::string name = type.substr(kAten.size(), type.find('.', kAten.size()) - kAten.size());
    if (isWritten && name == "zeros")
      return {b.zerosToWrite(given.integers("size", {}))};
    if (const auto found = operators().find(name); found != operators().end())
      return found->second(b, given);
  }
  // Checks of shapes, which have no results.
  if (given.operation().results.empty())
    return {};
  const ModelOperation& operation = given.operation();
  Shape shape = {1};
  for (const char* name : {"self", "input"})
    if (given.has(name))
      shape = given.value(name)->shape;
  return ModelValues(operation.results.size(),
                     b.refuse(fmt::format("the operator {}", type),
                              "the operators that doc/import.md lists", shape));
}

} // namespace tenon
