// SPDX-License-Identifier: BSD-2-Clause
// The memory of a plan: what each layer holds under a word, which the search adds up, and what layers
// use by turns, which depends on the words of all.
#include "planner/prices/own_model.hpp"

#include <algorithm>

namespace tenon {

namespace {

// What a process takes for any network: of MPI and of the libraries of kernels, when they are first
// called, and the unused ends of allocations. Measured by tests/bench/plan_memory.
constexpr double kOnceBytes = 26 * 0x1p20;

} // namespace

double OwnModel::bytesOf(const Layout& layout) const {
  return double(network_.elementBytes) * double(mostElements(layout));
}

// Found on one process, since it does not depend on where things lie.
OwnModel::Kept OwnModel::keptOf(const Declaration& declaration,
                                const std::vector<Shape>& inputs) const {
  const GridPtr one = Grid::make({1});
  Layouts given;
  for (const Shape& shape : inputs)
    given.push_back(Layout({.shape = shape, .grid = one, .properties = {Property::broadcast()}}));
  const Form form = declaration.form(given, {});
  Layouts storage;
  for (const ParameterForm& parameter : form.parameters)
    storage.push_back(parameter.use);
  const MapList list = declaration.maps(form, storage);
  Kept kept;
  double others = double(list.keptBytes(0, network_.elementBytes));
  for (ValueId v = 0; v < static_cast<ValueId>(list.values().size()); ++v) {
    const Value& value = list.values()[v];
    if (!value.kept)
      continue;
    const auto standsFor = [&](const std::vector<ValueId>& those) {
      return std::ranges::any_of(
          those, [&](ValueId other) { return other == v || other == value.standsIn; });
    };
    const bool isOutput = standsFor(list.outputs()), liesThere = standsFor(list.inputs());
    const bool isInput =
        !isOutput && (liesThere || std::ranges::any_of(given, [&](const Layout& input) {
                        return value.layout.shape() == input.shape();
                      }));
    kept.inputAsItLies |= liesThere;
    kept.output |= isOutput;
    kept.input |= isInput;
    if (isInput || isOutput)
      others -= bytesOf(value.layout);
  }
  kept.perOutput = std::max(0.0, others) / double(std::max<Index>(1, mostElements(form.output)));
  return kept;
}

std::vector<OwnModel::Kept> OwnModel::keptOf(const DeclaredLayer& layer) const {
  std::vector<Kept> kept = {keptOf(*layer.declaration, layer.inputs)};
  std::vector<Shape> outputs = {layer.declaration->outputShape(layer.inputs)};
  for (const Follower& follower : layer.followers) {
    const std::vector<Shape> read = {outputs[follower.reads]};
    kept.push_back(keptOf(*follower.declaration, read));
    outputs.push_back(follower.declaration->outputShape(read));
  }
  return kept;
}

std::vector<std::vector<bool>>
OwnModel::findReadKept(const std::vector<std::vector<Kept>>& kept) const {
  std::vector<std::vector<bool>> read;
  for (std::size_t layer = 0; layer < kept.size(); ++layer) {
    std::vector<bool>& mine = read.emplace_back(kept[layer].size(), false);
    const std::vector<Follower>& followers = network_.layers[layer].followers;
    for (std::size_t f = 0; f < followers.size(); ++f)
      mine[followers[f].reads] = mine[followers[f].reads] || kept[layer][f + 1].inputAsItLies;
  }
  for (const DeclaredMove& move : network_.moves)
    read[move.from][move.output] =
        read[move.from][move.output] || kept[move.to].front().inputAsItLies;
  return read;
}

// In training the value, the gradient and its addends, where processes share it their sum and the
// buffers of messages of that, and what the optimizer keeps.
double OwnModel::parameterCopies(const Layout& use) const {
  return trains() ? 3.0 + (sameHolding(use.dual(), use) ? 0 : 2) + double(task_.optimizerStates)
                  : 1;
}

void OwnModel::addKept(const Kept& kept, bool outputIsKept, const Form& form,
                       Placed& placed) const {
  const double output = bytesOf(form.output);
  double inputs = 0;
  for (const Layout& use : form.uses) {
    inputs += bytesOf(use);
    // Others are where their writer has put them.
    if (trains() && kept.input && (use.hasHalos() || !kept.inputAsItLies))
      placed.bytes += bytesOf(use);
  }
  if (trains())
    placed.bytes += kept.perOutput * double(mostElements(form.output)) +
                    (outputIsKept || kept.output ? output : 0);
  placed.outputBytes.push_back(output);
  placed.turnBytes = std::max(placed.turnBytes, inputs + output);
}

// At each layer, from the last one in training, what it needs for a while and what others have written
// or wait for meanwhile.
double OwnModel::sharedBytes(const std::vector<int>& words) const {
  double most = 0;
  for (int layer = 0; layer < plannedLayers(); ++layer) {
    double waiting = 0;
    for (int writer = 0; writer < layer; ++writer) {
      const Placed& wrote = placed(writer, words[writer]);
      for (std::size_t output = 0; output < wrote.outputBytes.size(); ++output)
        if (std::ranges::any_of(network_.moves, [&](const DeclaredMove& move) {
              return move.from == writer && move.output == static_cast<int>(output) &&
                     move.to > layer;
            }))
          waiting += wrote.outputBytes[output];
    }
    most = std::max(most, waiting + placed(layer, words[layer]).turnBytes);
  }
  return kOnceBytes + most;
}

} // namespace tenon
