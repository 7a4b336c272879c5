// SPDX-License-Identifier: BSD-2-Clause
// A recurrent cell in the canonical graph, for ModelBuilder::recurrence(): its weights, and what
// its time steps give.
#pragma once

#include "sys/types.hpp"

#include <string>

namespace tenon {

struct ModelValue;

// GruOfReset multiplies the state by the reset gate before its product with the weights, Gru
// afterwards. Plain is h' = function(sum).
enum class ModelGates { Lstm, Gru, GruOfReset, Plain };

// Weights [gates, features]; biases may be null.
struct ModelCell {
  const ModelValue *input, *hidden, *inputBias, *hiddenBias;
  ModelGates gates;
  std::string function = "tanh"; // of Plain
  Index count() const { return gates == ModelGates::Lstm ? 4 : gates == ModelGates::Plain ? 1 : 3; }
};

// That of an LSTM is h and c, that of the others h.
struct ModelCellState {
  const ModelValue *h, *c;
};

struct ModelSequence {
  const ModelValue* outputs; // h of all steps, [steps, batch, features]
  ModelCellState last;
};

} // namespace tenon
