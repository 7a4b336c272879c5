// SPDX-License-Identifier: BSD-2-Clause
// Maps the canonical graph to layers. A value is a node and an order: which dimension of the
// original each dimension of the node's tensor is, -1 for one of extent 1 that the original does
// not have. So transposes are words until a layer needs another order, and extents of 1 come and
// go.
//
// model_layers.cpp has the table of operators and the nodes, orders.cpp the orders, parameters.cpp
// which layer has which parameters, and the operators are in files by family: elements.cpp,
// structure.cpp, networks.cpp.
#pragma once

#include "import/lowering/model_layers.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace tenon {

class Mapper {
public:
  Mapper(ModelGraph& graph, const ModelWeights& weights);
  ImportedNetwork run();

private:
  using Value = const ModelValue*;
  static constexpr int kNoNode = std::numeric_limits<int>::min(); // of what is refused
  static constexpr int kAdded = -1;                               // a dimension of extent 1
  static constexpr std::size_t kMaxWindowed = 5;                  // dimensions of a field

  using Order = std::vector<int>;
  struct Placed {
    int node;
    Order order;
    bool isRefused() const { return node == kNoNode; }
  };
  using NodeSettings = std::vector<std::pair<std::string, SettingValue>>;
  using NodeParameters = std::vector<std::pair<std::string, ModelConstant>>;
  using Make = Placed (Mapper::*)(const ModelValue&);
  struct Row {
    ModelOp op;
    Make make;
  };
  static const std::vector<Row>& operators();

  // -- the graph
  std::set<Value> neededValues() const;
  void checkInputsRead();
  void nameOutputs(const std::vector<int>& nodes);
  void leaveOutUnread(std::vector<int>& outputs);
  void nameNodes();

  // -- nodes
  Placed refuse(const ModelValue& v, const std::string& what, const std::string& advice);
  Placed refused(const ModelValue& v) const;
  int emit(std::vector<int> reads, const std::string& type, NodeSettings settings = {},
           std::string name = "", NodeParameters parameters = {}, bool isFrozen = false);
  // What a window reaches beyond its kernel, as far as layers have to be told.
  static void addReach(NodeSettings& settings, const ModelValue& v);
  static bool areFixed(const NodeParameters& parameters);
  static std::string layerName(std::string name);
  // The name of the module in PyTorch: "net.0" of "net.0.weight", or that of a parameter with
  // another name, which is its layer's; "" also where the parameter is the stored tensor with its
  // dimensions in another order, which must not be taken for it.
  std::string moduleOf(Value parameter, const std::string& name = "weight") const;
  // Of a part of one stored tensor: which dimension of the constant each of the tensor's is.
  Order orderAsStored(const ModelConstant& constant) const;
  static ModelConstant numbers(std::vector<double> values);
  static ModelConstant filled(const std::vector<double>& values, Index count);

  // -- parameters
  using Tensor = std::size_t; // of the file
  // Which tensors are values, and which layers are one.
  void assignParameters(const std::set<Value>& needed);
  static bool isWeightOf(const ModelValue& v, std::size_t input);
  // What makes it the same layer as another.
  static std::string layerOf(const ModelValue& v);
  // Whether it is one tensor of the file, all of it and in its order.
  bool isWhole(const ModelConstant& constant) const;
  bool addSources(const ModelConstant& constant); // whether one is new
  // Whether the weights of a layer are values of other nodes.
  bool isGiven(const ModelValue& v) const;
  // Of a tensor of the file as a value: its node, whose dimensions are the tensor's.
  int sourceNode(Tensor tensor);
  Placed makeRecipe(const ModelConstant& constant);
  // The names of tensors in files of weights, where the layer's own are others.
  std::string namesInFile(const std::string& layer, const NodeParameters& parameters);
  // `type` of a node and a value, whose dimensions are those from `first` on of what lies there.
  int joinedTo(int node, const Order& order, const std::string& type, Value with, int first);
  Placed makeGivenLinear(const ModelValue& v, const Placed& x);
  Placed makeGivenConvolution(const ModelValue& v, int x, NodeSettings settings);
  // A norm without weights and those that it is given behind it.
  Placed weighted(const ModelValue& v, const Placed& normed);
  static bool isFilledWith(const ModelValue& v, double number); // numbers without a name

  // -- orders
  static Order plainOrder(int rank);
  static std::size_t at(int d) { return static_cast<std::size_t>(d); }
  static bool isAllOf(const std::vector<double>& numbers, double value) {
    return std::ranges::all_of(numbers, [&](double n) { return n == value; });
  }
  static bool isAll(const std::vector<Index>& numbers, Index value);
  static int placeOf(const Placed& of, int dim);
  static Shape extentsIn(const Shape& shape, const Order& order);
  const Placed& place(Value v);
  // The node of a value with its dimensions in the order, the original's if none is given.
  int inOrder(Value v) { return inOrder(v, plainOrder(v->rank())); }
  int inOrder(Value v, const Order& order);
  // The same of a node with these dimensions, whose extents are `shape`.
  int arranged(int node, const Order& now, const Shape& shape, const Order& order);
  int transposed(int node, const Order& now, const Order& order);
  int reshaped(int node, const Shape& from, const Shape& to);
  static Shape reshapeSetting(const Shape& from, const Shape& to);
  // How many extents of the run a reshape has in its setting.
  static std::ptrdiff_t fixedExtents(const Shape& setting);
  // Whether one order has the dimensions of the other in their sequence, but for extents of 1; and
  // how many of them stand in another place, of which a reshape can leave one open.
  static bool isSameSequence(const Order& now, const Order& order);
  static std::ptrdiff_t movedPlaces(const Order& now, const Order& order);
  // The node and its order with dimension `dim` of the original in place 1, as it is if it is
  // there; or with so many dimensions in all.
  Placed withChannel(Value v, int dim);
  Placed withChannel(Value v, int dim, std::size_t rank);
  // All inputs in one order that has all dimensions of the result, extents of 1 where they have
  // one.
  struct Joined {
    std::vector<int> nodes;
    Order order;
    bool isRefused = false;
  };
  Joined joined(const ModelValue& v);
  // A constant in the order of the dimensions of a value of `rank`, where a node lies.
  int constantIn(Value v, int rank, const Order& order, int like);
  int constantNode(const ModelConstant& constant, int like);
  // In another shape of as many elements, if need be as numbers.
  ModelConstant shaped(const ModelConstant& constant, const Shape& shape) const;

  // -- layers of elements
  Placed makeConstant(const ModelValue& v);
  Placed makeUnary(const ModelValue& v);
  Placed makeAffine(const ModelValue& v);
  void noteNormalisation(const ModelValue& v);
  Placed makeJoin(const ModelValue& v, const std::string& type, NodeSettings settings = {});
  Placed makeAdd(const ModelValue& v) { return makeJoin(v, "add"); }
  Placed makeSubtract(const ModelValue& v) { return makeJoin(v, "subtract"); }
  Placed makeMultiply(const ModelValue& v) { return makeJoin(v, "multiply"); }
  Placed makeDivide(const ModelValue& v) { return makeJoin(v, "divide"); }
  Placed makeWhere(const ModelValue& v) { return makeJoin(v, "where"); }
  Placed makeCompare(const ModelValue& v) {
    return makeJoin(v, "compare", {{"relation", v.function}});
  }
  Placed makePRelu(const ModelValue& v);
  std::optional<int> zerosNode(const Shape& shape, int like);
  Placed makeZeros(const ModelValue& v);
  Placed makeExpand(const ModelValue& v);

  // -- layers of structure
  Placed makeTranspose(const ModelValue& v);
  Placed makeReshape(const ModelValue& v);
  std::optional<Order> orderWithoutUnits(const ModelValue& v, const Placed& x) const;
  Placed makeSlice(const ModelValue& v);
  Placed makePad(const ModelValue& v);
  Placed makeConcatenate(const ModelValue& v);
  Placed makePixelShuffle(const ModelValue& v);

  // -- layers of networks
  Placed plain(const ModelValue& v, const std::string& type, NodeSettings settings);
  Placed makeConvolution(const ModelValue& v);
  Placed makeLinear(const ModelValue& v);
  Placed makeMatmul(const ModelValue& v);
  Placed makeAttention(const ModelValue& v);
  Placed makePooling(const ModelValue& v);
  Placed makeAdaptivePooling(const ModelValue& v);
  Placed makeReduce(const ModelValue& v);
  Placed makeResize(const ModelValue& v);
  Placed makeBatchNorm(const ModelValue& v);
  Placed makeChannelNorm(const ModelValue& v);
  Placed makeLayerNorm(const ModelValue& v);
  Placed makeDimensionNorm(const ModelValue& v);
  Placed makeSoftmax(const ModelValue& v);
  Placed makeSpectral(const ModelValue& v);
  Placed makeFourierPart(const ModelValue& v);
  static NodeParameters weightsOf(const ModelValue& v);

  ModelGraph& graph_;
  const ModelWeights& weights_;
  ImportedNetwork made_;
  std::map<Value, Placed> placed_;
  std::map<std::string, int> known_, shared_; // nodes without parameters, and with some
  std::set<std::string> names_, fileNames_;
  std::set<Tensor> sources_;      // tensors that are values, of nodes of their own
  std::map<Tensor, int> nodesOf_; // these
  std::deque<ModelValue> more_;   // that the graph does not have
  std::map<Value, int>
      formRanks_; // of layers that several values share: the dimensions that these have there
  // Of nodes that only reorder: what they read, and how. Others that follow are one with them.
  std::map<int, std::pair<int, std::vector<Index>>> transposes_;
  std::map<int, std::pair<int, Shape>> reshapes_;
  const ModelValue* current_ = nullptr;
  std::string remark_;
  Index zeros_ = 0; // of enlarged values, all together
};

} // namespace tenon
