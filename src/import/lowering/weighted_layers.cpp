// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper for operators with weights, sliding windows, norms and reductions. Each
// make...() emits layers that compute a value v of the canonical graph, and returns the node and
// the order of its dimensions there (mapper.hpp); refused(v) is returned if an input could not be
// imported. Convolutions and other layers on fields need their input in the order [batch, channels,
// space...]; a transpose is emitted if the node has another one. Other layers accept the order of
// the input's node.
//
// Settings of a layer are listed only where they differ from its defaults. If the weights of a
// layer are values of other nodes (hasWeightInputs()), they are read as inputs instead of being
// parameters.
#include "import/lowering/mapper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

void Mapper::addReach(NodeSettings& settings, const ModelValue& v) {
  if (!isAll(v.dilation, 1))
    settings.emplace_back("dilation", v.dilation);
  if (!isAll(v.low, 0) || !isAll(v.high, 0))
    settings.emplace_back("padding", v.low);
  if (v.low != v.high)
    settings.emplace_back("padding_high", v.high);
}

// Emits a layer without parameters on its input in the value's own order.
Mapper::OrderedNode Mapper::emitInPlainOrder(const ModelValue& v, const std::string& type,
                                             NodeSettings settings) {
  const int x = nodeInOrder(v.inputs[0]);
  return {x == kNoNode ? x : emit({x}, type, std::move(settings)), plainOrder(v.ndim())};
}

Mapper::OrderedNode Mapper::makeConvolution(const ModelValue& v) {
  const int x = nodeInOrder(v.inputs[0]);
  if (x == kNoNode)
    return refused(v);
  NodeSettings settings = {
      {"in_channels", v.inputs[0]->shape[1]}, {"out_channels", v.shape[1]}, {"kernel", v.kernel}};
  if (!isAll(v.stride, 1))
    settings.emplace_back("stride", v.stride);
  addReach(settings, v);
  if (v.groups != 1)
    settings.emplace_back("groups", v.groups);
  const bool hasBias = v.inputs.size() > 2;
  if (!hasBias)
    settings.emplace_back("bias", false);
  // A transposed convolution has no boundary modes.
  if (v.isTransposed) {
    if (!v.outputPadding.empty() && !isAll(v.outputPadding, 0))
      settings.emplace_back("output_padding", v.outputPadding);
  } else if (std::any_of(v.modes.begin(), v.modes.end(),
                         [](const auto& m) { return m != "none"; })) {
    const bool areSame = std::equal(v.modes.begin() + 1, v.modes.end(), v.modes.begin());
    settings.emplace_back("boundary",
                          areSame ? v.modes[0] : fmt::format("{}", fmt::join(v.modes, ",")));
    if (v.padValue)
      settings.emplace_back("boundary_constant", *v.padValue);
  }
  if (hasWeightInputs(v))
    return makeConvolutionWithWeightInput(v, x, std::move(settings));
  NodeParameters parameters = {{"weight", v.inputs[1]->asConstant()}};
  if (hasBias)
    parameters.emplace_back("bias", v.inputs[2]->asConstant());
  return {emit({x}, v.isTransposed ? "transposedconv" : "conv", std::move(settings),
               moduleOf(v.inputs[1]), std::move(parameters)),
          plainOrder(v.ndim())};
}

Mapper::OrderedNode Mapper::makeLinear(const ModelValue& v) {
  const auto shared = formRanks_.find(&v);
  OrderedNode x = shared == formRanks_.end()
                      ? withChannel(v.inputs[0], v.ndim() - 1)
                      : withChannel(v.inputs[0], v.ndim() - 1, at(shared->second));
  if (x.isRefused())
    return refused(v);
  if (x.order.size() > kMaxWindowed) // without the dimensions of extent 1 that were added
    x = withChannel(v.inputs[0], v.ndim() - 1, /*rank=*/2);
  if (x.order.size() > kMaxWindowed)
    return refuse(v, fmt::format("a linear layer of a tensor with {} dimensions", x.order.size()),
                  "at most 5 dimensions");
  if (hasWeightInputs(v))
    return makeLinearWithWeightInput(v, x);
  // On [batch, features] the layer is affine; on a field it is a convolution with a kernel of
  // extent 1.
  const bool hasBias = v.inputs.size() > 2, isAffine = x.order.size() == 2;
  const ModelConstant& weight = v.inputs[1]->asConstant();
  NodeSettings settings;
  if (isAffine)
    settings = {{"inputs", weight.shape()[1]}, {"outputs", weight.shape()[0]}};
  else
    settings = {{"in_channels", weight.shape()[1]},
                {"out_channels", weight.shape()[0]},
                {"kernel", Shape(x.order.size() - 2, 1)}};
  if (!hasBias)
    settings.emplace_back("bias", false);
  Shape shape = weight.shape();
  shape.resize(isAffine ? 2 : x.order.size(), 1);
  NodeParameters parameters = {{"weight", shaped(weight, shape)}};
  if (hasBias)
    parameters.emplace_back("bias", v.inputs[2]->asConstant());
  return {emit({x.node}, isAffine ? "affine" : "conv", std::move(settings), moduleOf(v.inputs[1]),
               std::move(parameters)),
          x.order};
}

// The builder has broadcast leading dimensions.
Mapper::OrderedNode Mapper::makeMatmul(const ModelValue& v) {
  const int a = nodeInOrder(v.inputs[0]), b = nodeInOrder(v.inputs[1]);
  return {a == kNoNode || b == kNoNode ? kNoNode : emit({a, b}, "matmul"), plainOrder(v.ndim())};
}

// Leading dimensions keep the order that the queries have.
Mapper::OrderedNode Mapper::makeAttention(const ModelValue& v) {
  Order order = nodeOf(v.inputs[0]).order;
  std::erase_if(order, [&](int o) { return o >= v.ndim() - 2; });
  order.insert(order.end(), {v.ndim() - 2, v.ndim() - 1});
  std::vector<int> reads;
  for (const Value x : v.inputs)
    reads.push_back(x->isKnown() && !reads.empty() ? constantIn(x, v.ndim(), order, reads.front())
                                                   : nodeInOrder(x, order));
  if (std::find(reads.begin(), reads.end(), kNoNode) != reads.end())
    return refused(v);
  NodeSettings settings = {{"scale", v.scale[0]}};
  if (v.isCausal)
    settings.emplace_back("causal", true);
  if (v.inputs.size() > 3)
    settings.emplace_back("mask", true);
  return {emit(std::move(reads), "attention", std::move(settings)), order};
}

Mapper::OrderedNode Mapper::makePooling(const ModelValue& v) {
  NodeSettings settings = {{"kernel", v.kernel}};
  if (v.stride != v.kernel)
    settings.emplace_back("stride", v.stride);
  addReach(settings, v);
  if (v.ceil)
    settings.emplace_back("ceil", true);
  if (!v.isMaximum)
    settings.emplace_back("include_padding", v.includesPadding);
  return emitInPlainOrder(v, v.isMaximum ? "maxpooling" : "averagepooling", std::move(settings));
}

Mapper::OrderedNode Mapper::makeAdaptivePooling(const ModelValue& v) {
  return emitInPlainOrder(v, "adaptiveaveragepooling",
                          {{"size", Shape(v.shape.begin() + 2, v.shape.end())}});
}

// A mean over all of space is a separate layer.
Mapper::OrderedNode Mapper::makeReduce(const ModelValue& v) {
  const OrderedNode x = nodeOf(v.inputs[0]);
  if (x.isRefused())
    return refused(v);
  std::vector<int> space(x.order.begin() + std::min<std::ptrdiff_t>(2, std::ssize(x.order)),
                         x.order.end());
  std::erase(space, kAdded);
  std::sort(space.begin(), space.end());
  if (v.function == "mean" && space == v.dims && !space.empty())
    return {emit({x.node}, "globalaveragepooling"), x.order};
  std::vector<Index> dims;
  for (std::size_t position = 0; position < x.order.size(); ++position)
    if (std::find(v.dims.begin(), v.dims.end(), x.order[position]) != v.dims.end()) {
      dims.push_back(static_cast<Index>(position));
      if (v.inputs[0]->shape[at(x.order[position])] == 0)
        return refuse(v, fmt::format("the {} of nothing", v.function), "at least one element");
    }
  if (v.function == "max of first")
    return maximaOfFirst(v, x);
  return {emit({x.node}, "reduce",
               {{"method", v.function}, {"dims", std::move(dims)}, {"keep_dims", true}}),
          x.order};
}

// One dimension after the other, the last of the model's first: so the first of equal elements is
// that of the model's order in any layout, and the layer only has to count the elements of one.
Mapper::OrderedNode Mapper::maximaOfFirst(const ModelValue& v, OrderedNode x) {
  std::vector<int> dims = v.dims;
  std::sort(dims.rbegin(), dims.rend());
  for (const int d : dims)
    if (const int position = positionOf(x, d); position >= 0)
      x.node = emit({x.node}, "reduce",
                    {{"method", std::string("max")},
                     {"dims", std::vector<Index>{position}},
                     {"keep_dims", true},
                     {"ties", std::string("first")}});
  return x;
}

Mapper::OrderedNode Mapper::makeResize(const ModelValue& v) {
  const Shape from(v.inputs[0]->shape.begin() + 2, v.inputs[0]->shape.end()),
      to(v.shape.begin() + 2, v.shape.end());
  // If the size is an integral multiple, set the factors: the setting is valid for any extents.
  Shape factors;
  bool areFactors = true;
  for (std::size_t s = 0; s < from.size(); ++s) {
    areFactors = areFactors && from[s] > 0 && to[s] > 0 && to[s] % from[s] == 0;
    factors.push_back(from[s] > 0 ? to[s] / from[s] : 0);
  }
  NodeSettings settings;
  if (areFactors)
    settings.emplace_back("scale_factor", factors);
  else
    settings.emplace_back("size", to);
  settings.emplace_back("method", std::string(v.isLinear ? "linear" : "nearest"));
  if (v.alignsCorners)
    settings.emplace_back("align_corners", true);
  return emitInPlainOrder(v, "resample", std::move(settings));
}

// Statistics are numbers of the file, which change in training if there is a momentum.
Mapper::OrderedNode Mapper::makeBatchNorm(const ModelValue& v) {
  const OrderedNode x = withChannel(v.inputs[0], 1);
  if (x.isRefused())
    return refused(v);
  const bool hasWeights =
      !hasWeightInputs(v) && (!isFilledWith(*v.inputs[1], 1) || !isFilledWith(*v.inputs[2], 0));
  NodeParameters parameters;
  if (hasWeights)
    parameters = weightsOf(v);
  parameters.emplace_back("running_mean", v.inputs[3]->asConstant());
  parameters.emplace_back("running_var", v.inputs[4]->asConstant());
  NodeSettings settings = {
      {"channels", v.shape[1]}, {"epsilon", v.epsilon}, {"affine", hasWeights}};
  if (v.momentum)
    settings.emplace_back("momentum", *v.momentum);
  else
    settings.emplace_back("statistics", std::string("running"));
  return withWeightInputs(v, {emit({x.node}, "batchnorm", std::move(settings),
                                   moduleOf(v.inputs[3], "running_mean"), std::move(parameters)),
                              x.order});
}

Mapper::OrderedNode Mapper::makeChannelNorm(const ModelValue& v) {
  const int x = nodeInOrder(v.inputs[0]);
  if (x == kNoNode)
    return refused(v);
  const bool hasWeights = v.inputs.size() > 1 && !hasWeightInputs(v),
             isGroup = v.op == ModelOp::GroupNorm;
  NodeSettings settings = {
      {"channels", v.shape[1]}, {"epsilon", v.epsilon}, {"affine", hasWeights}};
  if (isGroup)
    settings.emplace_back("groups", v.groups);
  const std::string module = hasWeights ? moduleOf(v.inputs[1]) : "";
  return withWeightInputs(
      v, {emit({x}, isGroup ? "groupnorm" : "instancenorm", std::move(settings), module,
               hasWeights ? weightsOf(v) : NodeParameters(),
               hasWeights && module.empty() && v.inputs[1]->asConstant().isNumbers()),
          plainOrder(v.ndim())});
}

// Weight and bias of a norm; none if the norm has no weights.
Mapper::NodeParameters Mapper::weightsOf(const ModelValue& v) {
  if (v.inputs.size() < 3)
    return {};
  return {{"weight", v.inputs[1]->asConstant()}, {"bias", v.inputs[2]->asConstant()}};
}

// Normalises the last dimensions, or those dimensions elsewhere if they are adjacent and in order.
Mapper::OrderedNode Mapper::makeLayerNorm(const ModelValue& v) {
  OrderedNode x = nodeOf(v.inputs[0]);
  const int first = positionOf(x, v.ndim() - v.count);
  bool areAdjacent = first >= 0 && !formRanks_.contains(&v);
  for (int i = 0; areAdjacent && i < v.count; ++i)
    areAdjacent =
        at(first + i) < x.order.size() && x.order[at(first + i)] == v.ndim() - v.count + i;
  if (!areAdjacent)
    x = {nodeInOrder(v.inputs[0]), plainOrder(v.ndim())};
  if (x.isRefused())
    return refused(v);
  const bool hasWeights = v.inputs.size() > 1 && !hasWeightInputs(v);
  NodeSettings settings = {{"shape", Shape(v.shape.end() - v.count, v.shape.end())}};
  if (areAdjacent && at(first + v.count) != x.order.size())
    settings.emplace_back("dim", static_cast<Index>(first));
  settings.emplace_back("epsilon", v.epsilon);
  settings.emplace_back("affine", hasWeights);
  return withWeightInputs(
      v, {emit({x.node}, "layernorm", std::move(settings), hasWeights ? moduleOf(v.inputs[1]) : "",
               hasWeights ? weightsOf(v) : NodeParameters()),
          x.order});
}

// A layer norm of one dimension at any position.
Mapper::OrderedNode Mapper::makeDimensionNorm(const ModelValue& v) {
  const OrderedNode x = nodeOf(v.inputs[0]);
  if (x.isRefused())
    return refused(v);
  const int dim = positionOf(x, v.dim);
  if (dim < 0)
    return refuse(v, "a norm of a dimension of extent 1", "the number 0");
  return {emit({x.node}, "layernorm",
               {{"shape", Shape{v.shape[at(v.dim)]}},
                {"dim", static_cast<Index>(dim)},
                {"epsilon", v.epsilon},
                {"affine", false}}),
          x.order};
}

// The layer works along any dimension, so the order of the input is kept.
Mapper::OrderedNode Mapper::makeSoftmax(const ModelValue& v) {
  const OrderedNode x = nodeOf(v.inputs[0]);
  const int dim = positionOf(x, v.dim);
  if (x.isRefused())
    return refused(v);
  if (dim < 0)
    return refuse(v, "a softmax over a dimension of extent 1", "the number 1");
  return {emit({x.node}, "softmax", {{"dim", Index(dim)}}), x.order};
}

Mapper::OrderedNode Mapper::makeSpectral(const ModelValue& v) {
  const int x = nodeInOrder(v.inputs[0]);
  if (x == kNoNode)
    return refused(v);
  if (hasWeightInputs(v))
    return refuse(v, "a spectral convolution whose weights are computed, or read elsewhere too",
                  "parameters that this convolution alone reads");
  // The model has one weight per combination of signs of the modes. The layer has a single one:
  // concatenate those of positive and negative modes in each dimension but the last.
  std::vector<ModelConstant> parts;
  // If the parts cannot be concatenated as blocks of the file, their numbers are read and folded.
  bool isFolded = v.inputs.size() > 3;
  for (std::size_t i = 1; i < v.inputs.size(); ++i)
    isFolded = isFolded || (v.inputs.size() > 2 && v.inputs[i]->asConstant().pieces().size() != 1);
  for (std::size_t i = 1; i < v.inputs.size(); ++i)
    parts.push_back(isFolded ? weights_.folded(v.inputs[i]->asConstant())
                             : v.inputs[i]->asConstant());
  for (std::size_t i = 1; isFolded && i < v.inputs.size(); ++i)
    network_.folded.insert(network_.folded.end(), v.inputs[i]->parametersRead.begin(),
                           v.inputs[i]->parametersRead.end());
  for (int dim = 2; parts.size() > 1; ++dim) {
    std::vector<ModelConstant> joined;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      if (const auto pair = ModelConstant::concatenated({parts[i], parts[i + 1]}, dim))
        joined.push_back(*pair);
    parts = std::move(joined);
  }
  if (parts.empty())
    return refuse(v, "a spectral convolution with computed weights", "weights that are parameters");
  // A parameter that combines several tensors has the name of none of them in the file.
  const std::string first = v.inputs[1]->asConstant().name(),
                    module =
                        moduleOf(v.inputs[1],
                                 isWhole(parts[0]) ? "weight" : first.substr(first.rfind('.') + 1));
  return {emit({x}, "spectralconv",
               {{"in_channels", v.inputs[0]->shape[1]},
                {"out_channels", v.shape[1]},
                {"modes", v.modeCount}},
               module, {{"weight", parts[0]}}),
          plainOrder(v.ndim())};
}

// The builder has combined transforms that belong to spectral convolutions; any other one arrives
// here.
Mapper::OrderedNode Mapper::makeFourierPart(const ModelValue& v) {
  return refuse(v, "complex numbers as a result, or as the argument of this operator",
                "real and imaginary parts (view_as_real)");
}

} // namespace tenon
