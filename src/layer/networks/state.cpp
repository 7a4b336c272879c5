// SPDX-License-Identifier: BSD-2-Clause
// Walks what a layer carries from step to step. A layer that is several nodes is visited once, by
// the path of the first of them, so that files hold its tensors once; and what a visitor writes is
// noticed by the tensor's own count of changes, so that visitors need not say it.
#include "layer/networks/state.hpp"

#include "layer/networks/model.hpp"
#include "layer/networks/path.hpp"
#include "weights/assignment.hpp"

#include <algorithm>
#include <set>

namespace tenon {

namespace {

std::string under(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Calls visit(layer, path) for the layer and those in it, each layer once.
template <class L, class Visit>
void walk(L& layer, const std::string& path, std::vector<const Layer*>& seen, const Visit& visit) {
  if (std::find(seen.begin(), seen.end(), &layer) != seen.end())
    return;
  seen.push_back(&layer);
  visit(layer, path);
  for (Layer* child : layer.children())
    walk<L>(*child, under(path, nameInPath(layer, *child)), seen, visit);
}

// Visits a parameter or a state. Where the visitor has written it, set-ups must convert it to the
// layouts in which they use it, which valueChanged() tells them.
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

void settleStates(Layer& layer) {
  for (const Ref<StateTensor>& state : layer.ownStates())
    state->value();
  for (Layer* child : layer.children())
    settleStates(*child);
}

void visitState(Layer& layer, const std::string& path, StateVisitor& visitor) {
  std::vector<const Layer*> seen;
  walk(layer, path, seen, [&](Layer& each, const std::string& at) {
    for (const Ref<Parameter>& p : each.ownParameters())
      visitor.parameter(under(at, p->name()), *p);
    for (const Ref<StateTensor>& state : each.ownStates())
      visitor.state(under(at, state->name()), *state);
    // Only random layers have numbers that decide what they draw next.
    if (!each.declaration().isRandom())
      return;
    Layer::RandomState& random = each.randomState();
    visitor.number(under(at, "seed"), random.seed);
    visitor.number(under(at, "stream"), random.stream);
    visitor.number(under(at, "applied"), random.applied);
  });
}

std::vector<NamedTensor> namedTensors(const Layer& layer) {
  std::vector<const Layer*> seen;
  std::vector<NamedTensor> all;
  std::set<const Layer*> ofModels;
  walk(layer, "", seen, [&](const Layer& each, const std::string& at) {
    if (modelOf(each))
      ofModels.insert(each.children().begin(), each.children().end());
    const bool hasValue = each.type() == "constant" && each.declaration().isSet("value");
    for (const Ref<Parameter>& p : each.ownParameters()) {
      NamedTensor named{under(at, p->name()), p, each.dataType()};
      named.isKnown = each.isConstant() && (hasValue || ofModels.contains(&each));
      named.file = nameInFile(named.path);
      if (auto stored =
              storedName(each.declaration().value<std::string>("parameter_names"), p->name())) {
        const std::size_t slash = at.rfind('/');
        const std::string container = slash == at.npos ? "" : at.substr(0, slash);
        named.isKnown = false; // PyTorch has it too
        named.file = container.empty() ? stored->name : nameInFile(container) + "." + stored->name;
        named.extents = std::move(stored->extents);
      }
      all.push_back(std::move(named));
    }
    for (const Ref<StateTensor>& state : each.ownStates())
      all.push_back(
          {under(at, state->name()), state, each.dataType(), nameInFile(under(at, state->name()))});
  });
  return all;
}

std::vector<NamedParameter> namedParameters(const Layer& layer) {
  std::vector<const Layer*> seen;
  std::vector<NamedParameter> all;
  walk(layer, "", seen, [&](const Layer& each, const std::string& at) {
    for (const Ref<Parameter>& p : each.ownParameters())
      all.push_back({under(at, p->name()), p});
  });
  return all;
}

} // namespace tenon
