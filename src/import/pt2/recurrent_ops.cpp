// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's recurrent cells, and networks of one or several layers and one or both directions.
// Weights come layer by layer, and in each the directions one after the other.
#include "import/pt2/operator_rows.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelBuilder::Cell cellOf(const Operands& given, bool isLstm) {
  return {given.needed("w_ih"), given.needed("w_hh"), given.value("b_ih"), given.value("b_hh"),
          isLstm};
}
ModelValues gruCell(ModelBuilder& b, const Operands& given, const char*) {
  return {b.step(cellOf(given, false), {given.needed("hx"), nullptr}, self(given)).h};
}
// A list of so many values, all of them there.
ModelValues listed(ModelBuilder& b, const Operands& given, const char* name, std::size_t count) {
  const ModelValues values = given.values(name);
  b.check(values.size() == count &&
              std::find(values.begin(), values.end(), nullptr) == values.end(),
          "it has another number of states or weights");
  return values;
}
ModelValues lstmCell(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues state = listed(b, given, "hx", 2);
  const ModelBuilder::State made = b.step(cellOf(given, true), {state[0], state[1]}, self(given));
  return {made.h, made.c};
}

// What a network of several layers is given, with its parameters in PyTorch's order.
struct Network {
  std::size_t layers, directions, weights; // weights: tensors of one layer in one direction
  bool isLstm;
  ModelValues parameters,
      states; // states: h and c of the beginning, of all layers; c null for a GRU

  Network(ModelBuilder& b, const Operands& given, bool isLstmNetwork)
      : layers(static_cast<std::size_t>(given.integer("num_layers", 1))),
        directions(given.flag("bidirectional", false) ? 2 : 1),
        weights(given.flag("has_biases", true) ? 4 : 2), isLstm(isLstmNetwork) {
    constexpr std::size_t kMaxLayers = 64;
    b.check(layers >= 1 && layers <= kMaxLayers, "its number of layers is out of range");
    parameters = listed(b, given, "params", layers * directions * weights);
    states = isLstm ? listed(b, given, "hx", 2) : ModelValues{given.needed("hx"), nullptr};
  }
  // i counts directions within layers.
  ModelBuilder::Cell cell(std::size_t i) const {
    const Value* first = &parameters[i * weights];
    const bool hasBiases = weights == 4;
    return {first[0], first[1], hasBiases ? first[2] : nullptr, hasBiases ? first[3] : nullptr,
            isLstm};
  }
  ModelBuilder::State beginning(ModelBuilder& b, std::size_t i) const {
    const auto part = [&](Value all) -> Value {
      if (!all)
        return nullptr;
      b.check(all->rank() == 3, "its first state has not three dimensions");
      const auto at = static_cast<Index>(i);
      return b.reshape(b.slice(all, 0, at, at + 1), {all->shape[1], all->shape[2]});
    };
    return {part(states[0]), part(states[1])};
  }
};

ModelValues recurrent(ModelBuilder& b, const Operands& given, const char* of) {
  const bool isLstm = *of == 'l', isBatchFirst = given.flag("batch_first", false);
  Value x = self(given);
  if (!given.has("hx") || x->rank() != 3 || given.flag("train", false))
    return ModelValues(isLstm ? 3 : 2,
                       b.refuse("a recurrent network of a sequence without batch, or in training",
                                "an input of 3 dimensions, in eval mode", x->shape));
  const Network network(b, given, isLstm);
  x = isBatchFirst ? b.transpose(x, {1, 0, 2}) : x;
  const auto stacked = [&](Value value) {
    return b.reshape(value, {1, value->shape[0], value->shape[1]});
  };
  ModelValues h, c;
  for (std::size_t layer = 0; layer < network.layers; ++layer) {
    ModelValues outputs;
    for (std::size_t direction = 0; direction < network.directions; ++direction) {
      const std::size_t i = layer * network.directions + direction;
      const ModelBuilder::Sequence made =
          b.recurrence(network.cell(i), x, network.beginning(b, i), direction == 1);
      outputs.push_back(made.outputs);
      h.push_back(stacked(made.last.h));
      if (isLstm)
        c.push_back(stacked(made.last.c));
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
  static constexpr Pt2Row rows[] = {{"gru", recurrent, "gru"},
                                    {"gru_cell", gruCell},
                                    {"lstm", recurrent, "lstm"},
                                    {"lstm_cell", lstmCell}};
  return rows;
}

} // namespace tenon
