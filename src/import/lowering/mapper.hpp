// SPDX-License-Identifier: BSD-2-Clause
// Maps the canonical graph of an imported model (values computed by operators, model_graph.hpp) to
// a network of Tenon's layers. Each node of that network is one call of a layer.
//
// A value of the graph is represented by a node of the network and a dimension order: the tensor of
// the node has the elements of the value, with the dimensions permuted. Entry k of the order is the
// dimension of the value that is dimension k of the node's tensor, or -1 (kAdded) if dimension k
// was added with extent 1. Dimensions of extent 1 can also be absent from a node.
// A transpose of the model therefore changes only the order. A transpose layer is emitted later,
// when a layer needs its input in a specific order.
// Example: node 7 computes x [n, c, h, w] with the order {0, 1, 2, 3}. Its transpose y [n, h, w, c]
// is node 7 again, with the order {0, 3, 1, 2}: dimension 1 of the node, c, is dimension 3 of y.
//
//   model_layers.cpp      the table of operators, and the nodes of the network
//   dimension_orders.cpp  transposes and reshapes to the order that a layer needs
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
//   assignParameters()  decides which tensors become "constant" nodes, and which layers are shared
//   nodeOf(value)       for each value: calls the method that operators() lists for its operator
//   nodeInOrder(value)  for each output
//   dropUnreadNodes(), checkRefusals(), nameOutputs(), nameNodes()
class Mapper {
public:
  Mapper(ModelGraph& graph, const ModelWeights& weights);
  ImportedNetwork run();

private:
  using Value = const ModelValue*;
  // Number of the node of a value that cannot be imported (refused). The numbers of nodes start at
  // 0; -1 - i is input i of the network.
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
  // An entry of the table of operators: an operator, and the method that emits its nodes.
  struct Row {
    ModelOp op;
    Make make;
  };
  static const std::vector<Row>& operators();

  // -- the graph
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
  // Adds a node with a layer of this type, which reads the nodes `reads`, and returns its number.
  // If a node with the same inputs, type and settings exists, returns that one.
  int emit(std::vector<int> reads, const std::string& type, NodeSettings settings = {},
           std::string name = "", NodeParameters parameters = {}, bool isFrozen = false);
  // Adds dilation and padding to the settings of a window, where they are not the defaults.
  static void addReach(NodeSettings& settings, const ModelValue& v);
  static bool areFixed(const NodeParameters& parameters);
  static std::string layerName(std::string name);
  // Returns the name of the layer that owns a parameter. It is the name of the parameter's module
  // in PyTorch: "net.0" for "net.0.weight". If the last word is not `name`, it is the complete
  // name of the parameter. Returns "" if there is no module, or if the constant is the stored
  // tensor with permuted dimensions: the stored tensor must not be read under that name.
  std::string moduleOf(Value parameter, const std::string& name = "weight") const;
  // For a constant that is a block of one stored tensor: returns, for each dimension of the tensor,
  // the dimension of the constant, or -1 if the constant does not have it.
  Order orderAsStored(const ModelConstant& constant) const;
  static ModelConstant numbers(std::vector<double> values);
  static ModelConstant filled(const std::vector<double>& values, Index count);

  // -- parameters
  using Tensor = std::size_t; // index of a tensor in the file
  // Decides which tensors of the file become nodes, and which linear layers and norms share
  // weights. `needed` is the result of neededValues().
  void assignParameters(const std::set<Value>& needed);
  // Whether a layer can own input number `input` of its operator as a parameter.
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
  // Assembles a constant from the nodes of its tensors (sourceNode()), by slices and concatenation.
  OrderedNode makeRecipe(const ModelConstant& constant);
  // Returns the names of the tensors in the file, if they differ from those of the layer's
  // parameters.
  std::string namesInFile(const std::string& layer, const NodeParameters& parameters);
  // Emits an elementwise layer (such as "add") of two inputs: `node`, which has the order `order`,
  // and the value `with`. Dimension d of `with` corresponds to dimension first + d in that order;
  // along all other dimensions it is broadcast.
  int joinedTo(int node, const Order& order, const std::string& type, Value with, int first);
  OrderedNode makeLinearWithWeightInput(const ModelValue& v, const OrderedNode& x);
  OrderedNode makeConvolutionWithWeightInput(const ModelValue& v, int x, NodeSettings settings);
  // For a norm whose weights are inputs: `normed` is the norm without weights; returns the node
  // that multiplies it by the weight and adds the bias.
  OrderedNode withWeightInputs(const ModelValue& v, const OrderedNode& normed);
  // Whether a value is a constant that is not in the file, with all numbers equal to `number`.
  static bool isFilledWith(const ModelValue& v, double number);

  // -- orders
  // Returns {0, 1, ..., rank - 1}, the order of the value itself.
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
  // Returns the node of a value. Emits it first if the value has none yet.
  const OrderedNode& nodeOf(Value v);
  // Returns a node that has the value's dimensions in `order`, by default in plainOrder(). Emits
  // the reorder that this needs.
  int nodeInOrder(Value v) { return nodeInOrder(v, plainOrder(v->ndim())); }
  int nodeInOrder(Value v, const Order& order);
  // Reorders the dimensions of a node from `currentOrder` to `order`; `shape` is the value's shape.
  int reorderedNode(int node, const Order& currentOrder, const Shape& shape, const Order& order);
  int transposedNode(int node, const Order& currentOrder, const Order& order);
  int reshapedNode(int node, const Shape& from, const Shape& to);
  static Shape reshapeSetting(const Shape& from, const Shape& to);
  // Returns how many extents of a reshape setting are fixed numbers. The setting is valid only for
  // runs with these extents; 0 (unchanged extent) and -1 (computed extent) fit other runs too.
  static std::ptrdiff_t fixedExtents(const Shape& setting);
  // Whether both orders list their common dimensions in the same sequence, and how many common
  // dimensions change position. A reshape has at most one computed extent (-1), so only one
  // dimension can change its position without a fixed number in the setting.
  static bool isSameSequence(const Order& currentOrder, const Order& order);
  static std::ptrdiff_t movedPlaces(const Order& currentOrder, const Order& order);
  // Returns a node with dimension `dim` of the value as dimension 1 (channels), and with at least
  // `rank` dimensions (default: any number). Emits nothing if the value's node is already like
  // this.
  OrderedNode withChannel(Value v, int dim);
  OrderedNode withChannel(Value v, int dim, std::size_t rank);
  // The inputs of an elementwise operator, all in one order that has every dimension of the result.
  struct JoinInputs {
    std::vector<int> nodes;
    Order order;
    bool isRefused = false;
  };
  JoinInputs joinInputs(const ModelValue& v);
  // Emits a constant that is joined to a value with `rank` dimensions and the order `order`. Its
  // layout on the process grid is derived from that of node `like`.
  int constantIn(Value v, int rank, const Order& order, int like);
  int constantNode(const ModelConstant& constant, int like);
  // Reshapes a constant. If its recipe (blocks of tensors in the file, model_constant.hpp) cannot
  // express the shape, the numbers are read now.
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
  OrderedNode makeRoll(const ModelValue& v);
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
  OrderedNode maximaOfFirst(const ModelValue& v, OrderedNode x);
  OrderedNode makeResize(const ModelValue& v);
  OrderedNode makeBatchNorm(const ModelValue& v);
  OrderedNode makeChannelNorm(const ModelValue& v);
  OrderedNode makeLayerNorm(const ModelValue& v);
  OrderedNode makeDimensionNorm(const ModelValue& v);
  OrderedNode makeSoftmax(const ModelValue& v);
  OrderedNode makeSpectral(const ModelValue& v);
  OrderedNode makeFourierPart(const ModelValue& v);
  static NodeSettings sphereSettings(const ModelSphere& sphere, bool isAnalysis);
  OrderedNode makeHarmonics(const ModelValue& v);
  OrderedNode makeSphericalConvolution(const ModelValue& v);
  OrderedNode makeFilter(const ModelValue& v);
  static NodeParameters weightsOf(const ModelValue& v);

  ModelGraph& graph_;
  const ModelWeights& weights_;
  ImportedNetwork network_;                 // the result
  std::map<Value, OrderedNode> valueNodes_; // values that have been mapped
  // Nodes by a text key, to reuse them: without parameters, by inputs, type and settings; with
  // parameters, by type, settings and weights.
  std::map<std::string, int> nodesByKey_, layersByWeights_;
  std::set<std::string> names_, fileNames_;
  std::set<Tensor> sources_;           // tensors that become "constant" nodes
  std::map<Tensor, int> tensorNodes_;  // their nodes, as far as emitted
  std::deque<ModelValue> extraValues_; // values that the graph does not contain
  // For values that are computed by one shared layer: the number of dimensions that the input of
  // each call is extended to, because a layer accepts only one number of dimensions.
  std::map<Value, int> formRanks_;
  // For each transpose and reshape node: its source node, and the permutation or shape. A second
  // reorder of its result reads the source instead.
  std::map<int, std::pair<int, std::vector<Index>>> transposes_;
  std::map<int, std::pair<int, Shape>> reshapes_;
  // The value for which nodeOf() currently emits nodes, and a remark for its row in the report.
  const ModelValue* current_ = nullptr;
  std::string remark_;
  Index zeros_ = 0;       // elements of all constants of zeros
  double identities_ = 0; // and of all weights of filters that the model has without weights
};

} // namespace tenon
