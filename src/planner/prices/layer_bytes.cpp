// SPDX-License-Identifier: BSD-2-Clause
// Counts the bytes that a layer adds to the memory of a process (layer_bytes.hpp). For example, of
// a convolution and the rectifier that follows it, both adjoints read an array: that of the
// convolution its input, which is saved with the halo if it needs one; that of the rectifier its
// own output, which the layer that reads it saves too, but only once.
#include "planner/prices/layer_bytes.hpp"

#include "sys/bfloat16.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Layouts of tensors of these shapes on a process grid of one rank.
Layouts onOneProcess(const std::vector<Shape>& shapes) {
  const GridPtr one = Grid::make({1});
  Layouts layouts;
  for (const Shape& shape : shapes)
    layouts.push_back(Layout({.shape = shape, .grid = one, .properties = {Property::broadcast()}}));
  return layouts;
}

double elementsOf(const Layout& layout, int rank) {
  return double(elements(layout.boxOfRank(rank)));
}

int rankWithMost(const Layout& layout) {
  return *std::ranges::max_element(layout.grid().ranks(), {},
                                   [&](int rank) { return elementsOf(layout, rank); });
}

} // namespace

double LayerBytes::bytesOf(const Layout& layout) const {
  return double(elementBytes_) * double(mostElements(layout));
}

// The activations that a layer saves for its adjoint. They do not depend on the distribution, so
// they are determined for any legal inputs: on one process, or in the native layouts.
SavedActivations LayerBytes::savedOf(const Declaration& declaration, const Layouts& inputs) const {
  const Form form = declaration.form(inputs, {});
  const int rank = rankWithMost(form.output);
  Layouts storage;
  for (const ParameterForm& parameter : form.parameters)
    storage.push_back(parameter.use);
  const MapList list = declaration.maps(form, storage);
  SavedActivations saved;
  double others = double(list.savedBytes(rank, elementBytes_));
  for (ValueId v = 0; v < static_cast<ValueId>(list.values().size()); ++v) {
    const Value& value = list.values()[v];
    if (!value.saved)
      continue;
    const auto isAmong = [&](const std::vector<ValueId>& ids) {
      return std::ranges::any_of(
          ids, [&](ValueId other) { return other == v || other == value.sharesMemoryOf; });
    };
    const bool isOutput = isAmong(list.outputs()), isInPlace = isAmong(list.inputs());
    // A value with the shape of an input is taken for this input after a conversion.
    const bool isInput =
        !isOutput && (isInPlace || std::ranges::any_of(inputs, [&](const Layout& input) {
                        return value.layout.shape() == input.shape();
                      }));
    saved.inputInPlace |= isInPlace;
    saved.output |= isOutput;
    saved.input |= isInput;
    if (isInput || isOutput)
      others -= double(elementBytes_) * elementsOf(value.layout, rank);
  }
  saved.perOutput = std::max(0.0, others) / std::max(1.0, elementsOf(form.output, rank));
  return saved;
}

std::vector<SavedActivations> LayerBytes::savedOf(const DeclaredLayer& layer,
                                                  const NativeLayouts* native) const {
  std::vector<SavedActivations> saved = {
      savedOf(*layer.declaration, native ? native->uses : onOneProcess(layer.inputs))};
  std::vector<Shape> outputs = {layer.declaration->outputShape(layer.inputs)};
  for (const DependentLayer& dependent : layer.dependents) {
    const std::vector<Shape> read = {outputs[dependent.reads]};
    saved.push_back(savedOf(*dependent.declaration, native
                                                        ? Layouts{native->outputs[dependent.reads]}
                                                        : onOneProcess(read)));
    outputs.push_back(dependent.declaration->outputShape(read));
  }
  return saved;
}

std::vector<std::vector<bool>>
outputsReadAgain(const DeclaredNetwork& network,
                 const std::vector<std::vector<SavedActivations>>& saved) {
  std::vector<std::vector<bool>> read;
  for (std::size_t layer = 0; layer < saved.size(); ++layer) {
    std::vector<bool>& isRead = read.emplace_back(saved[layer].size(), false);
    const std::vector<DependentLayer>& dependents = network.layers[layer].dependents;
    for (std::size_t f = 0; f < dependents.size(); ++f)
      isRead[dependents[f].reads] = isRead[dependents[f].reads] || saved[layer][f + 1].inputInPlace;
  }
  for (const DeclaredMove& move : network.moves)
    read[move.from][move.output] =
        read[move.from][move.output] || saved[move.to].front().inputInPlace;
  return read;
}

// In training a parameter has its value and the gradient; what kernels add to the gradient, the
// sums and their message buffers, if processes share the parameter; and the state of the optimizer.
void LayerBytes::addParameter(const Layout& use, bool frozen, ParallelizationCost& cost) const {
  const double arrays = trains_ && !frozen ? 2.0 + (haveSameMemory(use.dual(), use) ? 0 : 3) +
                                                 double(optimizerStates_)
                                           : 1;
  cost.bytes += arrays * bytesOf(use);
}

void LayerBytes::addActivations(const SavedActivations& saved, bool outputIsSaved, const Form& form,
                                ParallelizationCost& cost) const {
  const double output = bytesOf(form.output);
  // Saved activations can be stored in bfloat16.
  const auto depth = double(stackDepth_);
  const double share =
      depth * (savesRounded_ ? double(sizeof(BFloat16)) / double(elementBytes_) : 1);
  double inputs = 0;
  for (const Layout& use : form.uses) {
    inputs += bytesOf(use);
    // Other inputs are read in place, in the array that their writer wrote.
    if (trains_ && saved.input && (use.hasHalos() || !saved.inputInPlace))
      cost.bytes += share * bytesOf(use);
  }
  if (trains_)
    cost.bytes += depth * saved.perOutput * double(mostElements(form.output)) +
                  (outputIsSaved || saved.output ? share * output : 0);
  cost.outputBytes.push_back(output);
  cost.temporaryBytes = std::max(cost.temporaryBytes, inputs + output);
}

} // namespace tenon
