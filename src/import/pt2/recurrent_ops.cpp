// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators: recurrent cells, and recurrent networks of one or more layers in one or both
// directions. Each function reads the arguments of an operation by name (Operands) and appends
// values to the canonical graph by the builder b; self() is the first argument. The table at the
// end has a row per family of operators: name, function, and the function's last argument
// `variant`, which selects what a shared function computes (operator_rows.hpp). The weights of a
// network are a list, by layer, and by direction in each layer: W (for the input), R (for the
// state), and the two biases if there are any.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

using Gates = ModelBuilder::Gates;

// The gates of an operator: "lstm", "gru", or the function of a plain network.
Gates gatesOf(std::string_view variant) {
  return variant == "lstm" ? Gates::Lstm : variant == "gru" ? Gates::Gru : Gates::Plain;
}
ModelBuilder::Cell cellOf(const Operands& operands, const char* variant) {
  return {operands.needed("w_ih"), operands.needed("w_hh"), operands.value("b_ih"),
          operands.value("b_hh"),  gatesOf(variant),        variant};
}
// A cell whose state is h alone.
ModelValues cell(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.step(cellOf(operands, variant), {operands.needed("hx"), nullptr}, self(operands)).h};
}
// Reads a list of exactly `count` values, none of them absent.
ModelValues listed(ModelBuilder& b, const Operands& operands, const char* name, std::size_t count) {
  const ModelValues values = operands.values(name);
  b.check(values.size() == count &&
              std::find(values.begin(), values.end(), nullptr) == values.end(),
          "it has another number of states or weights");
  return values;
}
ModelValues lstmCell(ModelBuilder& b, const Operands& operands, const char* variant) {
  const ModelValues state = listed(b, operands, "hx", 2);
  const ModelBuilder::State next =
      b.step(cellOf(operands, variant), {state[0], state[1]}, self(operands));
  return {next.h, next.c};
}

// The arguments of a network of several layers, with its parameters in PyTorch's order.
struct Network {
  // weights: number of tensors of one layer in one direction.
  std::size_t layers, directions, weights;
  const char* variant;
  ModelValues parameters,
      states; // initial states h and c of all layers; c is null but for an LSTM

  Network(ModelBuilder& b, const Operands& operands, const char* kind)
      : layers(static_cast<std::size_t>(operands.integer("num_layers", 1))),
        directions(operands.flag("bidirectional", false) ? 2 : 1),
        weights(operands.flag("has_biases", true) ? 4 : 2), variant(kind) {
    constexpr std::size_t kMaxLayers = 64;
    b.check(layers >= 1 && layers <= kMaxLayers, "its number of layers is out of range");
    parameters = listed(b, operands, "params", layers * directions * weights);
    states = gatesOf(variant) == Gates::Lstm ? listed(b, operands, "hx", 2)
                                             : ModelValues{operands.needed("hx"), nullptr};
  }
  // Returns the cell of a layer and direction; i = layer * directions + direction.
  ModelBuilder::Cell cell(std::size_t i) const {
    const Value* first = &parameters[i * weights];
    const bool hasBiases = weights == 4;
    return {
        first[0],         first[1], hasBiases ? first[2] : nullptr, hasBiases ? first[3] : nullptr,
        gatesOf(variant), variant};
  }
  // Returns the initial state of a layer and direction.
  ModelBuilder::State beginning(ModelBuilder& b, std::size_t i) const {
    const auto part = [&](Value stacked) -> Value {
      if (!stacked)
        return nullptr;
      b.check(stacked->ndim() == 3, "its first state has not three dimensions");
      const auto index = static_cast<Index>(i);
      return b.reshape(b.slice(stacked, 0, index, index + 1),
                       {stacked->shape[1], stacked->shape[2]});
    };
    return {part(states[0]), part(states[1])};
  }
};

ModelValues recurrent(ModelBuilder& b, const Operands& operands, const char* variant) {
  const bool isLstm = gatesOf(variant) == Gates::Lstm,
             isBatchFirst = operands.flag("batch_first", false);
  Value x = self(operands);
  if (!operands.has("hx") || x->ndim() != 3 || operands.flag("train", false))
    return ModelValues(isLstm ? 3 : 2,
                       b.refuse("a recurrent network of a sequence without batch, or in training",
                                "an input of 3 dimensions, in eval mode", x->shape));
  if (isLstm && operands.values("params").size() ==
                    static_cast<std::size_t>(operands.integer("num_layers", 1)) *
                        (operands.flag("bidirectional", false) ? 2 : 1) *
                        (operands.flag("has_biases", true) ? 5 : 3))
    return ModelValues(3, b.refuse("a recurrent network with proj_size", "proj_size 0", x->shape));
  const Network network(b, operands, variant);
  x = isBatchFirst ? b.transpose(x, {1, 0, 2}) : x;
  // [batch, features] as one entry [1, batch, features] of a stack of states.
  const auto stacked = [&](Value value) {
    return b.reshape(value, {1, value->shape[0], value->shape[1]});
  };
  ModelValues h, c;
  for (std::size_t layer = 0; layer < network.layers; ++layer) {
    ModelValues outputs;
    for (std::size_t direction = 0; direction < network.directions; ++direction) {
      const std::size_t i = layer * network.directions + direction;
      const ModelBuilder::Sequence sequence =
          b.recurrence(network.cell(i), x, network.beginning(b, i),
                       /*isFromEnd=*/direction == 1);
      outputs.push_back(sequence.outputs);
      h.push_back(stacked(sequence.last.h));
      if (isLstm)
        c.push_back(stacked(sequence.last.c));
    }
    x = b.concatenate(outputs, 2);
  }
  ModelValues results = {isBatchFirst ? b.transpose(x, {1, 0, 2}) : x, b.concatenate(h, 0)};
  if (isLstm)
    results.push_back(b.concatenate(c, 0));
  return results;
}

} // namespace

std::span<const Pt2Row> pt2Recurrent() {
  static constexpr Pt2Row rows[] = {
      {"gru", recurrent, "gru"},       {"gru_cell", cell, "gru"},
      {"lstm", recurrent, "lstm"},     {"lstm_cell", lstmCell, "lstm"},
      {"rnn_relu", recurrent, "relu"}, {"rnn_relu_cell", cell, "relu"},
      {"rnn_tanh", recurrent, "tanh"}, {"rnn_tanh_cell", cell, "tanh"}};
  return rows;
}

} // namespace tenon
