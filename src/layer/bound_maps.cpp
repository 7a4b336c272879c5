// SPDX-License-Identifier: BSD-2-Clause
#include "layer/bound_maps.hpp"

#include "dtensor/fill.hpp"
#include "layer/held_bytes.hpp"
#include "layer/layer.hpp"
#include "linop/algebra.hpp"
#include "linop/boundary_op.hpp"
#include "linop/make_conversion.hpp"
#include "linop/memory_op.hpp"
#include "sys/log.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The adjoint of new cells around those that stay.
LinearOpRef crop(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type) {
  const Box all = from.boxOfRank(comm->rank()), part = to.boxOfRank(comm->rank());
  std::vector<Index> at;
  for (std::size_t d = 0; d < part.size(); ++d)
    at.push_back(part[d].empty() ? 0 : part[d].begin - all[d].begin);
  return adjointView(MemoryOp::allocate(comm, to.dual(), from.dual(), at, type));
}

LinearOpRef makeOperator(const CommPtr& comm, const OperatorEntry& entry, TenonDataType type) {
  switch (entry.kind) {
  case OperatorKind::Conversion:
    return makeConversion(comm, entry.from, entry.to, type);
  case OperatorKind::Exchange:
  case OperatorKind::Maximum:
    return makeRef<Conversion>(comm, entry.from, entry.to, type, CarrierPolicy::fromOptions());
  case OperatorKind::Crop:
    return crop(comm, entry.from, entry.to, type);
  case OperatorKind::BoundaryValues:
    return boundaryValues(comm, entry.to, type);
  case OperatorKind::BoundaryNumber:
    return makeRef<BoundaryConstant>(comm, entry.to, type);
  }
  return {};
}

} // namespace

BoundMaps::BoundMaps(const Layer& layer)
    : layer_(layer), comm_(layer.comm()),
      type_(layer.dataType()), events_{logEvent(
                                   (layer.name().empty() ? layer.type() : layer.name()).c_str())} {}

bool BoundKernel::wantsGradients() const {
  return std::any_of(uses->begin(), uses->end(), [](const auto& use) { return !use->isFrozen(); });
}

void BoundMaps::apply(OperatorKind kind, ValueId x, ValueId y) {
  const int index = list_.apply(kind, x, y);
  operators_.push_back(makeOperator(comm_, list_.operators()[index], type_));
}

ValueId BoundMaps::convert(std::string name, ValueId x, const Layout& to) {
  const ValueId y = list_.value(std::move(name), to);
  apply(OperatorKind::Conversion, x, y);
  return y;
}

const LinearOp* BoundMaps::conversionOf(const Map& map) const {
  const OperatorKind kind = list_.operators()[map.object].kind;
  const bool moves = kind == OperatorKind::Conversion || kind == OperatorKind::Exchange ||
                     kind == OperatorKind::Maximum;
  return moves ? operators_[map.object].get() : nullptr;
}

const LinearOp* BoundMaps::conversionTo(ValueId y) const {
  for (const Map& map : list_.maps())
    if (map.kind == Map::Kind::Operator && map.y == y)
      return conversionOf(map);
  return nullptr;
}

const LinearOp* BoundMaps::conversionFrom(ValueId x) const {
  for (const Map& map : list_.maps())
    if (map.kind == Map::Kind::Operator && map.x.front() == x)
      return conversionOf(map);
  return nullptr;
}

ValueId BoundMaps::constant(std::string name, const Layout& layout, double value) {
  constants_.push_back(tensor(layout));
  fillConstant(*constants_.back(), value);
  return list_.constant(std::move(name), layout);
}

void BoundMaps::addUse(Uses& uses, Ref<Parameter> parameter, const Layout& use) {
  const std::string name = parameter->name();
  uses.all->push_back(std::make_unique<ParameterUse>(std::move(parameter), use));
  ParameterUse* const added = uses.all->back().get();
  if (added->conversion())
    addSource(uses, name, std::shared_ptr<Source>(uses.all, added));
}

void BoundMaps::addSource(Uses& uses, std::string name, std::shared_ptr<Source> source) {
  sources_.push_back(std::move(source));
  uses.sources.push_back(list_.source(std::move(name)));
}

KernelEntry BoundMaps::bind(std::string name, std::unique_ptr<LocalKernel> kernel,
                            const Uses& uses) {
  KernelEntry entry{.name = std::move(name),
                    .keepsInputs = kernel->keepsInput(),
                    .keepsOutput = kernel->keepsOutput(),
                    .gradients = kernel->gradients(),
                    .sources = uses.sources};
  kernels_.push_back({std::move(kernel), uses.all, &layer_});
  return entry;
}

void BoundMaps::run(std::string name, std::unique_ptr<LocalKernel> kernel, const Uses& uses,
                    std::vector<ValueId> x, ValueId y) {
  list_.run(bind(std::move(name), std::move(kernel), uses), std::move(x), y);
}

void BoundMaps::runPart(std::string name, std::unique_ptr<LocalKernel> kernel, const Uses& uses,
                        std::vector<ValueId> x, ValueId y) {
  list_.runPart(bind(std::move(name), std::move(kernel), uses), std::move(x), y);
}

void BoundMaps::runFixed(std::string name, std::unique_ptr<LocalKernel> kernel, const Uses& uses,
                         std::vector<ValueId> x, ValueId y) {
  list_.runFixed(bind(std::move(name), std::move(kernel), uses), std::move(x), y);
}

void BoundMaps::join(const BoundMaps& node, const std::vector<ValueId>& reads, ValueId write) {
  if (list_.nodes() == 0)
    events_.clear();
  events_.insert(events_.end(), node.events_.begin(), node.events_.end());
  for (const auto& [known, objects] : joined_)
    if (known == &node) {
      list_.join(node.list_, reads, write, &objects);
      return;
    }
  joined_.emplace_back(&node, list_.join(node.list_, reads, write));
  operators_.insert(operators_.end(), node.operators_.begin(), node.operators_.end());
  kernels_.insert(kernels_.end(), node.kernels_.begin(), node.kernels_.end());
  sources_.insert(sources_.end(), node.sources_.begin(), node.sources_.end());
  constants_.insert(constants_.end(), node.constants_.begin(), node.constants_.end());
}

Index BoundMaps::bytes() const {
  Index sum = heldBytes(constants_);
  for (const LinearOpRef& op : operators_)
    sum += op->bufferBytes();
  std::vector<const ParameterUses*> counted;
  for (const BoundKernel& bound : kernels_) {
    if (std::find(counted.begin(), counted.end(), bound.uses.get()) != counted.end())
      continue;
    counted.push_back(bound.uses.get());
    for (const auto& use : *bound.uses)
      sum += use->bytes();
  }
  return sum;
}

} // namespace tenon
