// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks (GRU, LSTM, plain), unrolled: each time step becomes a set of canonical
// operators, which share their weights with all other steps. The gates are slices of one matrix
// product, in PyTorch's order:
//   GRU    0 reset r, 1 update z, 2 new n          h' = n + z (h - n), n = tanh(x_n + r h_n)
//          or, with the reset before the product,  n = tanh(x_n + (r h) W_n)
//   plain  one sum                                 h' = tanh(x + h W), or another function
//   LSTM   0 input i, 1 forget f, 2 cell g, 3 output o    c' = f c + i g, h' = o tanh(c')
// Here x_n and h_n are slice 2 of the products of the input x and the state h with the weights
// (biases included), W_n are the state's weights of slice 2, and r, z, i, f, o are sigmoids of the
// sums of their slices. The methods are members of ModelBuilder: binary(), unary(), slice(), ...
// append operators to the graph. The functions are members of ModelBuilder (model_builder.hpp).
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr Index kMaxSteps = 512; // bounds the size of the unrolled network

// Slice i of the `count` gates in the last dimension.
ModelBuilder::Value gateOf(ModelBuilder& b, ModelBuilder::Value gates, Index i, Index count) {
  const Index features = gates->shape.back() / count;
  return b.slice(gates, gates->ndim() - 1, i * features, (i + 1) * features);
}

} // namespace

// The state c is not part of a gate.
ModelBuilder::State ModelBuilder::advancedLstm(Value gates, const State& state) {
  const auto sigmoidGate = [&](Index i) { return unary("sigmoid", gateOf(*this, gates, i, 4)); };
  const Value c = binary("add", binary("mul", sigmoidGate(1), state.c),
                         binary("mul", sigmoidGate(0), unary("tanh", gateOf(*this, gates, 2, 4))));
  return {binary("mul", sigmoidGate(3), unary("tanh", c)), c};
}

ModelBuilder::Value ModelBuilder::advancedGru(const Cell& cell, Value inputPart, Value h) {
  const Index n = h->shape.back();
  const bool isOfReset = cell.gates == Gates::GruOfReset;
  const auto partOf = [&](Value weights, Index begin, Index end) {
    return weights ? slice(weights, 0, begin * n, end * n) : nullptr;
  };
  // The part of the new values n is a product of its own if it needs the reset gate first.
  const Index count = isOfReset ? 2 : 3;
  const Value statePart =
      linear(h, partOf(cell.hidden, 0, count), partOf(cell.hiddenBias, 0, count));
  const auto sigmoidGate = [&](Index i) {
    return unary("sigmoid",
                 binary("add", gateOf(*this, inputPart, i, 3), gateOf(*this, statePart, i, count)));
  };
  const Value newPart = isOfReset ? linear(binary("mul", sigmoidGate(0), h),
                                           partOf(cell.hidden, 2, 3), partOf(cell.hiddenBias, 2, 3))
                                  : binary("mul", sigmoidGate(0), gateOf(*this, statePart, 2, 3));
  const Value fresh = unary("tanh", binary("add", gateOf(*this, inputPart, 2, 3), newPart));
  return binary("add", fresh, binary("mul", sigmoidGate(1), binary("sub", h, fresh)));
}

ModelBuilder::State ModelBuilder::advanced(const Cell& cell, Value inputPart, const State& state) {
  const Index features = state.h->shape.back();
  Shape expected = state.h->shape;
  expected.back() = cell.count() * features;
  check(features > 0 && inputPart->shape == expected &&
            cell.hidden->shape == Shape{cell.count() * features, features},
        "the weights of a recurrent network do not fit its state");
  if (cell.gates == Gates::Gru || cell.gates == Gates::GruOfReset)
    return {advancedGru(cell, inputPart, state.h), /*c=*/nullptr};
  const Value sum = binary("add", inputPart, linear(state.h, cell.hidden, cell.hiddenBias));
  if (cell.gates == Gates::Plain)
    return {unary(cell.function, sum), /*c=*/nullptr};
  return advancedLstm(sum, state);
}

ModelBuilder::State ModelBuilder::step(const Cell& cell, const State& state, Value x) {
  return advanced(cell, linear(x, cell.input, cell.inputBias), state);
}

// The input products of all steps are one linear layer; only the state's products are sequential.
ModelBuilder::Sequence ModelBuilder::recurrence(const Cell& cell, Value x, State state,
                                                bool isFromEnd) {
  check(x->ndim() == 3 && x->shape[0] >= 1, "a recurrent network needs [steps, batch, features]");
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
