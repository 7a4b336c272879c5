// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/map_list.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

ValueId MapList::addValue(Value value) {
  values_.push_back(std::move(value));
  read_.push_back(false);
  return static_cast<ValueId>(values_.size()) - 1;
}

ValueId MapList::input(std::string name, const Layout& layout) {
  inputs_.push_back(addValue({std::move(name), layout, Value::Place::Argument}));
  return inputs_.back();
}

ValueId MapList::output(std::string name, const Layout& layout) {
  return output_ = addValue({std::move(name), layout, Value::Place::Argument});
}

ValueId MapList::value(std::string name, const Layout& layout) {
  return addValue({std::move(name), layout});
}

ValueId MapList::constant(std::string name, const Layout& layout) {
  const int index = constants_++;
  return addValue({std::move(name), layout, Value::Place::Constant, kNoValue, index});
}

ValueId MapList::staged(ValueId input) {
  if (values_[input].place != Value::Place::Argument)
    return input;
  for (ValueId v = 0; v < static_cast<ValueId>(values_.size()); ++v)
    if (values_[v].standsIn == input)
      return v;
  const ValueId id =
      addValue({values_[input].name + "'", values_[input].layout, Value::Place::Own, input});
  add({.kind = Map::Kind::Stage, .x = {input}, .y = id});
  return id;
}

ValueId MapList::stagedOutput() {
  return addValue(
      {values_[output_].name + "'", values_[output_].layout, Value::Place::Own, output_});
}

void MapList::unstage(ValueId stagedOutput) {
  add({.kind = Map::Kind::Stage, .x = {stagedOutput}, .y = values_[stagedOutput].standsIn});
}

int MapList::source(std::string name) {
  sources_.push_back({std::move(name)});
  const int index = static_cast<int>(sources_.size()) - 1;
  maps_.push_back({.kind = Map::Kind::Source, .object = index});
  return index;
}

int MapList::apply(OperatorKind kind, ValueId x, ValueId y) {
  operators_.push_back({kind, values_[x].layout, values_[y].layout});
  const int index = static_cast<int>(operators_.size()) - 1;
  applyAgain(index, x, y);
  return index;
}

void MapList::applyAgain(int op, ValueId x, ValueId y) {
  add({.kind = Map::Kind::Operator,
       .object = op,
       .x = {x},
       .y = y,
       .fixed = operators_[op].kind == OperatorKind::Maximum});
}

int MapList::addKernel(KernelEntry kernel, std::vector<ValueId> x, ValueId y, bool part,
                       bool fixed) {
  if (x.empty() || x.size() > kMostInputs)
    throw Error(TENON_ERR_INTERNAL, fmt::format("kernel {} has {} inputs; it may have 1 to {}",
                                                kernel.name, x.size(), kMostInputs));
  if (!fixed && kernel.keepsInputs)
    for (ValueId v : x)
      values_[v].kept = values_[v].place != Value::Place::Constant;
  if (!fixed && kernel.keepsOutput)
    values_[y].kept = true;
  kernels_.push_back(std::move(kernel));
  const int index = static_cast<int>(kernels_.size()) - 1;
  add({.kind = Map::Kind::Kernel,
       .object = index,
       .x = std::move(x),
       .y = y,
       .part = part,
       .fixed = fixed});
  return index;
}

// The order of steps rests on it that nothing is written after it was read.
void MapList::add(Map map) {
  if (read_[map.y])
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("value {} of a list of maps is written after it was read; write it "
                            "first, or a value of its own",
                            values_[map.y].name));
  for (const Map& known : maps_)
    if (known.y == map.y && !(known.part && map.part) &&
        (known.part || map.kind != Map::Kind::Operator))
      throw Error(TENON_ERR_INTERNAL,
                  fmt::format("value {} of a list of maps has a writer already, and only operators "
                              "add to one; write parts of it, or a value of its own",
                              values_[map.y].name));
  for (ValueId v : map.x)
    read_[v] = true;
  maps_.push_back(std::move(map));
}

} // namespace tenon
