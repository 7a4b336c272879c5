// SPDX-License-Identifier: BSD-2-Clause
// What a layer adds to the memory of a process under a parallelization: m_v of the cost function
// (cost_model.hpp), which depends on no other layer:
//
//   parameters   the value; in training the gradient, its partial sums and sums, and the state of
//                the optimizer
//   saved        activations that the adjoint of the layer, or of a reader, reads
//
// Which activations these are follows from the map list of the layer and is equal for all
// parallelizations; how many bytes they have follows from its form.
#pragma once

#include "planner/parallelizations/declared_network.hpp"
#include "planner/parallelizations/native_layouts.hpp"
#include "planner/prices/layer_prices.hpp"

namespace tenon {

// Which activations the adjoint of a layer or a dependent reads.
struct SavedActivations {
  bool input = false, output = false;
  bool inputInPlace = false; // the input is read in place, without a copy
  double perOutput = 0;      // bytes of workspaces per element of the output
};

// Counts the bytes of the layers of one network.
class LayerBytes {
public:
  LayerBytes(const DeclaredNetwork& network, bool trains, Index optimizerStates)
      : elementBytes_(network.elementBytes), stackDepth_(network.stackDepth),
        savesRounded_(network.savesRounded), trains_(trains), optimizerStates_(optimizerStates) {}

  // Of a layer and its dependents. `native` are their layouts in a network with lists, or null.
  std::vector<SavedActivations> savedOf(const DeclaredLayer& layer,
                                        const NativeLayouts* native) const;
  // Bytes of the process that has the most elements.
  double bytesOf(const Layout& layout) const;

  void addParameter(const Layout& use, bool frozen, ParallelizationCost& cost) const;
  // Adds what the adjoint reads of a layer with this form, and its temporary values.
  // `outputIsSaved`: the adjoint of a reader reads the output.
  void addActivations(const SavedActivations& saved, bool outputIsSaved, const Form& form,
                      ParallelizationCost& cost) const;

private:
  SavedActivations savedOf(const Declaration& declaration, const Layouts& inputs) const;

  Index elementBytes_, stackDepth_;
  bool savesRounded_, trains_;
  Index optimizerStates_;
};

// By layer and output (its own, then those of its dependents): whether the adjoint of a layer that
// reads it in place reads it again, and it is therefore saved. `saved` has the activations of each
// layer and its dependents.
std::vector<std::vector<bool>>
outputsReadAgain(const DeclaredNetwork& network,
                 const std::vector<std::vector<SavedActivations>>& saved);

} // namespace tenon
