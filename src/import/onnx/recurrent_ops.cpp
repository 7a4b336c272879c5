// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: GRU, LSTM and RNN of one layer, in one or both directions. The weights of all
// gates are stacked in one tensor [directions, gates * n, ...]; ONNX stacks the gates in another
// order than PyTorch. ModelBuilder uses PyTorch's order, so the blocks are reordered here
// (weightOf()):
//   LSTM   ONNX i o f c   PyTorch i f g o (g is ONNX's c)   blocks 0 2 3 1
//   GRU    ONNX z r h     PyTorch r z n (n is ONNX's h)     blocks 1 0 2
//
// The table of these operators is declared in operator_rows.hpp.
#include "import/onnx/operator_rows.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Returns row i of the first dimension (the direction), with the blocks of the gates in the order
// `gates`.
Value weightOf(const OnnxCall& c, Value stacked, Index i, const std::vector<Index>& gates) {
  Shape shape(stacked->shape.begin() + 1, stacked->shape.end());
  const Value row = c.b.reshape(c.b.slice(stacked, 0, i, i + 1), shape);
  const auto count = static_cast<Index>(gates.size()), n = shape.empty() ? 0 : shape[0] / count;
  ModelValues parts;
  for (const Index gate : gates)
    parts.push_back(c.b.slice(row, 0, gate * n, (gate + 1) * n));
  return c.b.concatenate(parts, 0);
}
// The kinds of recurrent networks: the gates in ONNX's order for PyTorch's, and the default
// activations of one direction.
struct Kind {
  ModelBuilder::Gates gates;
  std::vector<Index> order;
  std::vector<std::string> activations;
};
Kind kindOf(const OnnxCall& c) {
  using Gates = ModelBuilder::Gates;
  const std::string type = c.function;
  if (type == "lstm")
    return {Gates::Lstm, {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}};
  if (type == "rnn")
    return {Gates::Plain, {0}, {"Tanh"}};
  return {c.operands.flag("linear_before_reset", false) ? Gates::Gru : Gates::GruOfReset,
          {1, 0, 2},
          {"Sigmoid", "Tanh"}};
}
// Returns the builder's name of the activation of a plain network in one direction, or "" for one
// that is not known; for the others whether the activations are the default ones ("tanh" or "").
std::string activationOf(const OnnxCall& c, const Kind& kind, Index direction) {
  const std::vector<std::string> names = c.operands.texts("activations");
  const std::size_t period = kind.activations.size();
  const std::size_t first = static_cast<std::size_t>(direction) * period;
  if (names.empty())
    return "tanh";
  if (names.size() < first + period)
    return "";
  if (kind.gates != ModelBuilder::Gates::Plain)
    return std::equal(kind.activations.begin(), kind.activations.end(),
                      names.begin() + static_cast<std::ptrdiff_t>(first))
               ? "tanh"
               : "";
  static const std::map<std::string, std::string, std::less<>> functions = {
      {"Tanh", "tanh"}, {"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Softsign", "softsign"}};
  const auto found = functions.find(names[first]);
  return found == functions.end() ? "" : found->second;
}
// Whether all sequences have all steps.
bool hasFullLength(const OnnxCall& c, Index steps) {
  if (!c.at(4))
    return true;
  if (!c.at(4)->isKnown())
    return false;
  const std::vector<Index> lengths = c.b.integersOf(c.at(4), "lengths of sequences");
  return std::ranges::all_of(lengths, [steps](Index n) { return n == steps; });
}
// The weights and biases of one direction.
ModelBuilder::Cell cellOf(const OnnxCall& c, const Kind& kind, Index direction, Index n) {
  const auto part = [&](Value stacked) { return weightOf(c, stacked, direction, kind.order); };
  ModelBuilder::Cell cell = {part(c.operands.neededInput(1)),
                             part(c.operands.neededInput(2)),
                             nullptr,
                             nullptr,
                             kind.gates,
                             activationOf(c, kind, direction)};
  if (const Value biases = c.at(3)) {
    const Index rows = static_cast<Index>(kind.order.size()) * n;
    c.b.check(biases->ndim() == 2 && biases->shape[0] == c.operands.neededInput(1)->shape[0] &&
                  biases->shape[1] == 2 * rows,
              "its biases have another shape");
    cell.inputBias = part(c.b.slice(biases, 1, 0, rows));
    cell.hiddenBias = part(c.b.slice(biases, 1, rows, 2 * rows));
  }
  return cell;
}
// Inputs 0 to 7: x, W, R (weights of x and of the state), biases, lengths of the sequences, initial
// h, initial c, peepholes. Missing initial states are 0. x is [steps, batch, features], and states
// are [directions, batch, features]; with layout 1 the batch is first.
ModelValues onnxSequence(const OnnxCall& c) {
  const Kind kind = kindOf(c);
  const bool isLstm = kind.gates == ModelBuilder::Gates::Lstm;
  const std::string direction = c.operands.text("direction", "forward");
  c.b.check(direction == "forward" || direction == "reverse" || direction == "bidirectional",
            "its direction is not known");
  const bool isBatchFirst = c.operands.flag("layout", false);
  const auto turned = [&](Value v) { // exchanges the batch with the dimension beside it
    return isBatchFirst && v && v->ndim() == 3 ? c.b.transpose(v, {1, 0, 2}) : v;
  };
  const Value x = turned(c.x()), w = c.operands.neededInput(1), r = c.operands.neededInput(2);
  const Index directions = direction == "bidirectional" ? 2 : 1,
              n = c.operands.integer("hidden_size"), gates = static_cast<Index>(kind.order.size());
  c.b.check(x->ndim() == 3 && w->ndim() == 3 && r->ndim() == 3 && w->shape[0] == directions &&
                r->shape[0] == directions && n >= 1 && w->shape[1] == gates * n,
            "its weights do not fit its hidden size");
  bool isUsual = hasFullLength(c, x->shape[0]) && !c.at(7);
  for (Index i = 0; i < directions; ++i)
    isUsual = isUsual && !activationOf(c, kind, i).empty();
  if (!isUsual)
    return ModelValues(isLstm ? 3 : 2,
                       c.b.refuse("a recurrent network with other activations than PyTorch's, "
                                  "peepholes, or sequences of different lengths",
                                  "LSTM, GRU and RNN with the default activations, or an RNN with "
                                  "Relu, Sigmoid or Softsign",
                                  {x->shape[0], directions, x->shape[1], n}));
  const Shape stateShape = {directions, x->shape[1], n};
  const auto initial = [&](std::size_t place, Index i) {
    const Value states = c.at(place) ? turned(c.at(place)) : c.b.expand(c.b.number(0), stateShape);
    c.b.check(states->shape == stateShape, "its first state has another shape");
    return c.b.reshape(c.b.slice(states, 0, i, i + 1), {stateShape[1], n});
  };
  ModelValues outputs, lastH, lastC;
  for (Index i = 0; i < directions; ++i) {
    const bool isFromEnd = i == 1 || direction == "reverse";
    const ModelBuilder::Sequence sequence = c.b.recurrence(
        cellOf(c, kind, i, n), x, {initial(5, i), isLstm ? initial(6, i) : nullptr}, isFromEnd);
    outputs.push_back(c.b.reshape(sequence.outputs, {x->shape[0], 1, x->shape[1], n}));
    lastH.push_back(c.b.reshape(sequence.last.h, {1, x->shape[1], n}));
    if (isLstm)
      lastC.push_back(c.b.reshape(sequence.last.c, {1, x->shape[1], n}));
  }
  const Value joined = c.b.concatenate(outputs, 1);
  ModelValues results = {isBatchFirst ? c.b.transpose(joined, {2, 0, 1, 3}) : joined,
                         turned(c.b.concatenate(lastH, 0))};
  if (isLstm)
    results.push_back(turned(c.b.concatenate(lastC, 0)));
  return results;
}

} // namespace

std::span<const OnnxRow> onnxRecurrent() {
  static constexpr OnnxRow rows[] = {
      {"GRU", onnxSequence, "gru", 6,
       "activations direction hidden_size layout linear_before_reset"},
      {"LSTM", onnxSequence, "lstm", 8, "activations direction hidden_size input_forget=0 layout"},
      {"RNN", onnxSequence, "rnn", 6, "activations direction hidden_size layout"}};
  return rows;
}

} // namespace tenon
