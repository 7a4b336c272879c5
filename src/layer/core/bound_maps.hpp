// SPDX-License-Identifier: BSD-2-Clause
// A map list with the objects that run it on this rank: operators, kernels, sources and constants,
// each in the order of the list's tables.
#pragma once

#include "declaration/core/rewriting.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/core/pass_observer.hpp"
#include "layer/core/source.hpp"
#include "linop/linear_op.hpp"

#include <functional>

namespace tenon {

class Layer;

// A kernel with its parameters and the layer that it belongs to.
struct BoundKernel {
  std::shared_ptr<LocalKernel> kernel; // shared by the lists of a layer and of its containers
  std::shared_ptr<ParameterUses> uses; // shared by kernels that work on parts of one output
  const Layer* layer;

  bool wantsGradients() const;
  // Tells the parameters that their gradients change. Must be called on all ranks.
  void changeGradients() const;
};

using Sources = std::vector<std::shared_ptr<Source>>;

// The context in which a type makes one of its kernels: the layer, its form and the map list.
struct KernelSite {
  Layer& layer;
  const Form& form;
  const MapList& list;
  int number;                           // index in the list's kernels
  const Sources& sources;               // of the list; kernels can hold references
  const std::vector<BoundKernel>& made; // earlier kernels of the list
  // The operators of the list; empty if the kernel is only made to measure its scratch memory.
  const std::vector<LinearOpRef>& operators;

  const std::string& name() const { return list.kernels()[number].name; }
  // The layouts of the first value that the kernel reads and of the value that it writes.
  const Layout& reads() const { return list.values()[map().x.front()].layout; }
  const Layout& writes() const { return list.values()[map().y].layout; }
  // The use layout of the first input, and the boxes of that input and of the outputs on this rank,
  // in global indices. Only for types with one kernel, or one per piece of the output.
  const Layout& use() const { return form.useOf(number); }
  Box input() const { return use().boxOfRank(rank()); }
  Box outputs() const { return form.outputsOf(number, form.output.grid().position(rank())); }
  int rank() const;
  KernelContextPtr context() const;

private:
  const Map& map() const;
};
using KernelMaker = std::unique_ptr<LocalKernel> (*)(const KernelSite& at);

// The bytes of scratch memory that the kernels of a form need on this rank. Kernels are made for
// this purpose and discarded, before there are parameters or operators.
Index scratchOfKernels(Layer& layer, const Form& form, KernelMaker make);

// The list and its objects. A network joins the lists of its nodes and shares their objects.
class BoundMaps {
public:
  // An empty list for a network, to which nodes are joined. The layer must outlive it.
  explicit BoundMaps(const Layer& layer);
  // The maps of a form of the layer. Collective, because operators are created.
  BoundMaps(Layer& layer, const Form& form, KernelMaker make);

  // The list, to which a network adds values directly.
  MapList& list() noexcept { return list_; }
  const MapList& list() const noexcept { return list_; }
  // Adds the maps and objects of a node, which must outlive this list: see MapList::join().
  void join(const BoundMaps& node, const std::vector<ValueId>& reads, ValueId write);
  // Adds a kernel without parameters.
  void run(KernelEntry entry, std::vector<ValueId> reads, ValueId write,
           std::shared_ptr<LocalKernel> kernel);
  // Rewrites the joined list into the one that runs, according to the target and the settings of
  // the layers. Kernels shared with other lists are not modified. A list that is joined to other
  // lists must not be rewritten: see MapList::join().
  void rewrite(const Target& target);

  // The operator of a map that redistributes data between ranks; null for other operators.
  const LinearOp* conversionOf(const Map& map) const;

  const Layer& layer() const noexcept { return layer_; }
  LinearOp& op(int index) const { return *operators_[index]; }
  const BoundKernel& kernel(int index) const { return kernels_[index]; }
  const std::vector<BoundKernel>& kernels() const noexcept { return kernels_; }
  // The elementwise function of a map whose kernel is one.
  const PointwiseFunction& function(int map) const {
    return *kernels_[list_.maps()[map].object].kernel->function();
  }
  // Visits the uses of parameters by the kernels, and by maps within kernels, with their layers.
  // Kernels that share their uses are adjacent.
  void forEachUse(const std::function<void(ParameterUse& use, const Layer& layer)>& visit) const;
  Source& source(int index) const { return *sources_[index]; }
  DTensor& constant(int index) const { return *constants_[index]; }
  // A tensor in the layout with the list's data type; allocated on first use.
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(comm_, layout, type_, context_->space());
  }
  // A tensor for a value of a pass, which can be a rounding.
  Ref<DTensor> tensor(const Value& value) const;
  // A buffer in the memory space of the list.
  Buffer buffer(Index bytes, std::string label) const {
    return {bytes, std::move(label), context_->memory()};
  }
  // Memory for several tensors, readable by other ranks of the node (shared memory).
  Buffer memory(Index bytes) const;
  TenonDataType dataType() const noexcept { return type_; }
  KernelContext& context() const noexcept { return *context_; }
  // The log event of a map's node, by the name or type of its layer.
  int event(const Map& map) const { return nodes_[map.node].event; }
  const Layer& layerOf(const Map& map) const { return *nodes_[map.node].layer; }
  // Observers of the passes of these maps.
  const Observers& observers() const noexcept { return observers_; }
  void setObservers(Observers observers) noexcept { observers_ = std::move(observers); }
  // Bytes of operators, constants, parameters in their use layouts, and memory within kernels.
  Index bytes() const;

private:
  std::vector<bool> nodesThatRecompute() const;
  void expectEpilogues() const;
  std::shared_ptr<Source> makeSource(const SourceEntry& entry,
                                     const std::shared_ptr<ParameterUses>& uses) const;

  const Layer& layer_;
  CommPtr comm_;
  TenonDataType type_;
  KernelContextPtr context_;
  MapList list_;
  struct Node {
    const Layer* layer;
    int event;
  };
  std::vector<Node> nodes_;
  std::vector<LinearOpRef> operators_;
  std::vector<BoundKernel> kernels_;
  Sources sources_;
  std::vector<Ref<DTensor>> constants_;
  std::vector<std::pair<const BoundMaps*, JoinedObjects>> joined_;
  Observers observers_;
};

// Makes the parameters of the maps constants for the lifetime of the object.
class ConstantParameters {
public:
  explicit ConstantParameters(const BoundMaps& maps) : maps_(maps) { set(true); }
  ~ConstantParameters() { set(false); }
  ConstantParameters(const ConstantParameters&) = delete;
  ConstantParameters& operator=(const ConstantParameters&) = delete;

private:
  void set(bool constant) const;

  const BoundMaps& maps_;
};

} // namespace tenon
