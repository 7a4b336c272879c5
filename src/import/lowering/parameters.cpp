// SPDX-License-Identifier: BSD-2-Clause
// Methods of Mapper that assign parameters to layers. A tensor of the file that training changes
// must become exactly one parameter of the network:
//   read as the weight of one layer, possibly in several calls of it    the layer owns it
//   read by two different layers, or otherwise than as a weight         a node of type "constant"
//                                                                       owns it, and others read it
// assignParameters() decides this before any node is emitted, and lists the second kind in
// sources_. A layer whose weights are inputs is emitted by the methods ...WithWeightInput() below.
// Class Mapper is in mapper.hpp.
#include "import/lowering/mapper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

bool isTrained(const ModelValue& v) {
  return v.constant && v.constant->isTrained();
}

// Whether the weight of a layer can consist of blocks of a tensor.
bool hasBlocks(const ModelValue& v) {
  return v.op == ModelOp::Spectral || v.op == ModelOp::SphericalConvolution;
}

} // namespace

// Inputs that a layer can own as parameters; the statistics of a batch norm are not trained.
bool Mapper::isWeightOf(const ModelValue& v, std::size_t input) {
  switch (v.op) {
  case ModelOp::Linear:
  case ModelOp::Convolution:
  case ModelOp::PRelu:
  case ModelOp::InstanceNorm:
  case ModelOp::GroupNorm:
  case ModelOp::LayerNorm:
  case ModelOp::Spectral:
  case ModelOp::SphericalConvolution:
  case ModelOp::Filter:
    return input >= 1;
  case ModelOp::BatchNorm:
    return input == 1 || input == 2;
  default:
    return false;
  }
}

// Two values with equal keys have the same operator, settings and weights; "" if a weight is
// computed.
std::string Mapper::layerOf(const ModelValue& v) {
  std::string text =
      fmt::format("{} [{}] [{}] [{}] [{}] [{}] [{}] {} {} [{}] {} {} {} {}", static_cast<int>(v.op),
                  fmt::join(v.kernel, ","), fmt::join(v.stride, ","), fmt::join(v.dilation, ","),
                  fmt::join(v.low, ","), fmt::join(v.high, ","), fmt::join(v.modes, ","),
                  v.padValue.value_or(0), v.groups, fmt::join(v.outputPadding, ","), v.isTransposed,
                  v.epsilon, v.count, v.momentum.value_or(0));
  if (const auto& s = v.sphere)
    text +=
        fmt::format(" {} {} {} {} {} {} {} [{}] {}", s->degrees, s->orders, s->grid, s->outputGrid,
                    s->isSchmidt, s->hasSign, s->southFirst, fmt::join(s->size, ","), s->weights);
  if (const auto& f = v.filter)
    text += fmt::format(" {} [{}] [{}] {} {} {} {} {}", f->isTransposed, fmt::join(f->kernel, ","),
                        fmt::join(f->size, ","), f->basis, f->normalisation, f->grid, f->outputGrid,
                        f->cutoff);
  for (std::size_t i = 1; i < v.inputs.size(); ++i) {
    if (!v.inputs[i]->isConstant())
      return "";
    const ModelConstant& constant = v.inputs[i]->asConstant();
    text += fmt::format(" {} {}", constant.identity(), constant.dim());
    for (const ModelConstant::Piece& piece : constant.pieces())
      text += " " + piece.text();
  }
  return text;
}

bool Mapper::isWhole(const ModelConstant& constant) const {
  if (constant.isNumbers() || constant.pieces().size() != 1)
    return false;
  Order order = orderAsStored(constant);
  std::erase(order, kAdded);
  return std::is_sorted(order.begin(), order.end()) &&
         constant.elements() ==
             elements(weights_.program().tensors[constant.pieces().front().tensor].stored.shape);
}

bool Mapper::addSources(const ModelConstant& constant) {
  bool isNew = false;
  for (const ModelConstant::Piece& piece : constant.pieces())
    isNew |= sources_.insert(piece.tensor).second;
  return isNew;
}

// A layer trains all of its parameters or none, so a mix of trained and fixed weights must be
// inputs.
bool Mapper::hasWeightInputs(const ModelValue& v) const {
  bool isTrained = false, isFixed = false;
  for (std::size_t i = 1; i < v.inputs.size(); ++i) {
    if (!isWeightOf(v, i))
      continue;
    if (!v.inputs[i]->isConstant())
      return true;
    const ModelConstant& constant = v.inputs[i]->asConstant();
    for (const ModelConstant::Piece& piece : constant.pieces())
      if (constant.isTrained() && sources_.contains(piece.tensor))
        return true;
    isTrained |= constant.isTrained();
    isFixed |= constant.isFixed();
  }
  return isTrained && isFixed;
}

void Mapper::assignParameters(const std::set<Value>& needed) {
  std::map<Tensor, std::string> layers; // layer and position of a tensor that is read as a weight
  std::map<std::string, std::vector<Value>> shared; // values by the layer that computes them
  // A complex weight can consist of blocks of one tensor, at several positions.
  const auto place = [](const ModelValue& v, std::size_t i) {
    return layerOf(v) + (hasBlocks(v) ? "" : fmt::format(" at {}", i));
  };
  const auto noteReading = [&](const ModelValue& v, std::size_t i, const ModelConstant& constant) {
    if (!isWeightOf(v, i) || (!hasBlocks(v) && !isWhole(constant)))
      addSources(constant);
    for (const ModelConstant::Piece& piece : constant.pieces())
      if (const auto [weightOf, isNew] = layers.emplace(piece.tensor, place(v, i));
          !isNew && weightOf->second != place(v, i))
        addSources(constant);
  };
  for (const ModelValue& v : graph_.values) {
    if (!needed.contains(&v) || v.isConstant())
      continue;
    for (std::size_t i = 0; i < v.inputs.size(); ++i)
      if (isTrained(*v.inputs[i]))
        noteReading(v, i, v.inputs[i]->asConstant());
    if (v.op == ModelOp::Linear || v.op == ModelOp::LayerNorm)
      shared[layerOf(v)].push_back(&v);
  }
  for (const Value output : graph_.outputs)
    if (isTrained(*output))
      addSources(output->asConstant());
  // A layer that has one weight as an input has all of them as inputs; repeat until nothing
  // changes.
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const ModelValue& v : graph_.values)
      if (needed.contains(&v) && hasWeightInputs(v))
        for (std::size_t i = 1; i < v.inputs.size(); ++i)
          if (isWeightOf(v, i) && isTrained(*v.inputs[i]))
            isNew |= addSources(v.inputs[i]->asConstant());
  }
  // Layers that several values share must be the same kind of layer for all: use the largest rank.
  for (const auto& [layer, values] : shared)
    if (!layer.empty() && values.size() > 1) {
      int rank = 2;
      for (const Value v : values)
        rank = std::max(rank, v->ndim());
      for (const Value v : values)
        formRanks_[v] = rank;
    }
}

// Unnamed numbers were computed or added by the builder, so they are not in the file.
bool Mapper::isFilledWith(const ModelValue& v, double number) {
  return v.constant && v.constant->isNumbers() && v.constant->name().empty() &&
         std::ranges::all_of(v.constant->numbers(), [&](double n) { return n == number; });
}

int Mapper::sourceNode(Tensor tensor) {
  if (const auto existing = tensorNodes_.find(tensor); existing != tensorNodes_.end())
    return existing->second;
  const ModelConstant constant = ModelConstant::ofTensor(weights_.program(), tensor);
  const Shape shape = constant.ndim() > 0 ? constant.shape() : Shape{1};
  const int node = emit({/*input 0=*/-1}, "constant", {{"shape", shape}},
                        layerName(constant.name()), {{"value", shaped(constant, shape)}});
  tensorNodes_[tensor] = node;
  return node;
}

// Emits the slices and the concatenation of a recipe: blocks of tensors of the file.
Mapper::OrderedNode Mapper::makeRecipe(const ModelConstant& constant) {
  const auto along = static_cast<std::size_t>(constant.dim());
  const Order plain = plainOrder(constant.ndim());
  std::vector<int> nodes;
  for (const ModelConstant::Piece& piece : constant.pieces()) {
    const ModelTensor& tensor = weights_.program().tensors[piece.tensor];
    Shape extents = constant.shape();
    if (constant.pieces().size() > 1)
      extents[along] = piece.extent;
    int node = sourceNode(piece.tensor);
    Order order(std::max<std::size_t>(tensor.axes.size(), 1), kAdded);
    for (std::size_t t = 0; t < tensor.axes.size(); ++t) {
      Interval part = {0, 1}; // a stored dimension that the constant does not have, at index 0
      for (const auto& [axis, i] : piece.at)
        if (axis == tensor.axes[t])
          part = {i, i + 1};
      for (std::size_t d = 0; d < piece.axes.size(); ++d)
        if (piece.axes[d] == tensor.axes[t]) {
          order[t] = static_cast<int>(d);
          part = {piece.begin[d], piece.begin[d] + extents[d]};
        }
      if (part.size() != tensor.shape()[t])
        node = emit({node}, "slice",
                    {{"dim", static_cast<Index>(t)}, {"begin", part.begin}, {"end", part.end}});
    }
    if (constant.pieces().size() == 1)
      return {node, order};
    nodes.push_back(reorderedNode(node, order, extents, plain));
  }
  return {emit(nodes, "concatenate", {{"dim", static_cast<Index>(along)}}), plain};
}

// Returns "parameter=name" for each parameter whose tensor in the file has another name than
// "layer.parameter" or another shape.
std::string Mapper::namesInFile(const std::string& layer, const NodeParameters& parameters) {
  std::vector<std::string> names;
  for (const auto& [parameter, constant] : parameters) {
    if (constant.isNumbers() || !isWhole(constant))
      continue;
    const ModelTensor& tensor = weights_.program().tensors[constant.pieces().front().tensor];
    const bool isSame = !layer.empty() && tensor.name == fmt::format("{}.{}", layer, parameter);
    const std::string shape = fmt::format("[{}]", fmt::join(tensor.shape(), ","));
    const bool hasShape = tensor.shape() == constant.shape();
    // Names with these characters would not survive the syntax of the setting.
    if (tensor.name.empty() || tensor.name.find_first_of(";=[") != std::string::npos ||
        !fileNames_.insert(tensor.name).second || (isSame && hasShape))
      continue;
    names.push_back(fmt::format("{}={}{}", parameter, tensor.name, hasShape ? "" : shape));
  }
  return fmt::format("{}", fmt::join(names, ";"));
}

int Mapper::joinedTo(int node, const Order& order, const std::string& type, Value with, int first) {
  Order valueOrder;
  for (const int o : order)
    valueOrder.push_back(o >= first && o < first + with->ndim() ? o - first : kAdded);
  return emit({node, nodeInOrder(with, valueOrder)}, type);
}

Mapper::OrderedNode Mapper::makeLinearWithWeightInput(const ModelValue& v, const OrderedNode& x) {
  const Value weight = v.inputs[1];
  Order order(x.order.size(), kAdded);
  order[0] = 0;
  order[1] = 1;
  int node = kNoNode;
  if (x.order.size() == 2)
    node = emit({x.node, nodeInOrder(weight, {1, 0})}, "matmul");
  else
    node = emit({x.node, nodeInOrder(weight, order)}, "conv",
                {{"in_channels", weight->shape[1]},
                 {"out_channels", weight->shape[0]},
                 {"kernel", Shape(x.order.size() - 2, 1)},
                 {"bias", false},
                 {"weight_input", true}});
  if (v.inputs.size() > 2)
    node = joinedTo(node, x.order, "add", v.inputs[2], v.ndim() - 1);
  return {node, x.order};
}

Mapper::OrderedNode Mapper::makeConvolutionWithWeightInput(const ModelValue& v, int x,
                                                           NodeSettings settings) {
  if (v.isTransposed)
    return refuse(v, "a transposed convolution whose weight is computed, or read elsewhere too",
                  "a parameter that this convolution alone reads");
  if (v.inputs.size() > 2)
    settings.emplace_back("bias", false);
  settings.emplace_back("weight_input", true);
  const Order order = plainOrder(v.ndim());
  int node = emit({x, nodeInOrder(v.inputs[1])}, "conv", std::move(settings));
  if (v.inputs.size() > 2)
    node = joinedTo(node, order, "add", v.inputs[2], 1);
  return {node, order};
}

Mapper::OrderedNode Mapper::withWeightInputs(const ModelValue& v, const OrderedNode& normed) {
  if (!hasWeightInputs(v) || normed.isRefused())
    return normed;
  const int first = v.op == ModelOp::LayerNorm ? v.ndim() - v.count : 1;
  int node = normed.node;
  if (!isFilledWith(*v.inputs[1], 1))
    node = joinedTo(node, normed.order, "multiply", v.inputs[1], first);
  if (!isFilledWith(*v.inputs[2], 0))
    node = joinedTo(node, normed.order, "add", v.inputs[2], first);
  return {node, normed.order};
}

} // namespace tenon
