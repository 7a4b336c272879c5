// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks (GRU and LSTM), unrolled: each time step becomes a set of canonical operators,
// which share their weights with all other steps. The gates are slices of one matrix product, in
// PyTorch's order:
//   GRU    0 reset r, 1 update z, 2 new n          h' = n + z (h - n), n = tanh(x_n + r h_n)
//   LSTM   0 input i, 1 forget f, 2 cell g, 3 output o    c' = f c + i g, h' = o tanh(c')
// Here x_n and h_n are slice 2 of the products of the input x and the state h with the weights
// (biases included), and r, z, i, f, o are sigmoids of the sums of their slices. The methods are
// members of ModelBuilder: binary(), unary(), slice(), ... append operators to the graph.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr Index kMaxSteps = 512; // bounds the size of the unrolled network

} // namespace

ModelBuilder::State ModelBuilder::advanced(const Cell& cell, Value inputPart, const State& state) {
  const Value statePart = linear(state.h, cell.hidden, cell.hiddenBias);
  const Index features = state.h->shape.back();
  const int last = statePart->rank() - 1;
  const auto gate = [&](Value x, Index i) {
    return slice(x, last, i * features, (i + 1) * features);
  };
  check(features > 0 && inputPart->shape == statePart->shape &&
            statePart->shape.back() == (cell.isLstm ? 4 : 3) * features,
        "the weights of a recurrent network do not fit its state");
  if (cell.isLstm) {
    const Value gates = binary("add", inputPart, statePart);
    const auto sigmoidGate = [&](Index i) { return unary("sigmoid", gate(gates, i)); };
    const Value c = binary("add", binary("mul", sigmoidGate(1), state.c),
                           binary("mul", sigmoidGate(0), unary("tanh", gate(gates, 2))));
    return {binary("mul", sigmoidGate(3), unary("tanh", c)), c};
  }
  const auto sigmoidGate = [&](Index i) {
    return unary("sigmoid", binary("add", gate(inputPart, i), gate(statePart, i)));
  };
  const Value fresh = unary(
      "tanh", binary("add", gate(inputPart, 2), binary("mul", sigmoidGate(0), gate(statePart, 2))));
  return {binary("add", fresh, binary("mul", sigmoidGate(1), binary("sub", state.h, fresh))),
          /*c=*/nullptr};
}

ModelBuilder::State ModelBuilder::step(const Cell& cell, const State& state, Value x) {
  return advanced(cell, linear(x, cell.input, cell.inputBias), state);
}

// The input products of all steps are one linear layer; only the state's products are sequential.
ModelBuilder::Sequence ModelBuilder::recurrence(const Cell& cell, Value x, State state,
                                                bool isFromEnd) {
  check(x->rank() == 3 && x->shape[0] >= 1, "a recurrent network needs [steps, batch, features]");
  const Index steps = x->shape[0];
  if (steps > kMaxSteps) {
    Shape shape = x->shape;
    shape[2] = state.h->shape.back();
    return {refuse(fmt::format("a recurrent network of {} steps", steps),
                   fmt::format("at most {} steps", kMaxSteps), shape),
            state};
  }
  const Value inputParts = linear(x, cell.input, cell.inputBias);
  ModelValues outputs(static_cast<std::size_t>(steps));
  for (Index i = 0; i < steps; ++i) {
    const Index position = isFromEnd ? steps - 1 - i : i;
    const Value inputPart = slice(inputParts, 0, position, position + 1);
    state = advanced(cell, reshape(inputPart, {inputPart->shape[1], inputPart->shape[2]}), state);
    outputs[static_cast<std::size_t>(position)] =
        reshape(state.h, {1, state.h->shape[0], state.h->shape[1]});
  }
  return {concatenate(outputs, 0), state};
}

} // namespace tenon
