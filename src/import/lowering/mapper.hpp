// SPDX-License-Identifier: BSD-2-Clause
// Maps the canonical graph to a network of Tenon's layers.
//
// A value of the graph is represented by a node of the network and a dimension order: the tensor of
// the node has the elements of the value, with the dimensions permuted. Entry k of the order is the
// dimension of the value that is dimension k of the node's tensor, or -1 if that is an added
// dimension of extent 1. A transpose therefore changes the order only; a node is emitted when a
// layer needs a specific order. Dimensions of extent 1 can be absent or added.
// Example: after transpose of x [n, h, w, c] to [n, c, h, w] the order is {0, 2, 3, 1}.
//
//   model_layers.cpp      the table of operators, and the nodes of the network
//   dimension_orders.cpp  nodes in the order that a layer needs
//   parameters.cpp        which layer owns which parameter
//   pointwise_layers.cpp, reordering.cpp, weighted_layers.cpp  operators by family
#pragma once

#include "import/lowering/model_layers.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace tenon {

// run() has these steps:
//   neededValues()      the values that outputs depend on
//   assignParameters()  tensors with nodes of their own, layers that are shared
//   nodeOf(value)       for each value, by the method in operators() for its operator
//   nodeInOrder(value)  for each output
//   dropUnreadNodes(), checkRefusals(), nameOutputs(), nameNodes()
class Mapper {
public:
  Mapper(ModelGraph& graph, const ModelWeights& weights);
  ImportedNetwork run();

private:
  using Value = const ModelValue*;
  // Node of a value that cannot be imported.
  static constexpr int kNoNode = std::numeric_limits<int>::min();
  static constexpr int kAdded = -1;              // added dimension, of extent 1
  static constexpr std::size_t kMaxWindowed = 5; // dimensions of a field: batch, channels, space

  using Order = std::vector<int>;
  // A value of the graph: the node that computes it, and the order of its dimensions in that node.
  struct OrderedNode {
    int node;
    Order order;
    bool isRefused() const { return node == kNoNode; }
  };
  using NodeSettings = std::vector<std::pair<std::string, SettingValue>>;
  using NodeParameters = std::vector<std::pair<std::string, ModelConstant>>;
  using Make = OrderedNode (Mapper::*)(const ModelValue&);
  // An entry of the table of operators: the method that maps an operator.
  struct Row {
    ModelOp op;
    Make make;
  };
  static const std::vector<Row>& operators();

  // -- the graph
  // Values that an output depends on.
  std::set<Value> neededValues() const;
  // Reports inputs that no node reads.
  void checkInputsRead();
  void nameOutputs(const std::vector<int>& nodes);
  // Removes nodes that nothing reads, and renumbers the others.
  void dropUnreadNodes(std::vector<int>& outputs);
  void nameNodes();

  // -- nodes
  // Records that an operator cannot be imported; its value has no node.
  OrderedNode refuse(const ModelValue& v, const std::string& what, const std::string& advice);
  OrderedNode refused(const ModelValue& v) const;
  // Adds a node and returns its number; the node of an equal computation is reused.
  int emit(std::vector<int> reads, const std::string& type, NodeSettings settings = {},
           std::string name = "", NodeParameters parameters = {}, bool isFrozen = false);
  // Adds dilation and padding to the settings of a window, where they are not the defaults.
  static void addReach(NodeSettings& settings, const ModelValue& v);
  static bool areFixed(const NodeParameters& parameters);
  static std::string layerName(std::string name);
  // Returns the module of a parameter in PyTorch, which names the layer: "net.0" for
  // "net.0.weight". A parameter that is not called `name` names its layer itself. Returns "" if
  // there is no module, or if the constant is the stored tensor with permuted dimensions, which
  // must not be mistaken for it.
  std::string moduleOf(Value parameter, const std::string& name = "weight") const;
  // For a constant that is a block of one stored tensor: the dimension of the constant for each
  // dimension of the tensor.
  Order orderAsStored(const ModelConstant& constant) const;
  static ModelConstant numbers(std::vector<double> values);
  static ModelConstant filled(const std::vector<double>& values, Index count);

  // -- parameters
  using Tensor = std::size_t; // index of a tensor in the file
  // Decides which tensors get nodes of their own, and which linear layers and norms share weights.
  void assignParameters(const std::set<Value>& needed);
  static bool isWeightOf(const ModelValue& v, std::size_t input);
  // Key of a layer: values with equal keys are computed by the same layer with the same weights.
  static std::string layerOf(const ModelValue& v);
  // Whether the constant is one entire tensor of the file, with its dimensions in order.
  bool isWhole(const ModelConstant& constant) const;
  // Adds the tensors of a constant to sources_; returns whether any was new.
  bool addSources(const ModelConstant& constant);
  // Whether the weights of a layer are computed by other nodes, and read as inputs.
  bool hasWeightInputs(const ModelValue& v) const;
  // Returns the node that holds a tensor of the file as a value, in the tensor's order.
  int sourceNode(Tensor tensor);
  // Assembles a constant from the nodes of its tensors, by slices and concatenation.
  OrderedNode makeRecipe(const ModelConstant& constant);
  // Returns the names of the tensors in the file, if they differ from those of the layer's
  // parameters.
  std::string namesInFile(const std::string& layer, const NodeParameters& parameters);
  // Emits a node of two inputs: `node`, whose order is `order`, and a value whose dimensions
  // correspond to dimensions first, first + 1, ... of that order.
  int joinedTo(int node, const Order& order, const std::string& type, Value with, int first);
  OrderedNode makeLinearWithWeightInput(const ModelValue& v, const OrderedNode& x);
  OrderedNode makeConvolutionWithWeightInput(const ModelValue& v, int x, NodeSettings settings);
  // Multiplies and adds the weights of a norm that are inputs, after the norm without weights.
  OrderedNode withWeightInputs(const ModelValue& v, const OrderedNode& normed);
  // Whether it is an unnamed constant with all numbers equal to `number`.
  static bool isFilledWith(const ModelValue& v, double number);

  // -- orders
  static Order plainOrder(int rank);
  static std::size_t at(int d) { return static_cast<std::size_t>(d); }
  static bool isAllOf(const std::vector<double>& numbers, double value) {
    return std::ranges::all_of(numbers, [&](double n) { return n == value; });
  }
  static bool isAll(const std::vector<Index>& numbers, Index value);
  // Returns the position of dimension `dim` of a value in its node; -1 if the node does not have
  // it.
  static int positionOf(const OrderedNode& value, int dim);
  static Shape extentsIn(const Shape& shape, const Order& order);
  // Returns the node of a value, which is mapped now if it has not been.
  const OrderedNode& nodeOf(Value v);
  // Returns the node of a value with its dimensions in the given order, or in that of the value
  // itself.
  int nodeInOrder(Value v) { return nodeInOrder(v, plainOrder(v->rank())); }
  int nodeInOrder(Value v, const Order& order);
  // Reorders the dimensions of a node from `currentOrder` to `order`; `shape` is the value's shape.
  int reorderedNode(int node, const Order& currentOrder, const Shape& shape, const Order& order);
  int transposedNode(int node, const Order& currentOrder, const Order& order);
  int reshapedNode(int node, const Shape& from, const Shape& to);
  static Shape reshapeSetting(const Shape& from, const Shape& to);
  // Number of extents in a reshape setting that are fixed numbers, and so tie it to this run.
  static std::ptrdiff_t fixedExtents(const Shape& setting);
  // Whether both orders list their common dimensions in the same sequence; and how many of those
  // change position. A reshape with one open extent (-1) can handle one of them.
  static bool isSameSequence(const Order& currentOrder, const Order& order);
  static std::ptrdiff_t movedPlaces(const Order& currentOrder, const Order& order);
  // Returns a node with dimension `dim` of the value as dimension 1 (channels), and at least `rank`
  // dimensions if that is given. The node is unchanged if it has that already.
  OrderedNode withChannel(Value v, int dim);
  OrderedNode withChannel(Value v, int dim, std::size_t rank);
  // The inputs of an elementwise operator, all in one order that has every dimension of the result.
  struct JoinInputs {
    std::vector<int> nodes;
    Order order;
    bool isRefused = false;
  };
  JoinInputs joinInputs(const ModelValue& v);
  // Emits a constant in the order of a value with `rank` dimensions, with the layout of node
  // `like`.
  int constantIn(Value v, int rank, const Order& order, int like);
  int constantNode(const ModelConstant& constant, int like);
  // Reshapes a constant; it becomes numbers if its recipe cannot express the shape.
  ModelConstant shaped(const ModelConstant& constant, const Shape& shape) const;

  // -- elementwise layers
  OrderedNode makeConstant(const ModelValue& v);
  OrderedNode makeUnary(const ModelValue& v);
  OrderedNode makeAffine(const ModelValue& v);
  void noteNormalisation(const ModelValue& v);
  OrderedNode makeJoin(const ModelValue& v, const std::string& type, NodeSettings settings = {});
  OrderedNode makeAdd(const ModelValue& v) { return makeJoin(v, "add"); }
  OrderedNode makeSubtract(const ModelValue& v) { return makeJoin(v, "subtract"); }
  OrderedNode makeMultiply(const ModelValue& v) { return makeJoin(v, "multiply"); }
  OrderedNode makeDivide(const ModelValue& v) { return makeJoin(v, "divide"); }
  OrderedNode makeWhere(const ModelValue& v) { return makeJoin(v, "where"); }
  OrderedNode makeCompare(const ModelValue& v) {
    return makeJoin(v, "compare", {{"relation", v.function}});
  }
  OrderedNode makePRelu(const ModelValue& v);
  std::optional<int> zerosNode(const Shape& shape, int like);
  OrderedNode makeZeros(const ModelValue& v);
  OrderedNode makeExpand(const ModelValue& v);

  // -- reordering and joining
  OrderedNode makeTranspose(const ModelValue& v);
  OrderedNode makeReshape(const ModelValue& v);
  std::optional<Order> orderWithoutUnits(const ModelValue& v, const OrderedNode& x) const;
  OrderedNode makeSlice(const ModelValue& v);
  OrderedNode makePad(const ModelValue& v);
  OrderedNode makeConcatenate(const ModelValue& v);
  OrderedNode makePixelShuffle(const ModelValue& v);

  // -- layers with weights, windows, reductions
  OrderedNode emitInPlainOrder(const ModelValue& v, const std::string& type, NodeSettings settings);
  OrderedNode makeConvolution(const ModelValue& v);
  OrderedNode makeLinear(const ModelValue& v);
  OrderedNode makeMatmul(const ModelValue& v);
  OrderedNode makeAttention(const ModelValue& v);
  OrderedNode makePooling(const ModelValue& v);
  OrderedNode makeAdaptivePooling(const ModelValue& v);
  OrderedNode makeReduce(const ModelValue& v);
  OrderedNode makeResize(const ModelValue& v);
  OrderedNode makeBatchNorm(const ModelValue& v);
  OrderedNode makeChannelNorm(const ModelValue& v);
  OrderedNode makeLayerNorm(const ModelValue& v);
  OrderedNode makeDimensionNorm(const ModelValue& v);
  OrderedNode makeSoftmax(const ModelValue& v);
  OrderedNode makeSpectral(const ModelValue& v);
  OrderedNode makeFourierPart(const ModelValue& v);
  static NodeParameters weightsOf(const ModelValue& v);

  ModelGraph& graph_;
  const ModelWeights& weights_;
  ImportedNetwork network_;                 // the result
  std::map<Value, OrderedNode> valueNodes_; // values that have been mapped
  // Nodes without parameters by their computation, and layers with parameters by their weights.
  std::map<std::string, int> nodesByKey_, layersByWeights_;
  std::set<std::string> names_, fileNames_;
  std::set<Tensor> sources_;           // tensors that have nodes of their own
  std::map<Tensor, int> tensorNodes_;  // the nodes of these tensors
  std::deque<ModelValue> extraValues_; // values that the graph does not contain
  // Common rank of the inputs of layers that several values share.
  std::map<Value, int> formRanks_;
  // Source and permutation, or source and shape, of nodes that only reorder. A reorder of their
  // results reads the source directly.
  std::map<int, std::pair<int, std::vector<Index>>> transposes_;
  std::map<int, std::pair<int, Shape>> reshapes_;
  // Value that is being mapped, and a remark for its row in the report.
  const ModelValue* current_ = nullptr;
  std::string remark_;
  Index zeros_ = 0; // elements of all constants of zeros
};

} // namespace tenon
