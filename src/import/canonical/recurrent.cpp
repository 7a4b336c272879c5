// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks, step by step: each step is layers that share their weights. The gates are in
// PyTorch's order, reset, update and new ones of a GRU, input, forget, cell and output ones of an
// LSTM.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr Index kMaxSteps = 512;

} // namespace

ModelBuilder::State ModelBuilder::advanced(const Cell& cell, Value given, const State& state) {
  const Value own = linear(state.h, cell.hidden, cell.hiddenBias);
  const Index n = state.h->shape.back();
  const int last = own->rank() - 1;
  const auto gate = [&](Value x, Index i) { return slice(x, last, i * n, (i + 1) * n); };
  check(n > 0 && given->shape == own->shape && own->shape.back() == (cell.isLstm ? 4 : 3) * n,
        "the weights of a recurrent network do not fit its state");
  if (cell.isLstm) {
    const Value all = binary("add", given, own);
    const auto open = [&](Index i) { return unary("sigmoid", gate(all, i)); };
    const Value c = binary("add", binary("mul", open(1), state.c),
                           binary("mul", open(0), unary("tanh", gate(all, 2))));
    return {binary("mul", open(3), unary("tanh", c)), c};
  }
  const auto open = [&](Index i) {
    return unary("sigmoid", binary("add", gate(given, i), gate(own, i)));
  };
  const Value fresh =
      unary("tanh", binary("add", gate(given, 2), binary("mul", open(0), gate(own, 2))));
  return {binary("add", fresh, binary("mul", open(1), binary("sub", state.h, fresh))), nullptr};
}

ModelBuilder::State ModelBuilder::step(const Cell& cell, const State& state, Value x) {
  return advanced(cell, linear(x, cell.input, cell.inputBias), state);
}

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
  const Value given = linear(x, cell.input, cell.inputBias);
  ModelValues made(static_cast<std::size_t>(steps));
  for (Index i = 0; i < steps; ++i) {
    const Index at = isFromEnd ? steps - 1 - i : i;
    const Value now = slice(given, 0, at, at + 1);
    state = advanced(cell, reshape(now, {now->shape[1], now->shape[2]}), state);
    made[static_cast<std::size_t>(at)] =
        reshape(state.h, {1, state.h->shape[0], state.h->shape[1]});
  }
  return {concatenate(made, 0), state};
}

} // namespace tenon
