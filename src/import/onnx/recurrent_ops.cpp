// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: GRU and LSTM of one layer, in one or both directions. The weights of all gates
// are stacked in one tensor [directions, gates * n, ...]; ONNX stacks the gates in another order
// than PyTorch. ModelBuilder uses PyTorch's order, so the blocks are reordered here (weightOf()):
//   LSTM   ONNX i o f c   PyTorch i f g o (g is ONNX's c)   blocks 0 2 3 1
//   GRU    ONNX z r h     PyTorch r z n (n is ONNX's h)     blocks 1 0 2
#include "import/onnx/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Returns row i of the first dimension (the direction), with the blocks of the gates in the order
// `gates`.
Value weightOf(const OnnxCall& c, Value stacked, Index i, std::initializer_list<Index> gates) {
  Shape shape(stacked->shape.begin() + 1, stacked->shape.end());
  const Value row = c.b.reshape(c.b.slice(stacked, 0, i, i + 1), shape);
  const auto count = static_cast<Index>(gates.size()), n = shape.empty() ? 0 : shape[0] / count;
  ModelValues parts;
  for (const Index gate : gates)
    parts.push_back(c.b.slice(row, 0, gate * n, (gate + 1) * n));
  return c.b.concatenate(parts, 0);
}
// Whether the activations are the default ones, which a file can state explicitly.
bool hasUsualActivations(const OnnxCall& c, Index directions, bool isLstm) {
  const std::vector<std::string> names = c.operands.texts("activations");
  const std::size_t period = isLstm ? 3 : 2; // activations of one direction
  bool areUsual = names.empty() || names.size() == period * static_cast<std::size_t>(directions);
  for (std::size_t i = 0; i < names.size(); ++i)
    areUsual = areUsual && names[i] == (i % period == 0 ? "Sigmoid" : "Tanh");
  return areUsual;
}
// Inputs 0 to 7: x, W, R (weights of x and of the state), biases, lengths of the sequences, initial
// h, initial c, peepholes. Missing initial states are 0. x is [steps, batch, features].
ModelValues onnxSequence(const OnnxCall& c) {
  const bool isLstm = c.function[0] == 'l'; // "lstm" or "gru"
  const std::string direction = c.operands.text("direction", "forward");
  c.b.check(direction == "forward" || direction == "reverse" || direction == "bidirectional",
            "its direction is not known");
  const Value x = c.x(), w = c.operands.neededInput(1), r = c.operands.neededInput(2);
  const Index directions = direction == "bidirectional" ? 2 : 1,
              n = c.operands.integer("hidden_size"), gates = isLstm ? 4 : 3;
  c.b.check(x->rank() == 3 && w->rank() == 3 && r->rank() == 3 && w->shape[0] == directions &&
                r->shape[0] == directions && w->shape[1] == gates * n && n >= 1,
            "its weights do not fit its hidden size");
  // Peepholes, lengths of sequences, and ONNX's default form of the GRU have no equivalent in
  // PyTorch.
  const bool isUsual = hasUsualActivations(c, directions, isLstm) && !c.at(4) && !c.at(7) &&
                       (isLstm || c.operands.integer("linear_before_reset", 0) == 1);
  if (!isUsual)
    return ModelValues(isLstm ? 3 : 2,
                       c.b.refuse("a recurrent network with other gates than PyTorch's, peepholes "
                                  "or lengths of sequences",
                                  "LSTM or GRU of PyTorch (a GRU with linear_before_reset = 1)",
                                  {x->shape[0], directions, x->shape[1], n}));
  const Shape stateShape = {directions, x->shape[1], n};
  const auto initial = [&](std::size_t place, Index i) {
    const Value states = c.at(place) ? c.at(place) : c.b.expand(c.b.number(0), stateShape);
    c.b.check(states->shape == stateShape, "its first state has another shape");
    return c.b.reshape(c.b.slice(states, 0, i, i + 1), {stateShape[1], n});
  };
  ModelValues outputs, lastH, lastC;
  for (Index i = 0; i < directions; ++i) {
    const auto part = [&](Value stacked) {
      return isLstm ? weightOf(c, stacked, i, {0, 2, 3, 1}) : weightOf(c, stacked, i, {1, 0, 2});
    };
    ModelBuilder::Cell cell = {part(w), part(r), nullptr, nullptr, isLstm};
    if (const Value biases = c.at(3)) {
      c.b.check(biases->shape == Shape{directions, 2 * gates * n}, "its biases have another shape");
      cell.inputBias = part(c.b.slice(biases, 1, 0, gates * n));
      cell.hiddenBias = part(c.b.slice(biases, 1, gates * n, 2 * gates * n));
    }
    const bool isFromEnd = i == 1 || direction == "reverse";
    const ModelBuilder::Sequence sequence =
        c.b.recurrence(cell, x, {initial(5, i), isLstm ? initial(6, i) : nullptr}, isFromEnd);
    outputs.push_back(c.b.reshape(sequence.outputs, {x->shape[0], 1, x->shape[1], n}));
    lastH.push_back(c.b.reshape(sequence.last.h, {1, x->shape[1], n}));
    if (isLstm)
      lastC.push_back(c.b.reshape(sequence.last.c, {1, x->shape[1], n}));
  }
  ModelValues results = {c.b.concatenate(outputs, 1), c.b.concatenate(lastH, 0)};
  if (isLstm)
    results.push_back(c.b.concatenate(lastC, 0));
  return results;
}

} // namespace

std::span<const OnnxRow> onnxRecurrent() {
  static constexpr OnnxRow rows[] = {
      {"GRU", onnxSequence, "gru", 6,
       "activations direction hidden_size layout=0 linear_before_reset"},
      {"LSTM", onnxSequence, "lstm", 8,
       "activations direction hidden_size input_forget=0 layout=0"}};
  return rows;
}

} // namespace tenon
