// SPDX-License-Identifier: BSD-2-Clause
// Class Mapper: the table of canonical operators with the method that maps each, the steps of
// run(), and the emission of nodes. Values of the graph are mapped in the order of the graph, so
// recursion is shallow, and only values that an output depends on are mapped. In lists of what a
// node reads, n >= 0 is the result of node n, and -1 - i is input i of the network. mapper.hpp
// explains orders: a node may have the dimensions of a value in another order.
//
// emit() returns an existing node instead of a new one in two cases. An equal layer without
// parameters on the same inputs is the same node. A layer with the same weights as an earlier one
// is a call of the same layer: the new node refers to it by `sameAs`.
#include "import/lowering/model_layers.hpp"

#include "import/lowering/mapper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tenon {

const std::vector<Mapper::Row>& Mapper::operators() {
  static const std::vector<Row> rows = {
      {ModelOp::Constant, &Mapper::makeConstant},
      {ModelOp::Zeros, &Mapper::makeZeros},
      {ModelOp::Unary, &Mapper::makeUnary},
      {ModelOp::Affine, &Mapper::makeAffine},
      {ModelOp::Add, &Mapper::makeAdd},
      {ModelOp::Subtract, &Mapper::makeSubtract},
      {ModelOp::Multiply, &Mapper::makeMultiply},
      {ModelOp::Divide, &Mapper::makeDivide},
      {ModelOp::Compare, &Mapper::makeCompare},
      {ModelOp::Where, &Mapper::makeWhere},
      {ModelOp::PRelu, &Mapper::makePRelu},
      {ModelOp::Expand, &Mapper::makeExpand},
      {ModelOp::Transpose, &Mapper::makeTranspose},
      {ModelOp::Reshape, &Mapper::makeReshape},
      {ModelOp::Slice, &Mapper::makeSlice},
      {ModelOp::Pad, &Mapper::makePad},
      {ModelOp::Concatenate, &Mapper::makeConcatenate},
      {ModelOp::PixelShuffle, &Mapper::makePixelShuffle},
      {ModelOp::Convolution, &Mapper::makeConvolution},
      {ModelOp::Linear, &Mapper::makeLinear},
      {ModelOp::Matmul, &Mapper::makeMatmul},
      {ModelOp::Attention, &Mapper::makeAttention},
      {ModelOp::Pooling, &Mapper::makePooling},
      {ModelOp::AdaptivePooling, &Mapper::makeAdaptivePooling},
      {ModelOp::Reduce, &Mapper::makeReduce},
      {ModelOp::Resize, &Mapper::makeResize},
      {ModelOp::BatchNorm, &Mapper::makeBatchNorm},
      {ModelOp::InstanceNorm, &Mapper::makeChannelNorm},
      {ModelOp::GroupNorm, &Mapper::makeChannelNorm},
      {ModelOp::LayerNorm, &Mapper::makeLayerNorm},
      {ModelOp::DimensionNorm, &Mapper::makeDimensionNorm},
      {ModelOp::Softmax, &Mapper::makeSoftmax},
      {ModelOp::Spectral, &Mapper::makeSpectral},
      {ModelOp::Fourier, &Mapper::makeFourierPart},
      {ModelOp::Complex, &Mapper::makeFourierPart},
      {ModelOp::Modes, &Mapper::makeFourierPart},
      {ModelOp::Contraction, &Mapper::makeFourierPart},
      {ModelOp::HarmonicTransform, &Mapper::makeHarmonics},
      {ModelOp::InverseHarmonicTransform, &Mapper::makeHarmonics},
      {ModelOp::SphericalConvolution, &Mapper::makeSphericalConvolution},
      {ModelOp::Filter, &Mapper::makeFilter}};
  return rows;
}

Mapper::Mapper(ModelGraph& graph, const ModelWeights& weights) : graph_(graph), weights_(weights) {
  network_.graph.type = "graph";
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    valueNodes_[graph.inputs[i]] = {-1 - static_cast<int>(i), plainOrder(graph.inputs[i]->ndim())};
}

ImportedNetwork Mapper::run() {
  const std::set<Value> needed = neededValues(graph_);
  assignParameters(needed);
  for (const ModelValue& value : graph_.values)
    // Most constants are weights, which have no node.
    if (needed.contains(&value) && !value.isConstant())
      nodeOf(&value);
  std::vector<int> outputs;
  for (const Value value : graph_.outputs) {
    current_ = value;
    // A single number is a tensor [1].
    outputs.push_back(
        nodeInOrder(value, value->ndim() > 0 ? plainOrder(value->ndim()) : Order{kAdded}));
  }
  if (graph_.refusals.empty())
    dropUnreadNodes(outputs);
  checkInputsRead();
  checkRefusals(graph_, weights_.file().name(), weights_.program().operations.size());
  nameOutputs(outputs);
  nameNodes();
  if (graph_.inputs.size() > 1)
    network_.graph.settings.emplace_back("input_count", static_cast<Index>(graph_.inputs.size()));
  return std::move(network_);
}

// Removes nodes that nothing reads: reorders that were merged into later ones.
void Mapper::dropUnreadNodes(std::vector<int>& outputs) {
  auto& nodes = network_.graph.nodes;
  std::vector<int> number(nodes.size(), kNoNode); // new number of each node
  // Marks a node that is read: the loop below runs backwards, since nodes read earlier ones.
  const auto need = [&](int node) {
    if (node >= 0)
      number[at(node)] = 0;
  };
  std::for_each(outputs.begin(), outputs.end(), need);
  for (std::size_t n = nodes.size(); n-- > 0;)
    if (number[n] != kNoNode) {
      std::for_each(nodes[n].reads.begin(), nodes[n].reads.end(), need);
      need(nodes[n].sameAs);
    }
  int next = 0;
  for (int& n : number)
    n = n == kNoNode ? kNoNode : next++;
  const auto renumber = [&](int& node) {
    if (node >= 0)
      node = number[at(node)];
  };
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::for_each(nodes[n].reads.begin(), nodes[n].reads.end(), renumber);
    renumber(nodes[n].sameAs);
    if (number[n] != kNoNode && at(number[n]) != n)
      nodes[at(number[n])] = std::move(nodes[n]);
  }
  nodes.erase(nodes.begin() + next, nodes.end());
  std::for_each(outputs.begin(), outputs.end(), renumber);
  const auto isLeftOut = [](const auto& entry) { return entry.node == kNoNode; };
  for (auto& row : network_.rows)
    renumber(row.node);
  std::erase_if(network_.rows, isLeftOut);
  for (auto& parameter : network_.parameters)
    renumber(parameter.node);
  std::erase_if(network_.parameters, isLeftOut);
  nodesByKey_.clear(); // its node numbers are no longer valid
}

// Layers without a module name are named by their type and node number.
void Mapper::nameNodes() {
  auto& nodes = network_.graph.nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    LayerDescription& layer = nodes[n].layer;
    if (nodes[n].sameAs >= 0 || !layer.name.empty())
      continue;
    layer.name = fmt::format("{}{}", layer.frozen ? "constant" : layer.type, n);
    while (!names_.insert(layer.name).second)
      layer.name += "_";
  }
}

// A single output is that of the last node; several outputs have names and node numbers.
void Mapper::nameOutputs(const std::vector<int>& nodes) {
  if (nodes.size() == 1) {
    // A network that returns its input needs one layer.
    if (nodes[0] < 0 || nodes[0] != static_cast<int>(network_.graph.nodes.size()) - 1)
      emit({nodes[0]}, "identity");
    return;
  }
  std::string text;
  std::set<std::string> usedNames;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    current_ = graph_.outputs[i];
    std::string name = graph_.outputNames[i];
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ',' || c == '='; }, '_');
    while (name.empty() || !usedNames.insert(name).second)
      name += "_";
    const int node = nodes[i] >= 0 ? nodes[i] : emit({nodes[i]}, "identity");
    network_.outputs.push_back({name, node});
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, node);
  }
  network_.graph.settings.emplace_back("output_names", text);
}

void Mapper::checkInputsRead() {
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    const int number = -1 - static_cast<int>(i); // of input i in `reads`
    bool isRead = std::find(graph_.outputs.begin(), graph_.outputs.end(), graph_.inputs[i]) !=
                  graph_.outputs.end();
    for (const auto& node : network_.graph.nodes)
      isRead =
          isRead || std::find(node.reads.begin(), node.reads.end(), number) != node.reads.end();
    if (!isRead && graph_.refusals.empty())
      graph_.refusals.push_back({graph_.inputNames[i], "", "an input that no output depends on",
                                 "the model without this input"});
  }
}

// -- nodes

Mapper::OrderedNode Mapper::refuse(const ModelValue& v, const std::string& what,
                                   const std::string& advice) {
  std::vector<Shape> inputs;
  for (const Value input : v.inputs)
    inputs.push_back(input->shape);
  graph_.refusals.push_back({v.label, v.where, what, advice, std::move(inputs)});
  return refused(v);
}

Mapper::OrderedNode Mapper::refused(const ModelValue& v) const {
  return {kNoNode, plainOrder(v.ndim())};
}

namespace {

// Returns all settings as a text, for keys.
std::string described(const std::vector<std::pair<std::string, SettingValue>>& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    text += fmt::format("{} {};", name, settingText(value));
  return text;
}

// Key of the blocks of tensors, or of the computed numbers, that the parameters consist of; "" if a
// parameter was made for this layer only.
std::string recipesOf(const std::vector<std::pair<std::string, ModelConstant>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (value.isNumbers() && value.identity() == 0)
      return "";
    text += name;
    if (value.isNumbers())
      text += fmt::format(" numbers {}", value.identity());
    for (const ModelConstant::Piece& piece : value.pieces())
      text += " " + piece.text();
  }
  return text;
}

} // namespace

// Whether no parameter is trained: all are buffers, or computed from buffers.
bool Mapper::areFixed(const NodeParameters& parameters) {
  const auto isWeight = [](const auto& parameter) {
    return !parameter.first.starts_with("running_");
  };
  return std::ranges::any_of(parameters, isWeight) &&
         std::ranges::all_of(parameters,
                             [](const auto& parameter) { return parameter.second.isFixed(); });
}

int Mapper::emit(std::vector<int> reads, const std::string& type, NodeSettings settings,
                 std::string name, NodeParameters parameters, bool isFrozen) {
  // An equal computation of the same inputs is the same node.
  const std::string key = fmt::format("{} {} {}", fmt::join(reads, ","), type, described(settings));
  const bool isPlain = parameters.empty() && type != "dropout"; // each draws a mask of its own
  if (isPlain)
    if (const auto existing = nodesByKey_.find(key); existing != nodesByKey_.end())
      return existing->second;
  const auto node = static_cast<int>(network_.graph.nodes.size());
  network_.rows.push_back({node, current_ ? current_->label : "", current_ ? current_->where : "",
                           std::exchange(remark_, "")});
  // A module that the model calls again is the same layer with the same parameters.
  if (const std::string recipes = isFrozen ? "" : recipesOf(parameters); !recipes.empty()) {
    const auto [first, isNew] =
        layersByWeights_.emplace(fmt::format("{} {} {}", type, described(settings), recipes), node);
    if (!isNew) {
      network_.graph.nodes.push_back(
          {.sameAs = first->second, .layer = {}, .reads = std::move(reads)});
      return node;
    }
  }
  while (!name.empty() && !names_.insert(name).second)
    name += "_";
  if (const std::string names = namesInFile(name, parameters); !names.empty())
    settings.emplace_back("parameter_names", names);
  LayerDescription::Node& description = network_.graph.nodes.emplace_back();
  description.layer.type = type;
  description.layer.name = name;
  description.layer.frozen = isFrozen || areFixed(parameters);
  description.layer.settings = std::move(settings);
  description.reads = std::move(reads);
  if (isPlain)
    nodesByKey_[key] = node;
  for (auto& [parameter, value] : parameters)
    network_.parameters.push_back({node, parameter, std::move(value)});
  return node;
}

std::string Mapper::layerName(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.')
      c = '_';
  return name;
}

Mapper::Order Mapper::orderAsStored(const ModelConstant& constant) const {
  const ModelConstant::Piece& piece = constant.pieces().front();
  const std::vector<int>& axes = weights_.program().tensors[piece.tensor].axes;
  Order order(axes.size(), kAdded);
  for (std::size_t t = 0; t < axes.size(); ++t)
    for (std::size_t d = 0; d < piece.axes.size(); ++d)
      if (piece.axes[d] == axes[t])
        order[t] = static_cast<int>(d);
  return order;
}

std::string Mapper::moduleOf(Value parameter, const std::string& parameterName) const {
  const ModelConstant& constant = parameter->asConstant();
  if (!constant.isNumbers()) {
    Order order = orderAsStored(constant);
    std::erase_if(order, [&](int d) { return d == kAdded || constant.shape()[at(d)] == 1; });
    if (constant.pieces().size() > 1 || !std::is_sorted(order.begin(), order.end()))
      return "";
  }
  // Without a dot rfind() returns npos, and npos + 1 is 0: the whole name.
  const std::string& name = constant.name();
  const std::size_t dot = name.rfind('.');
  const bool isOwn = !constant.isTrained() || name.substr(dot + 1) == parameterName;
  return !isOwn ? layerName(name) : dot == name.npos ? "" : layerName(name.substr(0, dot));
}

ModelConstant Mapper::numbers(std::vector<double> values) {
  const auto count = static_cast<Index>(values.size());
  return ModelConstant::ofNumbers({count}, std::move(values));
}

ModelConstant Mapper::filled(const std::vector<double>& values, Index count) {
  return numbers(values.size() == 1
                     ? std::vector<double>(static_cast<std::size_t>(count), values[0])
                     : values);
}

const Mapper::OrderedNode& Mapper::nodeOf(Value v) {
  if (const auto existing = valueNodes_.find(v); existing != valueNodes_.end())
    return existing->second;
  // A constant is attributed to the operator that reads it.
  const Value reader = std::exchange(current_, v->isConstant() && current_ ? current_ : v);
  const auto row = std::find_if(operators().begin(), operators().end(),
                                [&](const Row& r) { return r.op == v->op; });
  // Inputs were mapped by the constructor, and refused operators are in the list already.
  OrderedNode node = row == operators().end() ? refused(*v) : (this->*row->make)(*v);
  current_ = reader;
  return valueNodes_.emplace(v, std::move(node)).first->second;
}

ImportedNetwork mapToLayers(ModelGraph& graph, const ModelWeights& weights) {
  return Mapper(graph, weights).run();
}

} // namespace tenon
