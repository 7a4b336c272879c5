// SPDX-License-Identifier: BSD-2-Clause
// Walks what a layer carries from step to step. A layer that is several nodes is visited once, by
// the path of the first of them, so that files hold its tensors once; and what a visitor writes is
// noticed by the tensor's own count of changes, so that visitors need not say it.
#include "layer/networks/state.hpp"

#include "layer/networks/path.hpp"

#include <algorithm>

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
template <class Carried>
void visitTensor(Carried& carried, const std::string& path, StateVisitor& visitor) {
  DTensor& value = carried.value();
  const std::uint64_t before = carried.state();
  visitor.tensor(path, value);
  if (carried.state() != before)
    carried.valueChanged();
}

} // namespace

void visitState(Layer& layer, const std::string& path, StateVisitor& visitor) {
  std::vector<const Layer*> seen;
  walk(layer, path, seen, [&](Layer& each, const std::string& at) {
    for (const Ref<Parameter>& p : each.ownParameters())
      visitTensor(*p, under(at, p->name()), visitor);
    for (const Ref<StateTensor>& state : each.ownStates())
      visitTensor(*state, under(at, state->name()), visitor);
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
  walk(layer, "", seen, [&](const Layer& each, const std::string& at) {
    for (const Ref<Parameter>& p : each.ownParameters())
      all.push_back({under(at, p->name()), p, each.dataType()});
    for (const Ref<StateTensor>& state : each.ownStates())
      all.push_back({under(at, state->name()), state, each.dataType()});
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
