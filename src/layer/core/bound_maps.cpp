// SPDX-License-Identifier: BSD-2-Clause
// Creates the objects of a layer's map list on this rank. The map list is the layer as a program
// without objects; a form has the layouts of all arrays, from which the list was derived. For each
// entry, this file makes an operator (communication), a kernel (local computation), a source (an
// array that updates itself, such as a parameter) or a constant.
//
// The list that runs contains the maps of all nodes (layers) of a network and shares their objects.
// A layer that is two nodes therefore has one set of objects, and each of its parameters is
// converted once.
#include "layer/core/bound_maps.hpp"

#include "declaration/core/pass.hpp"
#include "declaration/mesh/edge_network.hpp"
#include "dtensor/fill.hpp"
#include "layer/core/held_bytes.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/state_tensor.hpp"
#include "layer/types/losses.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/algebra/memory_op.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "linop/exchange/refill_op.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

// Restricts each rank's array to the elements of `to`. Implemented as the adjoint of the operator
// that inserts the smaller array into the larger one.
LinearOpRef crop(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type) {
  const Box fromBox = from.boxOfRank(comm->rank()), toBox = to.boxOfRank(comm->rank());
  std::vector<Index> offsets;
  for (std::size_t d = 0; d < toBox.size(); ++d)
    offsets.push_back(toBox[d].empty() ? 0 : toBox[d].begin - fromBox[d].begin);
  return adjointView(MemoryOp::allocate(comm, to.dual(), from.dual(), offsets, type));
}

// The operator of an index map, or of a rule from which the map is made. `domain` is the domain of
// the map itself, also if the caller then takes the transpose.
LinearOpRef indexMapOp(const CommPtr& comm, const OperatorEntry& entry, const Layout& domain,
                       const Layout& range, TenonDataType type, Space space) {
  const IndexMapPtr map =
      entry.rule ? makeLinkedMap(*entry.rule, domain, range, comm->rank()) : entry.map;
  return makeRef<IndexMapOp>(comm, map, domain, type, CarrierPolicy::fromOptions(space));
}

// Creates the operator of an entry of the map list. Collective.
LinearOpRef makeOperator(const CommPtr& comm, const OperatorEntry& entry, TenonDataType type,
                         Space space) {
  switch (entry.kind) {
  case OperatorKind::Conversion:
    return makeConversion(comm, entry.from, entry.to, type, MovementPolicy::fromOptions(space));
  case OperatorKind::Exchange:
  case OperatorKind::Maximum:
    return makeRef<Conversion>(comm, entry.from, entry.to, type, CarrierPolicy::fromOptions(space));
  case OperatorKind::IndexMap:
    return indexMapOp(comm, entry, entry.from, entry.to, type, space);
  case OperatorKind::IndexSum:
    // The transpose: the map itself leads from the range of this entry to its domain.
    return adjointView(indexMapOp(comm, entry, entry.to.dual(), entry.from.dual(), type, space));
  case OperatorKind::Crop:
    return crop(comm, entry.from, entry.to, type);
  case OperatorKind::Refill:
    return makeRef<RefillOp>(comm, entry.from, entry.to, type);
  case OperatorKind::BoundaryValues:
    return boundaryValues(comm, entry.to, type);
  case OperatorKind::BoundaryNumber:
    return makeRef<BoundaryConstant>(comm, entry.to, type);
  }
  return {};
}

// The copy of a state for this set-up, which kernels read and write.
std::shared_ptr<Source> stateUse(Layer& layer, const StateForm& form) {
  return std::make_shared<StateUse>(layer.state(form), form.use);
}

// Creates a kernel: by the declaration, or by the maker of a type on tensors. The text of an error
// does not name the layer; this function adds the name.
std::unique_ptr<LocalKernel> makeKernel(KernelMaker make, const KernelSite& at) {
  try {
    return make ? make(at)
                : onTensors(at.layer.declaration().makeKernel(at), at.list.kernels()[at.number]);
  } catch (const Error& error) {
    throw Error(error.code(), at.layer.title() + ": " + error.text(), error.where());
  }
}

} // namespace

Index scratchOfKernels(Layer& layer, const Form& form, KernelMaker make) {
  const Declaration& declaration = layer.declaration();
  const int rank = layer.comm()->rank();
  const KernelContextPtr context = contextOf(layer.comm(), layer.space());
  if (!make)
    return kernelBytes(declaration, form, rank, context).value().scratch;
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  const Sources noSources(list.sources().size());
  const ScratchCount count(*context);
  std::vector<BoundKernel> kernels;
  for (int k = 0; k < static_cast<int>(list.kernels().size()); ++k)
    kernels.push_back(
        {makeKernel(make,
                    {{declaration, form, list, k, rank, context}, layer, noSources, kernels, {}}),
         std::make_shared<ParameterUses>(), &layer});
  return count.bytes();
}

BoundMaps::BoundMaps(const Layer& layer)
    : layer_(layer), comm_(layer.comm()), type_(layer.dataType()),
      context_(contextOf(comm_, layer.space())), nodes_{{&layer, layer.event()}} {}

bool BoundKernel::wantsGradients() const {
  return std::any_of(uses->begin(), uses->end(), [](const auto& use) { return !use->isFrozen(); });
}

void BoundKernel::changeGradients() const {
  for (const auto& use : *uses)
    use->changeGradient();
}

BoundMaps::BoundMaps(Layer& layer, const CompiledNetwork::Node& node, KernelMaker make)
    : BoundMaps(layer) {
  const Form& form = *node.form;
  list_ = node.maps;
  // The order matters: kernels refer to sources and operators.
  const auto uses = std::make_shared<ParameterUses>();
  for (const ParameterForm& parameter : form.parameters)
    uses->push_back(std::make_unique<ParameterUse>(layer.parameter(parameter), parameter.use));
  for (const SourceEntry& entry : list_.sources())
    sources_.push_back(entry.of == SourceEntry::Of::State
                           ? stateUse(layer, form.states[entry.parameter])
                           : makeSource(entry, uses));
  for (const Value& value : list_.values())
    if (value.place == Value::Place::Constant) {
      constants_.push_back(tensor(value.layout));
      fillConstant(*constants_.back(), list_.constants()[value.constant]);
    }
  for (const OperatorEntry& entry : list_.operators())
    operators_.push_back(makeOperator(comm_, entry, type_, context_->space()));
  for (int k = 0; k < static_cast<int>(list_.kernels().size()); ++k)
    kernels_.push_back(
        {makeKernel(make, {{layer.declaration(), form, list_, k, comm_->rank(), context_},
                           layer,
                           sources_,
                           kernels_,
                           operators_}),
         uses, &layer_});
  for (const BoundKernel& bound : kernels_)
    if (context_->space() == Space::Device && !bound.kernel->runsOnDevice())
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} cannot run on the device: layers of type {} have no kernels for "
                              "the device in this version; set its space to host "
                              "(TenonLayerSetSpace(), -tenon_[prefix_]space host)",
                              layer_.title(), layer_.type()));
}

BoundMaps::BoundMaps(const Layer& layer, const CompiledNetwork::Node& node,
                     std::shared_ptr<LocalKernel> kernel)
    : BoundMaps(layer) {
  list_ = node.maps;
  kernels_.push_back(
      {.kernel = std::move(kernel), .uses = std::make_shared<ParameterUses>(), .layer = &layer_});
}

// A layer that is several nodes has one set of objects, in the place of its first node.
BoundMaps::BoundMaps(const Layer& layer, const CompiledNetwork& network,
                     const std::vector<std::shared_ptr<const BoundMaps>>& nodes)
    : BoundMaps(layer) {
  list_ = network.list();
  nodes_.clear();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const BoundMaps& node = *nodes[n];
    nodes_.push_back(node.nodes_.front());
    if (network.nodes()[n].sameAs >= 0)
      continue;
    operators_.insert(operators_.end(), node.operators_.begin(), node.operators_.end());
    kernels_.insert(kernels_.end(), node.kernels_.begin(), node.kernels_.end());
    sources_.insert(sources_.end(), node.sources_.begin(), node.sources_.end());
    constants_.insert(constants_.end(), node.constants_.begin(), node.constants_.end());
  }
  fuseKernels();
  expectEpilogues();
}

namespace {

// The kernel that replaces several kernels: the network, which is kernel number `network`, and the
// gathers and sums whose numbers are in `rows`.
std::shared_ptr<LocalKernel> fusedRows(const BoundMaps& maps, int network, const FusedRows& rows) {
  const auto listed = [&](int kernel) {
    return &dynamic_cast<const ListedKernel&>(*maps.kernel(kernel).kernel->onArrays());
  };
  const Layout& output = maps.list().values()[rows.given].layout;
  const BoundKernel& bound = maps.kernel(network);
  const auto widths = bound.layer->declaration().value<std::vector<Index>>("widths");
  EdgeParts parts{.network = bound.kernel->onArrays(),
                  .inputs = widths.front(),
                  .outputs = widths.back(),
                  .contribution = rows.contribution,
                  .edges = output.boxOfRank(maps.layer().comm()->rank())[0].size(),
                  .elementsPerChannel =
                      std::accumulate(output.shape().begin() + 2, output.shape().end(), Index(1),
                                      std::multiplies<>())};
  for (const int kernel : rows.taken)
    parts.gathered.push_back(listed(kernel));
  if (rows.summed >= 0)
    parts.sum = listed(rows.summed);
  return onTensors(makeEdgeNetwork(maps.dataType(), parts), maps.list().kernels()[network]);
}

} // namespace

// Creates the kernels that replace several kernels of the joined list. A new kernel is made of
// those that it replaces, which therefore stay in their places until all are made.
void BoundMaps::fuseKernels() {
  std::vector<BoundKernel> kernels = kernels_;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (const auto& fused = list_.kernels()[k].fused)
      kernels[k].kernel = fusedRows(*this, static_cast<int>(k), *fused);
  kernels_ = std::move(kernels);
}

// Announces to each kernel the elementwise function that it will apply to its output (its
// epilogue): autotuning then measures kernel and function together.
void BoundMaps::expectEpilogues() const {
  const std::vector<int> functions = epilogues(list_, {}, /*keeps=*/false);
  for (std::size_t m = 0; m < functions.size(); ++m)
    if (functions[m] >= 0)
      kernels_[list_.maps()[m].object].kernel->expect(function(functions[m]));
}

Ref<DTensor> BoundMaps::tensor(const Value& value) const {
  if (value.rounded)
    return makeRef<DTensor>(comm_, value.layout, DTensor::Rounded(), context_->space());
  return tensor(value.layout);
}

// A parameter is owned by `uses`; the returned pointer shares this ownership.
std::shared_ptr<Source> BoundMaps::makeSource(const SourceEntry& entry,
                                              const std::shared_ptr<ParameterUses>& uses) const {
  if (entry.of == SourceEntry::Of::Parameter)
    return {uses, (*uses)[entry.parameter].get()};
  return std::make_shared<TargetUse>(layer_, entry);
}

const LinearOp* BoundMaps::redistributionOf(const Map& map) const {
  const OperatorKind kind = list_.operators()[map.object].kind;
  const bool isConversion = kind == OperatorKind::Conversion || kind == OperatorKind::Exchange ||
                            kind == OperatorKind::Maximum;
  return isConversion ? operators_[map.object].get() : nullptr;
}

Buffer BoundMaps::memory(Index bytes) const {
  Buffer values = readableBuffer(*comm_, *context_, bytes, layer_.title() + " values");
  values.setZero();
  return values;
}

Index BoundMaps::bytes() const {
  Index sum = heldBytes(constants_);
  for (const LinearOpRef& op : operators_)
    sum += op->bufferBytes();
  std::vector<const ParameterUses*> counted;
  for (const BoundKernel& bound : kernels_) {
    // Kernels of one form share their parameter uses, which are counted once.
    if (std::find(counted.begin(), counted.end(), bound.uses.get()) != counted.end())
      continue;
    counted.push_back(bound.uses.get());
    for (const auto& use : *bound.uses)
      sum += use->bytes();
    sum += bound.kernel->bytes();
  }
  return sum;
}

void BoundMaps::forEachUse(
    const std::function<void(ParameterUse& use, const Layer& layer)>& visit) const {
  for (const BoundKernel& bound : kernels_) {
    for (const auto& use : *bound.uses)
      visit(*use, *bound.layer);
    if (const BoundMaps* inner = bound.kernel->inner())
      inner->forEachUse(visit);
  }
}

void ConstantParameters::set(bool constant) const {
  maps_.forEachUse([=](ParameterUse& use, const Layer&) { use.setConstant(constant); });
}

} // namespace tenon
