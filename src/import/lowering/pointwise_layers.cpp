// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper for elementwise functions, constants, and elementwise operations of several
// inputs. Each make...() emits layers that compute a value of the canonical graph, and returns the
// node and the order of its dimensions there (mapper.hpp); refused(v) is returned if an input could
// not be imported. The layers broadcast extents of 1 themselves, so no input is copied to the full
// shape.
#include "import/lowering/mapper.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// Formats at most 8 numbers, for the report of an import.
std::string listed(const std::vector<double>& numbers) {
  constexpr std::size_t kMaxShown = 8;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(numbers.size(), kMaxShown); ++i)
    words.push_back(fmt::format("{:.6g}", numbers[i]));
  return joined(words, ",") + (numbers.size() > kMaxShown ? ",..." : "");
}

// Describes scale x + shift as (x - mean) / deviation; none if the scale is 0.
std::optional<std::string> normalisationText(const std::vector<double>& scale,
                                             const std::vector<double>& shift) {
  std::vector<double> means, deviations;
  for (std::size_t c = 0; c < std::max(scale.size(), shift.size()); ++c) {
    const double a = scale[scale.size() == 1 ? 0 : c], b = shift[shift.size() == 1 ? 0 : c];
    if (a == 0)
      return std::nullopt;
    means.push_back(b == 0 ? 0 : -b / a);
    deviations.push_back(1 / a);
  }
  return fmt::format("mean {} and deviation {}", listed(means), listed(deviations));
}

} // namespace

// A constant as a node. If training does not change it, it is a "constant" layer with a layout like
// that of the network's first input. If it is trained, it is the node of a tensor of the file, or
// is assembled from such nodes by slices and concatenation.
Mapper::OrderedNode Mapper::makeConstant(const ModelValue& v) {
  const ModelConstant& constant = v.asConstant();
  if (constant.isTrained())
    return makeRecipe(constant);
  const Order order = v.ndim() > 0 ? plainOrder(v.ndim()) : Order{kAdded};
  return {constantNode(v.ndim() > 0 ? constant : shaped(constant, {1}), /*like=*/-1), order};
}

// The function is elementwise, so the order of the input is kept.
Mapper::OrderedNode Mapper::makeUnary(const ModelValue& v) {
  static const std::set<std::string> functions = {
      "abs",      "acos",       "acosh",        "asin",      "asinh",     "atan", "atanh", "ceil",
      "celu",     "clamp",      "cosh",         "cosine",    "dropout",   "elu",  "erf",   "exp",
      "floor",    "gelu",       "gelutanh",     "hardswish", "leakyrelu", "log",  "mish",  "power",
      "relu",     "reciprocal", "round",        "selu",      "sigmoid",   "silu", "sine",  "sinh",
      "softplus", "softsign",   "stopgradient", "sqrt",      "tan",       "tanh"};
  const OrderedNode x = nodeOf(v.inputs[0]);
  if (x.isRefused())
    return refused(v);
  if (!functions.contains(v.function))
    return refuse(v, fmt::format("the function {}", v.function),
                  fmt::format("{}", fmt::join(functions, ", ")));
  NodeSettings settings;
  for (const auto& [name, value] : v.parameters)
    settings.emplace_back(name, value);
  return {emit({x.node}, v.function, std::move(settings)), x.order};
}

// Records normalisations of inputs and outputs for the report, so users do not repeat them.
void Mapper::noteNormalisation(const ModelValue& v) {
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
    if (graph_.inputs[i] == v.inputs[0])
      if (const auto text = normalisationText(v.scale, v.shift))
        network_.normalisations.push_back(
            fmt::format("input {}: normalised by {}", graph_.inputNames[i], *text));
  for (const Value output : graph_.outputs)
    if (output == &v &&
        std::find(graph_.inputs.begin(), graph_.inputs.end(), v.inputs[0]) == graph_.inputs.end())
      network_.normalisations.push_back(fmt::format(
          "output: brought back by deviation {} and mean {}", listed(v.scale), listed(v.shift)));
}

// scale x + shift with one number, or one for each index of a dimension, which becomes dimension 1.
Mapper::OrderedNode Mapper::makeAffine(const ModelValue& v) {
  const Value source = v.inputs[0];
  const OrderedNode x = v.dim >= 0 ? withChannel(source, v.dim) : nodeOf(source);
  if (x.isRefused())
    return refused(v);
  noteNormalisation(v);
  if (v.dim < 0) {
    NodeSettings settings = {{"factor", v.scale[0]}};
    if (v.shift[0] != 0)
      settings.emplace_back("shift", v.shift[0]);
    return {emit({x.node}, "scale", std::move(settings)), x.order};
  }
  const Index channels = v.shape[at(v.dim)];
  return {emit({x.node}, "channelaffine", {{"channels", channels}}, "",
               {{"scale", filled(v.scale, channels)}, {"shift", filled(v.shift, channels)}}, true),
          x.order};
}

Mapper::OrderedNode Mapper::makeJoin(const ModelValue& v, const std::string& type,
                                     NodeSettings settings) {
  JoinInputs inputs = joinInputs(v);
  if (inputs.isRefused)
    return refused(v);
  return {emit(std::move(inputs.nodes), type, std::move(settings)), inputs.order};
}

// A single slope for all channels becomes a layer of one channel: an extra dimension 1 is added.
Mapper::OrderedNode Mapper::makePRelu(const ModelValue& v) {
  const Value slope = v.inputs[1];
  OrderedNode x = withChannel(v.inputs[0], 1);
  if (x.isRefused())
    return refused(v);
  const Index slopes = elements(slope->shape);
  if (hasWeightInputs(v)) { // y = max(x, 0) - slope max(-x, 0)
    ModelValue& slopeOfChannel = extraValues_.emplace_back();
    slopeOfChannel.op = ModelOp::Reshape;
    slopeOfChannel.inputs = {slope};
    slopeOfChannel.shape = {slopes};
    const int below = emit({emit({x.node}, "scale", {{"factor", -1.0}})}, "relu");
    return {emit({emit({x.node}, "relu"), joinedTo(below, x.order, "multiply", &slopeOfChannel, 1)},
                 "subtract"),
            x.order};
  }
  if (slopes == 1 && v.shape[1] != 1) {
    Order order = x.order;
    order.insert(order.begin() + 1, kAdded);
    x = {reorderedNode(x.node, x.order, v.shape, order), order};
  }
  return {emit({x.node}, "prelu", {{"channels", slopes}}, moduleOf(slope),
               {{"weight", shaped(slope->asConstant(), {slopes})}}),
          x.order};
}

// Emits zeros with a layout like that of node `like`. Returns none if all constants of zeros
// together would be too large.
std::optional<int> Mapper::zerosNode(const Shape& shape, int like) {
  constexpr Index kMaxZeros = Index(1) << 23;
  zeros_ += elements(shape);
  if (zeros_ > kMaxZeros)
    return std::nullopt;
  return emit({like}, "constant", {{"shape", shape}, {"value", 0.0}}, /*name=*/"",
              /*parameters=*/{}, /*isFrozen=*/true);
}

Mapper::OrderedNode Mapper::makeZeros(const ModelValue& v) {
  const bool isNumber = v.ndim() == 0;
  const auto node = zerosNode(isNumber ? Shape{1} : v.shape, -1);
  return node ? OrderedNode{*node, isNumber ? Order{kAdded} : plainOrder(v.ndim())}
              : refuse(v, fmt::format("zeros of shape [{}]", fmt::join(v.shape, ",")),
                       "padding, or a product with 0");
}

// Broadcasts by adding zeros of the full shape.
Mapper::OrderedNode Mapper::makeExpand(const ModelValue& v) {
  const Value source = v.inputs[0];
  const OrderedNode x = nodeOf(source);
  if (x.isRefused())
    return refused(v);
  Shape shape(at(v.ndim() - source->ndim()), 1);
  Order order = x.order;
  for (int& o : order)
    o = o == kAdded ? kAdded : o + static_cast<int>(shape.size());
  shape.insert(shape.end(), source->shape.begin(), source->shape.end());
  const Order plain = plainOrder(v.ndim());
  const int unexpanded = reorderedNode(x.node, order, shape, plain);
  remark_ = "zeros of the enlarged shape";
  const auto zeros = zerosNode(v.shape, unexpanded);
  if (!zeros)
    return refuse(v,
                  fmt::format("an enlargement of [{}] to [{}]", fmt::join(source->shape, ","),
                              fmt::join(v.shape, ",")),
                  "broadcasting in the operator that reads it");
  return {emit({unexpanded, *zeros}, "add"), plain};
}

} // namespace tenon
