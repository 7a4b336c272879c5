// SPDX-License-Identifier: BSD-2-Clause
// Maps the canonical graph to layers. A value is a node and an order: which dimension of the original
// each dimension of the node's tensor is, -1 for one of extent 1 that the original does not have. So
// transposes are words until a layer needs another order, and extents of 1 come and go.
//
// model_layers.cpp has the table of operators and the nodes, orders.cpp the orders, and the
// operators are in files by family: elements.cpp, structure.cpp, networks.cpp.
#pragma once

#include "import/layers/model_layers.hpp"

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
  static constexpr std::size_t kMostWindowed = 5;                 // dimensions of a field

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
  // The name of the module in PyTorch: "net.0" of "net.0.weight"; "" also where the parameter is the stored tensor
  // with its dimensions in another order, which must not be taken for it.
  std::string moduleOf(Value parameter) const;
  // Of a part of one stored tensor: which dimension of the constant each of the tensor's is.
  Order orderAsStored(const ModelConstant& constant) const;
  static ModelConstant numbers(std::vector<double> values);
  static ModelConstant filled(const std::vector<double>& values, Index count);

  // -- orders
  static Order plainOrder(int rank);
  static std::size_t at(int d) { return static_cast<std::size_t>(d); }
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
  // Whether one order has the dimensions of the other in their sequence, but for extents of 1; and how many of
  // them stand in another place, of which a reshape can leave one open.
  static bool isSameSequence(const Order& now, const Order& order);
  static std::ptrdiff_t movedPlaces(const Order& now, const Order& order);
  // The node and its order with dimension `dim` of the original in place 1, as it is if it is there.
  Placed withChannel(Value v, int dim);
  // All inputs in one order that has all dimensions of the result, extents of 1 where they have one.
  struct Joined {
    std::vector<int> nodes;
    Order order;
    bool isRefused = false;
  };
  Joined joined(const ModelValue& v);
  // A constant in the order of the dimensions of a value of `rank`, where a node lies.
  int constantIn(Value v, int rank, const Order& order, int like);
  int constantNode(Value v, const ModelConstant& constant, int like);

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
  std::set<std::string> names_;
  // Of nodes that only reorder: what they read, and how. Others that follow are one with them.
  std::map<int, std::pair<int, std::vector<Index>>> transposes_;
  std::map<int, std::pair<int, Shape>> reshapes_;
  const ModelValue* current_ = nullptr;
  std::string remark_;
  Index zeros_ = 0; // of enlarged values, all together
};

} // namespace tenon
