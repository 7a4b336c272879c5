// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks in ONNX, of one layer and one or both directions. Their gates are in another
// order than PyTorch's, which is that of the builder.
#include "import/onnx/operator_rows.hpp"

#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Row i of the first dimension, of which each gate's part is brought to its place.
Value weightOf(const OnnxCall& c, Value all, Index i, std::initializer_list<Index> gates) {
  Shape shape(all->shape.begin() + 1, all->shape.end());
  const Value its = c.b.reshape(c.b.slice(all, 0, i, i + 1), shape);
  const auto count = static_cast<Index>(gates.size()), n = shape.empty() ? 0 : shape[0] / count;
  ModelValues parts;
  for (const Index gate : gates)
    parts.push_back(c.b.slice(its, 0, gate * n, (gate + 1) * n));
  return c.b.concatenate(parts, 0);
}
// They may be named although they are the default.
bool hasUsualActivations(const OnnxCall& c, Index directions, bool isLstm) {
  const std::vector<std::string> named = c.given.texts("activations");
  const std::size_t each = isLstm ? 3 : 2;
  bool areUsual = named.empty() || named.size() == each * static_cast<std::size_t>(directions);
  for (std::size_t i = 0; i < named.size(); ++i)
    areUsual = areUsual && named[i] == (i % each == 0 ? "Sigmoid" : "Tanh");
  return areUsual;
}
ModelValues onnxSequence(const OnnxCall& c) {
  const bool isLstm = c.of[0] == 'l';
  const std::string direction = c.given.text("direction", "forward");
  c.b.check(direction == "forward" || direction == "reverse" || direction == "bidirectional",
            "its direction is not known");
  const Value x = c.x(), w = c.given.neededInput(1), r = c.given.neededInput(2);
  const Index directions = direction == "bidirectional" ? 2 : 1, n = c.given.integer("hidden_size"),
              gates = isLstm ? 4 : 3;
  c.b.check(x->rank() == 3 && w->rank() == 3 && r->rank() == 3 && w->shape[0] == directions &&
                r->shape[0] == directions && w->shape[1] == gates * n && n >= 1,
            "its weights do not fit its hidden size");
  const bool isUsual = hasUsualActivations(c, directions, isLstm) && !c.at(4) && !c.at(7) &&
                       (isLstm || c.given.integer("linear_before_reset", 0) == 1);
  if (!isUsual)
    return ModelValues(isLstm ? 3 : 2,
                       c.b.refuse("a recurrent network with other gates than PyTorch's, peepholes "
                                  "or lengths of sequences",
                                  "LSTM or GRU of PyTorch (a GRU with linear_before_reset = 1)",
                                  {x->shape[0], directions, x->shape[1], n}));
  const Shape stateShape = {directions, x->shape[1], n};
  const auto initial = [&](std::size_t place, Index i) {
    const Value all = c.at(place) ? c.at(place) : c.b.expand(c.b.number(0), stateShape);
    c.b.check(all->shape == stateShape, "its first state has another shape");
    return c.b.reshape(c.b.slice(all, 0, i, i + 1), {stateShape[1], n});
  };
  ModelValues outputs, h, last;
  for (Index i = 0; i < directions; ++i) {
    const auto part = [&](Value all) {
      return isLstm ? weightOf(c, all, i, {0, 2, 3, 1}) : weightOf(c, all, i, {1, 0, 2});
    };
    ModelBuilder::Cell cell = {part(w), part(r), nullptr, nullptr, isLstm};
    if (const Value biases = c.at(3)) {
      c.b.check(biases->shape == Shape{directions, 2 * gates * n}, "its biases have another shape");
      cell.inputBias = part(c.b.slice(biases, 1, 0, gates * n));
      cell.hiddenBias = part(c.b.slice(biases, 1, gates * n, 2 * gates * n));
    }
    const bool isFromEnd = i == 1 || direction == "reverse";
    const ModelBuilder::Sequence made =
        c.b.recurrence(cell, x, {initial(5, i), isLstm ? initial(6, i) : nullptr}, isFromEnd);
    outputs.push_back(c.b.reshape(made.outputs, {x->shape[0], 1, x->shape[1], n}));
    h.push_back(c.b.reshape(made.last.h, {1, x->shape[1], n}));
    if (isLstm)
      last.push_back(c.b.reshape(made.last.c, {1, x->shape[1], n}));
  }
  ModelValues results = {c.b.concatenate(outputs, 1), c.b.concatenate(h, 0)};
  if (isLstm)
    results.push_back(c.b.concatenate(last, 0));
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
