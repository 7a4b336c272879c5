// SPDX-License-Identifier: BSD-2-Clause
// Visits the state of a layer and of the layers in it: parameters, running statistics, and counters
// of random numbers. A visitor (StateVisitor) writes them to a checkpoint, reads them from one, or
// compares them. A layer that is several nodes is visited once, by the path of the first node, so
// files have its tensors once. The state counter of a tensor, which every write increases, shows
// whether the visitor has written it.
#include "layer/networks/state.hpp"

#include "layer/networks/model.hpp"
#include "layer/networks/path.hpp"
#include "weights/assignment.hpp"

#include <algorithm>
#include <set>

namespace tenon {

namespace {

// "encoder/conv1" and "weight" -> "encoder/conv1/weight"
std::string under(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Calls visit(layer, path) for the layer and all contained layers, each once.
template <class L, class Visit>
void walk(L& layer, const std::string& path, std::vector<const Layer*>& visited,
          const Visit& visit) {
  if (std::find(visited.begin(), visited.end(), &layer) != visited.end())
    return;
  visited.push_back(&layer);
  visit(layer, path);
  for (Layer* child : layer.children())
    walk<L>(*child, under(path, nameInPath(layer, *child)), visited, visit);
}

// Visits a parameter or a state. After a write, valueChanged() makes set-ups convert it to their
// use layouts again.
template <class Owner>
void visitTensor(Owner& owner, const std::string& path, StateVisitor& visitor) {
  DTensor& value = owner.value();
  const std::uint64_t before = owner.state();
  visitor.tensor(path, value);
  if (owner.state() != before)
    owner.valueChanged();
}

} // namespace

void StateVisitor::parameter(const std::string& path, Parameter& owner) {
  visitTensor(owner, path, *this);
}

void StateVisitor::state(const std::string& path, StateTensor& owner) {
  visitTensor(owner, path, *this);
}

bool statesAreBehind(const Layer& layer) noexcept {
  const auto isBehind = [](const Ref<StateTensor>& state) { return state->isBehind(); };
  return std::ranges::any_of(layer.ownStates(), isBehind) ||
         std::ranges::any_of(layer.children(),
                             [](const Layer* child) { return statesAreBehind(*child); });
}

// Reading a state converts the newest copy to the storage layout. Collective.
void settleStates(Layer& layer) {
  for (const Ref<StateTensor>& state : layer.ownStates())
    state->value();
  for (Layer* child : layer.children())
    settleStates(*child);
}

void visitState(Layer& layer, const std::string& path, StateVisitor& visitor) {
  std::vector<const Layer*> visited;
  walk(layer, path, visited, [&](Layer& visitedLayer, const std::string& layerPath) {
    for (const Ref<Parameter>& p : visitedLayer.ownParameters())
      visitor.parameter(under(layerPath, p->name()), *p);
    for (const Ref<StateTensor>& state : visitedLayer.ownStates())
      visitor.state(under(layerPath, state->name()), *state);
    // Random layers also have the numbers that determine their next draw.
    if (!visitedLayer.declaration().isRandom())
      return;
    Layer::RandomState& random = visitedLayer.randomState();
    visitor.number(under(layerPath, "seed"), random.seed);
    visitor.number(under(layerPath, "stream"), random.stream);
    visitor.number(under(layerPath, "applied"), random.applied);
  });
}

// The tensors that weight files contain, with their names there.
std::vector<NamedTensor> namedTensors(const Layer& layer) {
  std::vector<const Layer*> visited;
  std::vector<NamedTensor> tensors;
  std::set<const Layer*> ofModels;
  walk(layer, "", visited, [&](const Layer& visitedLayer, const std::string& layerPath) {
    if (modelOf(visitedLayer))
      ofModels.insert(visitedLayer.children().begin(), visitedLayer.children().end());
    const bool hasValue =
        visitedLayer.type() == "constant" && visitedLayer.declaration().isSet("value");
    for (const Ref<Parameter>& p : visitedLayer.ownParameters()) {
      NamedTensor named{under(layerPath, p->name()), p, visitedLayer.dataType()};
      named.isKnown = visitedLayer.isConstant() && (hasValue || ofModels.contains(&visitedLayer));
      named.file = nameInFile(named.path);
      if (auto stored = storedName(visitedLayer.declaration().value<std::string>("parameter_names"),
                                   p->name())) {
        const std::size_t slash = layerPath.rfind('/');
        const std::string container = slash == layerPath.npos ? "" : layerPath.substr(0, slash);
        named.isKnown = false; // its name in files says that files have it
        named.file = container.empty() ? stored->name : nameInFile(container) + "." + stored->name;
        named.extents = std::move(stored->extents);
      }
      tensors.push_back(std::move(named));
    }
    for (const Ref<StateTensor>& state : visitedLayer.ownStates())
      tensors.push_back({.path = under(layerPath, state->name()),
                         .of = state,
                         .type = visitedLayer.dataType(),
                         .file = nameInFile(under(layerPath, state->name()))});
  });
  return tensors;
}

std::vector<NamedParameter> namedParameters(const Layer& layer) {
  std::vector<const Layer*> visited;
  std::vector<NamedParameter> parameters;
  walk(layer, "", visited, [&](const Layer& visitedLayer, const std::string& layerPath) {
    for (const Ref<Parameter>& p : visitedLayer.ownParameters())
      parameters.push_back({.path = under(layerPath, p->name()), .parameter = p});
  });
  return parameters;
}

} // namespace tenon
