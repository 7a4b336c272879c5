// SPDX-License-Identifier: BSD-2-Clause
// Recurrent networks in ONNX, of one layer and one or both directions. Their gates are in another order than PyTorch's,
// which is that of the builder.
#include "import/onnx/rows.hpp"

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
ModelValues onnxSequence(const OnnxCall& c) {
  const bool isLstm = c.of[0] == 'l';
  const std::string direction = c.given.text("direction", "forward");
  const Value x = c.x(), w = c.given.neededInput(1), r = c.given.neededInput(2);
  const Index directions = direction == "bidirectional" ? 2 : 1, n = c.given.integer("hidden_size"),
              gates = isLstm ? 4 : 3;
  c.b.check(x->rank() == 3 && w->rank() == 3 && r->rank() == 3 && w->shape[0] == directions &&
                r->shape[0] == directions && w->shape[1] == gates * n && n >= 1,
            "its weights do not fit its hidden size");
  const bool isUsual = !c.given.has("activations") && !c.given.has("clip") && !c.at(4) &&
                       !c.at(7) && c.given.integer("layout", 0) == 0 &&
                       c.given.integer("input_forget", 0) == 0 &&
                       (isLstm || c.given.integer("linear_before_reset", 0) == 1);
  if (!isUsual)
    return ModelValues(isLstm ? 3 : 2, c.b.refuse("a recurrent network other than PyTorch's",
                                                  "LSTM or GRU of PyTorch",
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
  static constexpr OnnxRow rows[] = {{"GRU", onnxSequence, "gru"}, {"LSTM", onnxSequence, "lstm"}};
  return rows;
}

} // namespace tenon
