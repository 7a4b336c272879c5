// SPDX-License-Identifier: BSD-2-Clause
// Maps the canonical graph to layers. A value is a node and an order: which dimension of the original
// each dimension of the node's tensor is, -1 for one of extent 1 that the original does not have. So
// transposes are words until a layer needs another order, and extents of 1 come and go.
#include "import/model_layers.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace tenon {

namespace {

using Value = const ModelValue*;
constexpr int kNoNode = std::numeric_limits<int>::min(); // of what is refused
constexpr int kAdded = -1;                               // a dimension of extent 1

struct Placed {
  int node;
  std::vector<int> order;
  bool isRefused() const { return node == kNoNode; }
};

using NodeSettings = std::vector<std::pair<std::string, SettingValue>>;
using NodeParameters = std::vector<std::pair<std::string, ModelConstant>>;

std::vector<int> plainOrder(int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool isAll(const std::vector<Index>& numbers, Index value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](Index n) { return n == value; });
}

std::size_t at(int d) {
  return static_cast<std::size_t>(d);
}

class Mapper {
public:
  Mapper(ModelGraph& graph, const ModelWeights& weights) : graph_(graph), weights_(weights) {
    made_.graph.type = "graph";
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
      placed_[graph.inputs[i]] = {-1 - static_cast<int>(i), plainOrder(graph.inputs[i]->rank())};
  }

  ImportedNetwork run() {
    // In their order, so that none is deeper than the one before it; of what no output reads nothing
    // is made.
    const std::set<Value> needed = neededValues();
    for (const ModelValue& value : graph_.values)
      if (needed.contains(&value) && !value.isConstant()) // most constants are weights
        place(&value);
    std::vector<int> outputs;
    for (const Value value : graph_.outputs)
      outputs.push_back(inOrder(value));
    if (outputs.size() > 1)
      refuse(*graph_.outputs[0], fmt::format("{} outputs", outputs.size()),
             "a model with one output, such as a concatenation along the channels");
    checkInputsRead();
    checkRefusals(graph_, weights_.file().name(), weights_.program().operations.size());
    // The output is that of the last node.
    if (outputs[0] != static_cast<int>(made_.graph.nodes.size()) - 1)
      emit({outputs[0]}, "identity");
    if (graph_.inputs.size() > 1)
      made_.graph.settings.emplace_back("input_count", static_cast<Index>(graph_.inputs.size()));
    return std::move(made_);
  }

private:
  std::set<Value> neededValues() const {
    std::set<Value> needed(graph_.outputs.begin(), graph_.outputs.end());
    for (auto value = graph_.values.rbegin(); value != graph_.values.rend(); ++value)
      if (needed.contains(&*value))
        needed.insert(value->inputs.begin(), value->inputs.end());
    return needed;
  }

  void checkInputsRead() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const int name = -1 - static_cast<int>(i);
      bool isRead = false;
      for (const auto& node : made_.graph.nodes)
        isRead =
            isRead || std::find(node.reads.begin(), node.reads.end(), name) != node.reads.end();
      if (!isRead && !(graph_.outputs[0] == graph_.inputs[i]) && graph_.refusals.empty())
        graph_.refusals.push_back({graph_.inputNames[i], "", "an input that no output depends on",
                                   "the model without this input"});
    }
  }

  // -- nodes

  Placed refuse(const ModelValue& v, const std::string& what, const std::string& advice) {
    graph_.refusals.push_back({v.label, v.where, what, advice});
    return {kNoNode, plainOrder(v.rank())};
  }
  Placed refused(Value v) const { return {kNoNode, plainOrder(v->rank())}; }

  int emit(std::vector<int> reads, const std::string& type, NodeSettings settings = {},
           std::string name = "", NodeParameters parameters = {}, bool isFrozen = false) {
    // The same computation of the same values is one node.
    const std::string key =
        fmt::format("{} {} {}", fmt::join(reads, ","), type, described(settings));
    if (parameters.empty())
      if (const auto known = known_.find(key); known != known_.end())
        return known->second;
    const auto node = static_cast<int>(made_.graph.nodes.size());
    if (name.empty())
      name = fmt::format("{}{}", isFrozen ? "constant" : type, node);
    while (!names_.insert(name).second)
      name += "_";
    LayerDescription::Node& made = made_.graph.nodes.emplace_back();
    made.layer.type = type;
    made.layer.name = name;
    made.layer.settings = std::move(settings);
    made.reads = std::move(reads);
    made_.isFrozen.push_back(isFrozen);
    if (parameters.empty())
      known_[key] = node;
    for (auto& [parameter, value] : parameters)
      made_.parameters.push_back({node, parameter, std::move(value)});
    made_.rows.push_back({node, current_ ? current_->label : "", current_ ? current_->where : "",
                          std::exchange(remark_, "")});
    return node;
  }
  static std::string described(const NodeSettings& settings) {
    std::string text;
    for (const auto& [name, value] : settings)
      text += fmt::format("{} {};", name, settingText(value));
    return text;
  }

  // The name of the module in PyTorch: "net.0" of "net.0.weight".
  static std::string moduleOf(Value parameter) {
    const std::string& name = parameter->constant->name();
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos)
      return "";
    std::string module = name.substr(0, dot);
    for (char& c : module)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.')
        c = '_';
    return module;
  }

  static ModelConstant numbers(std::vector<double> values) {
    const auto count = static_cast<Index>(values.size());
    return ModelConstant::ofNumbers({count}, std::move(values));
  }
  static ModelConstant filled(const std::vector<double>& values, Index count) {
    return numbers(values.size() == 1
                       ? std::vector<double>(static_cast<std::size_t>(count), values[0])
                       : values);
  }

  // -- orders

  const Placed& place(Value v) {
    if (const auto known = placed_.find(v); known != placed_.end())
      return known->second;
    current_ = v;
    return placed_.emplace(v, make(*v)).first->second;
  }

  // The node of a value with its dimensions in the order, the original's if none is given.
  int inOrder(Value v) { return inOrder(v, plainOrder(v->rank())); }
  int inOrder(Value v, const std::vector<int>& order) {
    const Placed now = place(v);
    if (now.isRefused() || now.order == order)
      return now.node;
    std::vector<int> real;
    for (const int o : now.order)
      if (o != kAdded)
        real.push_back(o);
    const std::vector<int> first = {0, 1};
    if (real == order && order == first &&
        std::equal(order.begin(), order.end(), now.order.begin()))
      return emit({now.node}, "flatten"); // [n, c, 1, 1] -> [n, c]
    std::vector<int> have = now.order, want = order;
    std::sort(have.begin(), have.end());
    std::sort(want.begin(), want.end());
    if (have == want)
      return emit({now.node}, "transpose", {{"permutation", permutation(now.order, order)}});
    if (order.size() == 2 && now.order.size() > 2 &&
        std::is_permutation(real.begin(), real.end(), order.begin(), order.end())) {
      std::vector<int> middle = order; // the units in between go behind
      middle.resize(now.order.size(), kAdded);
      return emit(
          {emit({now.node}, "transpose", {{"permutation", permutation(now.order, middle)}})},
          "flatten");
    }
    return refuse(*v,
                  fmt::format("a dimension of extent 1 that is put in or left out of [{}]",
                              fmt::join(v->shape, ",")),
                  "the same number of dimensions throughout")
        .node;
  }

  static std::vector<Index> permutation(const std::vector<int>& now,
                                        const std::vector<int>& order) {
    std::vector<bool> taken(now.size(), false);
    std::vector<Index> made;
    for (const int o : order)
      for (std::size_t k = 0; k < now.size(); ++k)
        if (now[k] == o && !taken[k]) {
          taken[k] = true;
          made.push_back(static_cast<Index>(k));
          break;
        }
    return made;
  }

  // The node and its order with dimension `dim` of the original in place 1, as it is if it is there.
  Placed withChannel(Value v, int dim) {
    const Placed now = place(v);
    if (now.isRefused() || (now.order.size() > 1 && now.order[1] == dim))
      return now;
    std::vector<int> rest;
    for (const int o : now.order)
      if (o != dim)
        rest.push_back(o);
    if (rest.size() == now.order.size() || rest.empty())
      return refuse(*v,
                    fmt::format("dimension {} of [{}] alone, or without a batch", dim,
                                fmt::join(v->shape, ",")),
                    "a tensor with a batch dimension");
    std::vector<int> order = {rest[0], dim};
    order.insert(order.end(), rest.begin() + 1, rest.end());
    return {inOrder(v, order), order};
  }

  int placeOf(const Placed& of, int dim) const {
    const auto found = std::find(of.order.begin(), of.order.end(), dim);
    return found == of.order.end() ? -1 : static_cast<int>(found - of.order.begin());
  }

  // -- operators

  Placed make(const ModelValue& v) {
    switch (v.op) {
    case ModelOp::Input: // placed from the beginning
    case ModelOp::Refused:
      return refused(&v);
    case ModelOp::Constant:
      return refuse(v, fmt::format("a constant tensor [{}] as a value", fmt::join(v.shape, ",")),
                    "the tensor as one more input, or constants with one number per channel");
    case ModelOp::Unary:
      return makeUnary(v);
    case ModelOp::Affine:
      return makeAffine(v);
    case ModelOp::Add:
      return makeJoin(v, "add", "a sum");
    case ModelOp::Subtract:
      return makeSubtract(v);
    case ModelOp::Multiply:
      return makeJoin(v, "multiply", "a product");
    case ModelOp::Divide:
      return refuse(v, "a quotient of two tensors",
                    "softsign, a norm or a softmax, by their names");
    case ModelOp::PRelu:
      return makePRelu(v);
    case ModelOp::Transpose:
      return makeTranspose(v);
    case ModelOp::Reshape:
      return makeReshape(v);
    case ModelOp::Slice:
      return makeSlice(v);
    case ModelOp::Pad:
      return makePad(v);
    case ModelOp::Concatenate:
      return makeConcatenate(v);
    case ModelOp::Convolution:
      return makeConvolution(v);
    case ModelOp::Linear:
      return makeLinear(v);
    case ModelOp::Matmul:
      return makeMatmul(v);
    case ModelOp::Pooling:
      return makePooling(v);
    case ModelOp::AdaptivePooling:
      return plain(v, "adaptiveaveragepooling",
                   {{"size", Shape(v.shape.begin() + 2, v.shape.end())}});
    case ModelOp::Mean:
      return makeMean(v);
    case ModelOp::Resize:
      return makeResize(v);
    case ModelOp::BatchNorm:
      return makeBatchNorm(v);
    case ModelOp::InstanceNorm:
    case ModelOp::GroupNorm:
      return makeChannelNorm(v);
    case ModelOp::LayerNorm:
      return makeLayerNorm(v);
    case ModelOp::DimensionNorm:
      return makeDimensionNorm(v);
    case ModelOp::Softmax:
      return makeSoftmax(v);
    case ModelOp::PixelShuffle:
      return makePixelShuffle(v);
    case ModelOp::Spectral:
      return makeSpectral(v);
    case ModelOp::Fourier:
    case ModelOp::Complex:
    case ModelOp::Modes:
    case ModelOp::InverseFourierInput:
      return refuse(v, "a Fourier transform that is not part of a spectral convolution",
                    "the products of the lowest modes, as in the Fourier neural operator");
    }
    return refused(&v);
  }

  // A layer without parameters on its input in the original's order.
  Placed plain(const ModelValue& v, const std::string& type, NodeSettings settings) {
    const int x = inOrder(v.inputs[0]);
    return {x == kNoNode ? x : emit({x}, type, std::move(settings)), plainOrder(v.rank())};
  }

  // -- functions of elements

  Placed makeUnary(const ModelValue& v) {
    static const std::set<std::string> known = {"relu",     "tanh", "sigmoid",  "leakyrelu",
                                                "elu",      "gelu", "gelutanh", "silu",
                                                "softplus", "exp",  "sine"};
    if (v.function == "compare")
      return refuse(v, "a comparison", "a mask that is an input");
    const Placed x = place(v.inputs[0]);
    if (x.isRefused())
      return refused(&v);
    if (known.contains(v.function)) {
      NodeSettings settings;
      for (const auto& [name, value] : v.parameters)
        settings.emplace_back(name, value);
      return {emit({x.node}, v.function, std::move(settings)), x.order};
    }
    const int node = emulated(v, x);
    if (node == kNoNode)
      return refuse(v, fmt::format("the function {}", v.function),
                    fmt::format("{}", fmt::join(known, ", ")));
    return {node, x.order};
  }

  double parameterOf(const ModelValue& v, std::string_view name, double otherwise) const {
    for (const auto& [key, value] : v.parameters)
      if (key == name)
        return value;
    return otherwise;
  }

  // Functions that have no layer of their own, by those that have one.
  int emulated(const ModelValue& v, const Placed& x) {
    const auto negative = [&](int node) { return emit({node}, "scale", {{"factor", -1.0}}); };
    const auto relu = [&](int node) { return emit({node}, "relu"); };
    const auto shifted = [&](int node, double scale, double shift) {
      return constants(v, {node, x.order}, {scale}, {shift});
    };
    // low + relu(x - low) - relu(x - high)
    const auto clamp = [&](int node, std::optional<double> low, std::optional<double> high) {
      const int above = low ? shifted(relu(shifted(node, 1, -*low)), 1, *low) : node;
      return high ? emit({above, negative(relu(shifted(node, 1, -*high)))}, "add") : above;
    };
    remark_ = fmt::format("{} by layers that there are", v.function);
    if (v.function == "clamp") {
      std::optional<double> low, high;
      for (const auto& [name, value] : v.parameters)
        (name == "low" ? low : high) = value;
      return clamp(x.node, low, high);
    }
    if (v.function == "hardswish")
      return emit({x.node, clamp(shifted(x.node, 1.0 / 6, 0.5), 0, 1)}, "multiply");
    if (v.function == "mish")
      return emit({x.node, emit({emit({x.node}, "softplus")}, "tanh")}, "multiply");
    if (v.function == "selu")
      return emit({emit({x.node}, "elu", {{"alpha", 1.6732632423543772}})}, "scale",
                  {{"factor", 1.0507009873554805}});
    if (v.function == "celu") {
      const double alpha = parameterOf(v, "alpha", 1);
      return emit(
          {emit({emit({x.node}, "scale", {{"factor", 1 / alpha}})}, "elu", {{"alpha", 1.0}})},
          "scale", {{"factor", alpha}});
    }
    if (v.function == "abs")
      return emit({relu(x.node), relu(negative(x.node))}, "add");
    remark_.clear();
    return kNoNode;
  }

  // scale x + shift with one number, or one for each index of the dimension in place 1.
  int constants(const ModelValue& v, const Placed& x, const std::vector<double>& scale,
                const std::vector<double>& shift) {
    if (shift.size() == 1 && shift[0] == 0 && scale.size() == 1)
      return emit({x.node}, "scale", {{"factor", scale[0]}});
    const int dim = x.order.size() > 1 ? x.order[1] : kAdded;
    const Index channels = dim == kAdded ? 1 : v.shape[at(dim)];
    if (scale.size() == 1 && scale[0] == 1 && shift.size() == 1 && shift[0] == 0)
      return x.node;
    return emit({x.node}, "channelaffine", {{"channels", channels}}, "",
                {{"scale", filled(scale, channels)}, {"shift", filled(shift, channels)}}, true);
  }

  Placed makeAffine(const ModelValue& v) {
    const Placed x = v.dim >= 0 ? withChannel(v.inputs[0], v.dim) : place(v.inputs[0]);
    if (x.isRefused())
      return refused(&v);
    if (x.order.size() < 2 && !(v.dim < 0 && v.shift[0] == 0))
      return refuse(v, "constants that are added to a tensor of one dimension",
                    "a batch dimension");
    return {constants(v, x, v.scale, v.shift), x.order};
  }

  Placed makePRelu(const ModelValue& v) {
    const Placed x = withChannel(v.inputs[0], 1);
    const auto& slope = v.inputs[1]->constant;
    if (x.isRefused())
      return refused(&v);
    if (slope->elements() != v.shape[1])
      return refuse(v, "a prelu with one slope for all channels", "one slope for each channel");
    // relu(x) - slope relu(-x): what is trained is the slope with the other sign, as a scale.
    const int minus = emit({emit({x.node}, "scale", {{"factor", -1.0}})}, "relu");
    std::vector<double> negative = weights_.folded(*slope).numbers();
    for (double& number : negative)
      number = -number;
    remark_ = "a prelu by layers that there are, with minus its slopes as a scale";
    const int scaled =
        emit({minus}, "channelaffine", {{"channels", v.shape[1]}}, moduleOf(v.inputs[1]),
             {{"scale", numbers(negative)}, {"shift", filled({0}, v.shape[1])}});
    return {emit({emit({x.node}, "relu"), scaled}, "add"), x.order};
  }

  // -- two inputs

  struct Pair {
    int a, b;
    std::vector<int> order;
  };
  // Nodes of both inputs in one order and one shape; a smaller one is enlarged.
  Pair joined(const ModelValue& v, const char* what) {
    const bool isSwapped = v.inputs[0]->shape != v.shape;
    const Value a = v.inputs[isSwapped ? 1 : 0], b = v.inputs[isSwapped ? 0 : 1];
    const Placed x = place(a), y = place(b);
    if (x.isRefused() || y.isRefused())
      return {kNoNode, kNoNode, plainOrder(v.rank())};
    if (a->shape != v.shape) {
      refuse(v,
             fmt::format("{} of [{}] and [{}], which are both enlarged", what,
                         fmt::join(v.inputs[0]->shape, ","), fmt::join(v.inputs[1]->shape, ",")),
             "one of them in the shape of the result");
      return {kNoNode, kNoNode, plainOrder(v.rank())};
    }
    current_ = &v;
    const int other = b->shape == v.shape ? inOrder(b, x.order) : enlarged(v, *b, y, x.order);
    if (other == kNoNode)
      return {kNoNode, kNoNode, x.order};
    return isSwapped ? Pair{other, x.node, x.order} : Pair{x.node, other, x.order};
  }

  int enlarged(const ModelValue& v, const ModelValue& b, const Placed& y,
               const std::vector<int>& order) {
    const int extra = v.rank() - b.rank();
    Shape small(at(extra), 1);
    small.insert(small.end(), b.shape.begin(), b.shape.end());
    std::vector<int> places = y.order;
    for (int& o : places)
      o = o == kAdded ? kAdded : o + extra;
    bool fits = places.size() == order.size();
    for (std::size_t d = 0; fits && d < order.size(); ++d)
      fits = places[d] == order[d] || places[d] == kAdded;
    int node = y.node;
    std::vector<int> have = places, want = order;
    std::sort(have.begin(), have.end());
    std::sort(want.begin(), want.end());
    if (!fits && have == want) {
      node = emit({node}, "transpose", {{"permutation", permutation(places, order)}});
      fits = true;
    }
    Shape to, from;
    for (const int o : order) {
      to.push_back(o == kAdded ? 1 : v.shape[at(o)]);
      from.push_back(o == kAdded ? 1 : small[at(o)]);
    }
    if (!fits || order.size() < 3 || to.size() < 3 || from[0] != to[0])
      return refuse(v,
                    fmt::format("broadcasting of [{}] to [{}]", fmt::join(b.shape, ","),
                                fmt::join(v.shape, ",")),
                    "a tensor with as many dimensions and samples")
          .node;
    remark_ = "broadcasting by layers";
    const Shape ones(to.size() - 2, 1);
    if (from[1] != to[1])
      node = emit(
          {node}, "conv",
          {{"in_channels", Index(1)}, {"out_channels", to[1]}, {"kernel", ones}, {"bias", false}},
          "", {{"weight", onesOf(to[1], ones)}}, true);
    if (!std::equal(from.begin() + 2, from.end(), to.begin() + 2))
      node = emit({node}, "resample",
                  {{"size", Shape(to.begin() + 2, to.end())}, {"method", std::string("nearest")}});
    return node;
  }
  static ModelConstant onesOf(Index channels, const Shape& ones) {
    Shape shape = {channels, 1};
    shape.insert(shape.end(), ones.begin(), ones.end());
    return ModelConstant::ofNumbers(shape,
                                    std::vector<double>(static_cast<std::size_t>(channels), 1.0));
  }

  Placed makeJoin(const ModelValue& v, const std::string& type, const char* what) {
    const Pair pair = joined(v, what);
    return {pair.a == kNoNode ? kNoNode : emit({pair.a, pair.b}, type), pair.order};
  }
  Placed makeSubtract(const ModelValue& v) {
    const Pair pair = joined(v, "a difference");
    if (pair.a == kNoNode)
      return refused(&v);
    return {emit({pair.a, emit({pair.b}, "scale", {{"factor", -1.0}})}, "add"), pair.order};
  }
  Placed makeMatmul(const ModelValue& v) {
    const Value a = v.inputs[0], b = v.inputs[1];
    if (a->rank() != b->rank() ||
        !std::equal(a->shape.begin(), a->shape.end() - 2, b->shape.begin()))
      return refuse(v,
                    fmt::format("a product of matrices with broadcasting, [{}] and [{}]",
                                fmt::join(a->shape, ","), fmt::join(b->shape, ",")),
                    "equal leading dimensions");
    const int x = inOrder(a), y = inOrder(b);
    return {x == kNoNode || y == kNoNode ? kNoNode : emit({x, y}, "matmul"), plainOrder(v.rank())};
  }

  // -- structure

  Placed makeTranspose(const ModelValue& v) {
    Placed x = place(v.inputs[0]);
    std::vector<int> back(v.dims.size());
    for (std::size_t d = 0; d < v.dims.size(); ++d)
      back[at(v.dims[d])] = static_cast<int>(d);
    for (int& o : x.order)
      o = o == kAdded ? kAdded : back[at(o)];
    return x;
  }

  Placed makeReshape(const ModelValue& v) {
    const Value source = v.inputs[0];
    const Placed x = place(source);
    if (x.isRefused())
      return refused(&v);
    std::vector<int> old, now, spare;
    Shape oldExtents, nowExtents;
    for (int d = 0; d < source->rank(); ++d)
      if (source->shape[at(d)] != 1) {
        old.push_back(d);
        oldExtents.push_back(source->shape[at(d)]);
      }
    for (int d = 0; d < v.rank(); ++d)
      if (v.shape[at(d)] != 1) {
        now.push_back(d);
        nowExtents.push_back(v.shape[at(d)]);
      } else {
        spare.push_back(d);
      }
    if (oldExtents == nowExtents) { // extents of 1 come and go
      std::vector<int> order;
      for (const int o : x.order) {
        const auto found = std::find(old.begin(), old.end(), o);
        order.push_back(found == old.end() ? kAdded
                                           : now[at(static_cast<int>(found - old.begin()))]);
      }
      // One of the result stands where the node has one at that place, or at any.
      for (std::size_t i = 0; i < order.size(); ++i)
        if (const auto found = std::find(spare.begin(), spare.end(), static_cast<int>(i));
            order[i] == kAdded && found != spare.end()) {
          order[i] = static_cast<int>(i);
          spare.erase(found);
        }
      return {x.node, order};
    }
    if (v.rank() == 2 && source->rank() > 2 && v.shape[0] == source->shape[0]) {
      const int node = inOrder(source);
      return {node == kNoNode ? node : emit({node}, "flatten"), plainOrder(2)};
    }
    return refuse(
        v,
        fmt::format("a reshape of [{}] to [{}]", fmt::join(source->shape, ","),
                    fmt::join(v.shape, ",")),
        "dimensions that stay as they are (merged and divided ones are not in this version)");
  }

  Placed makeSlice(const ModelValue& v) {
    const Placed x = place(v.inputs[0]);
    const int place = placeOf(x, v.dim);
    if (x.isRefused())
      return refused(&v);
    if (place < 0)
      return refuse(v, "a slice of a dimension of extent 1", "the whole dimension");
    NodeSettings settings = {{"dim", Index(place)}, {"begin", v.begin}, {"end", v.end}};
    if (v.step != 1)
      settings.emplace_back("step", v.step);
    return {emit({x.node}, "slice", std::move(settings)), x.order};
  }

  Placed makeConcatenate(const ModelValue& v) {
    Placed first = place(v.inputs[0]);
    if (placeOf(first, v.dim) < 0)
      first.order = plainOrder(v.rank());
    std::vector<int> nodes;
    for (const Value value : v.inputs)
      nodes.push_back(inOrder(value, first.order));
    if (std::find(nodes.begin(), nodes.end(), kNoNode) != nodes.end())
      return refused(&v);
    return {emit(nodes, "concatenate", {{"dim", Index(placeOf(first, v.dim))}}), first.order};
  }

  Placed makePad(const ModelValue& v) {
    const int spatial = v.rank() - 2, s = v.dim - 2;
    if (spatial < 1 || spatial > 3 || s < 0)
      return refuse(v, "padding of the batch or the channels", "padding of space");
    std::vector<Index> low(at(spatial), 0), high(at(spatial), 0);
    std::vector<std::string> modes(at(spatial), "none");
    low[at(s)] = v.low[0];
    high[at(s)] = v.high[0];
    const bool isZero = v.modes[0] == "values" && *v.padValue == 0;
    modes[at(s)] = isZero ? "zero" : v.modes[0];
    NodeSettings settings = {{"padding", low},
                             {"padding_high", high},
                             {"boundary", fmt::format("{}", fmt::join(modes, ","))}};
    if (v.modes[0] == "values" && !isZero)
      settings.emplace_back("boundary_constant", *v.padValue);
    return plain(v, "pad", std::move(settings));
  }

  // -- layers

  Placed makeConvolution(const ModelValue& v) {
    const int x = inOrder(v.inputs[0]);
    if (x == kNoNode)
      return refused(&v);
    NodeSettings settings = {
        {"in_channels", v.inputs[0]->shape[1]}, {"out_channels", v.shape[1]}, {"kernel", v.kernel}};
    if (!isAll(v.stride, 1))
      settings.emplace_back("stride", v.stride);
    if (!isAll(v.dilation, 1))
      settings.emplace_back("dilation", v.dilation);
    if (!isAll(v.low, 0) || !isAll(v.high, 0))
      settings.emplace_back("padding", v.low);
    if (v.low != v.high)
      settings.emplace_back("padding_high", v.high);
    if (v.groups != 1)
      settings.emplace_back("groups", v.groups);
    const bool hasBias = v.inputs.size() > 2;
    if (!hasBias)
      settings.emplace_back("bias", false);
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
    NodeParameters parameters = {{"weight", *v.inputs[1]->constant}};
    if (hasBias)
      parameters.emplace_back("bias", *v.inputs[2]->constant);
    return {emit({x}, v.isTransposed ? "transposedconv" : "conv", std::move(settings),
                 moduleOf(v.inputs[1]), std::move(parameters)),
            plainOrder(v.rank())};
  }

  Placed makeLinear(const ModelValue& v) {
    const Placed x = withChannel(v.inputs[0], v.rank() - 1);
    if (x.isRefused())
      return refused(&v);
    const bool hasBias = v.inputs.size() > 2, isAffine = x.order.size() == 2;
    const ModelConstant& weight = *v.inputs[1]->constant;
    NodeSettings settings;
    if (isAffine)
      settings = {{"inputs", weight.shape()[1]}, {"outputs", weight.shape()[0]}};
    else
      settings = {{"in_channels", weight.shape()[1]},
                  {"out_channels", weight.shape()[0]},
                  {"kernel", Shape(x.order.size() - 2, 1)}};
    if (!hasBias)
      settings.emplace_back("bias", false);
    if (x.order.size() > 5)
      return refuse(v, fmt::format("a linear layer of a tensor with {} dimensions", x.order.size()),
                    "at most 5 dimensions");
    Shape shape = weight.shape();
    shape.resize(isAffine ? 2 : x.order.size(), 1);
    NodeParameters parameters = {{"weight", *weight.reshaped(shape)}};
    if (hasBias)
      parameters.emplace_back("bias", *v.inputs[2]->constant);
    return {emit({x.node}, isAffine ? "affine" : "conv", std::move(settings), moduleOf(v.inputs[1]),
                 std::move(parameters)),
            x.order};
  }

  Placed makePooling(const ModelValue& v) {
    NodeSettings settings = {{"kernel", v.kernel}};
    if (v.stride != v.kernel)
      settings.emplace_back("stride", v.stride);
    if (!isAll(v.dilation, 1))
      settings.emplace_back("dilation", v.dilation);
    if (!isAll(v.low, 0) || !isAll(v.high, 0))
      settings.emplace_back("padding", v.low);
    if (v.low != v.high)
      settings.emplace_back("padding_high", v.high);
    if (v.ceil)
      settings.emplace_back("ceil", true);
    if (!v.isMaximum)
      settings.emplace_back("include_padding", v.includesPadding);
    return plain(v, v.isMaximum ? "maxpooling" : "averagepooling", std::move(settings));
  }

  Placed makeMean(const ModelValue& v) {
    const Placed x = place(v.inputs[0]);
    if (x.isRefused())
      return refused(&v);
    std::vector<int> space(x.order.begin() + std::min<std::ptrdiff_t>(2, std::ssize(x.order)),
                           x.order.end());
    std::erase(space, kAdded);
    std::sort(space.begin(), space.end());
    if (space == v.dims && !space.empty())
      return {emit({x.node}, "globalaveragepooling"), x.order};
    if (v.dims.size() != 1 || x.order.size() < 3)
      return refuse(v,
                    fmt::format("a mean over dimensions {} of [{}]", fmt::join(v.dims, ","),
                                fmt::join(v.inputs[0]->shape, ",")),
                    "the mean over all of space, or over channels");
    const Placed y = withChannel(v.inputs[0], v.dims[0]);
    if (y.isRefused())
      return refused(&v);
    const Index channels = v.inputs[0]->shape[at(v.dims[0])];
    if (channels == 0)
      return refuse(v, "a mean of nothing", "at least one channel");
    Shape shape = {1, channels};
    shape.resize(y.order.size(), 1);
    remark_ = "a mean over channels by a convolution";
    return {emit({y.node}, "conv",
                 {{"in_channels", channels},
                  {"out_channels", Index(1)},
                  {"kernel", Shape(y.order.size() - 2, 1)},
                  {"bias", false}},
                 "",
                 {{"weight", ModelConstant::ofNumbers(
                                 shape, std::vector<double>(static_cast<std::size_t>(channels),
                                                            1 / static_cast<double>(channels)))}},
                 true),
            y.order};
  }

  Placed makeResize(const ModelValue& v) {
    const Shape from(v.inputs[0]->shape.begin() + 2, v.inputs[0]->shape.end()),
        to(v.shape.begin() + 2, v.shape.end());
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
    return plain(v, "resample", std::move(settings));
  }

  // -- norms

  // With fixed statistics it is a map of each channel: (x - mean) / sqrt(var + epsilon) w + b.
  Placed makeBatchNorm(const ModelValue& v) {
    const Placed x = withChannel(v.inputs[0], 1);
    if (x.isRefused())
      return refused(&v);
    const auto numbersOf = [&](std::size_t i) {
      return weights_.folded(*v.inputs[i]->constant).numbers();
    };
    std::vector<double> scale = numbersOf(1), shift = numbersOf(2);
    const std::vector<double> mean = numbersOf(3), variance = numbersOf(4);
    for (std::size_t c = 0; c < scale.size(); ++c) {
      scale[c] /= std::sqrt(variance[c] + v.epsilon);
      shift[c] -= mean[c] * scale[c];
    }
    remark_ = "a batch norm with its statistics in the scale and the shift";
    return {emit({x.node}, "channelaffine", {{"channels", v.shape[1]}}, moduleOf(v.inputs[1]),
                 {{"scale", numbers(scale)}, {"shift", numbers(shift)}}),
            x.order};
  }

  Placed makeChannelNorm(const ModelValue& v) {
    const int x = inOrder(v.inputs[0]);
    if (x == kNoNode)
      return refused(&v);
    const bool hasWeights = v.inputs.size() > 1, isGroup = v.op == ModelOp::GroupNorm;
    NodeSettings settings = {
        {"channels", v.shape[1]}, {"epsilon", v.epsilon}, {"affine", hasWeights}};
    if (isGroup)
      settings.emplace_back("groups", v.groups);
    return {emit({x}, isGroup ? "groupnorm" : "instancenorm", std::move(settings),
                 hasWeights ? moduleOf(v.inputs[1]) : "", weightsOf(v),
                 hasWeights && moduleOf(v.inputs[1]).empty() && v.inputs[1]->constant->isNumbers()),
            plainOrder(v.rank())};
  }
  static NodeParameters weightsOf(const ModelValue& v) {
    if (v.inputs.size() < 3)
      return {};
    return {{"weight", *v.inputs[1]->constant}, {"bias", *v.inputs[2]->constant}};
  }

  Placed makeLayerNorm(const ModelValue& v) {
    const int x = inOrder(v.inputs[0]);
    if (x == kNoNode)
      return refused(&v);
    const bool hasWeights = v.inputs.size() > 1;
    return {emit({x}, "layernorm",
                 {{"shape", Shape(v.shape.end() - v.count, v.shape.end())},
                  {"epsilon", v.epsilon},
                  {"affine", hasWeights}},
                 hasWeights ? moduleOf(v.inputs[1]) : "", weightsOf(v)),
            plainOrder(v.rank())};
  }

  Placed makeDimensionNorm(const ModelValue& v) {
    std::vector<int> order = plainOrder(v.rank());
    order.erase(order.begin() + v.dim);
    order.push_back(v.dim);
    const int x = inOrder(v.inputs[0], order);
    if (x == kNoNode)
      return refused(&v);
    return {emit({x}, "layernorm",
                 {{"shape", Shape{v.shape[at(v.dim)]}}, {"epsilon", v.epsilon}, {"affine", false}}),
            order};
  }

  Placed makeSoftmax(const ModelValue& v) {
    const Placed x = place(v.inputs[0]);
    const int dim = placeOf(x, v.dim);
    if (x.isRefused())
      return refused(&v);
    if (dim < 0)
      return refuse(v, "a softmax over a dimension of extent 1", "the number 1");
    return {emit({x.node}, "softmax", {{"dim", Index(dim)}}), x.order};
  }

  // A transposed convolution of constants puts each channel where it belongs.
  Placed makePixelShuffle(const ModelValue& v) {
    const int x = inOrder(v.inputs[0]);
    if (x == kNoNode)
      return refused(&v);
    const Index in = v.inputs[0]->shape[1], r = v.factor;
    const std::vector<Index> window(at(v.rank() - 2), r);
    const Index cells = elements(window);
    Shape shape = {in, 1};
    shape.insert(shape.end(), window.begin(), window.end());
    if (in * cells > Index(1) << 23)
      return refuse(v, "a pixel shuffle of that many channels", "fewer channels");
    std::vector<double> weight(static_cast<std::size_t>(in * cells), 0.0);
    for (Index i = 0; i < in; ++i)
      weight[static_cast<std::size_t>(i * cells + i % cells)] = 1;
    remark_ = "a pixel shuffle by a transposed convolution";
    return {emit({x}, "transposedconv",
                 {{"in_channels", in},
                  {"out_channels", v.shape[1]},
                  {"kernel", window},
                  {"stride", window},
                  {"groups", v.shape[1]},
                  {"bias", false}},
                 "", {{"weight", ModelConstant::ofNumbers(shape, std::move(weight))}}, true),
            plainOrder(v.rank())};
  }

  Placed makeSpectral(const ModelValue& v) {
    const int x = inOrder(v.inputs[0]);
    if (x == kNoNode)
      return refused(&v);
    const auto weight =
        ModelConstant::concatenated({*v.inputs[1]->constant, *v.inputs[2]->constant}, 2);
    if (!weight)
      return refuse(v, "a spectral convolution with computed weights",
                    "weights that are parameters");
    return {emit({x}, "spectralconv",
                 {{"in_channels", v.inputs[0]->shape[1]},
                  {"out_channels", v.shape[1]},
                  {"modes", v.modeCount}},
                 moduleOf(v.inputs[1]), {{"weight", *weight}}),
            plainOrder(v.rank())};
  }

  ModelGraph& graph_;
  const ModelWeights& weights_;
  ImportedNetwork made_;
  std::map<Value, Placed> placed_;
  std::map<std::string, int> known_;
  std::set<std::string> names_;
  const ModelValue* current_ = nullptr;
  std::string remark_;
};

} // namespace

ImportedNetwork mapToLayers(ModelGraph& graph, const ModelWeights& weights) {
  return Mapper(graph, weights).run();
}

} // namespace tenon
