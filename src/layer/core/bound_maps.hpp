// SPDX-License-Identifier: BSD-2-Clause
// A list of maps with the objects that run it on this rank: operators, kernels, sources, constants,
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

struct BoundKernel {
  std::shared_ptr<LocalKernel> kernel; // of the layer's list, and of networks'
  std::shared_ptr<ParameterUses> uses; // of several kernels, where they work on parts
  const Layer* layer;

  bool wantsGradients() const;
  // Says so to the parameters, on all ranks.
  void changeGradients() const;
};

using Sources = std::vector<std::shared_ptr<Source>>;

// A kernel to be made for the maps of a layer.
struct KernelSite {
  Layer& layer;
  const Form& form;
  const MapList& list;
  int number;                           // of the list's kernels
  const Sources& sources;               // of the list, which it may keep
  const std::vector<BoundKernel>& made; // the list's kernels before it
  // Of the list; empty where the kernel is made to be counted alone.
  const std::vector<LinearOpRef>& operators;

  const std::string& name() const { return list.kernels()[number].name; }
  // Of the list: what it reads and what it writes.
  const Layout& reads() const { return list.values()[map().x.front()].layout; }
  const Layout& writes() const { return list.values()[map().y].layout; }
  // Of a type with one kernel, or one for each piece of the output: where it reads the first input,
  // the elements of that which this rank holds, and the outputs that it computes here, in global
  // indices.
  const Layout& use() const { return form.useOf(number); }
  Box input() const { return use().boxOfRank(rank()); }
  Box outputs() const { return form.outputsOf(number, form.output.grid().position(rank())); }
  int rank() const;
  KernelContextPtr context() const;

private:
  const Map& map() const;
};
using KernelMaker = std::unique_ptr<LocalKernel> (*)(const KernelSite& at);

// The scratch that the kernels of a form take on this rank. They are made for it and dropped, so
// that they are asked before there are parameters or operators.
Index scratchOfKernels(Layer& layer, const Form& form, KernelMaker make);

class BoundMaps {
public:
  // Of a network, whose nodes are joined: no maps as yet. The layer must outlive them.
  explicit BoundMaps(const Layer& layer);
  // The maps of a form of the layer's. Collective, as the making of operators is.
  BoundMaps(Layer& layer, const Form& form, KernelMaker make);

  // Of a network: what adds a value goes to the list itself.
  MapList& list() noexcept { return list_; }
  const MapList& list() const noexcept { return list_; }
  // The maps of a node, which outlives these, with its objects: see MapList::join().
  void join(const BoundMaps& node, const std::vector<ValueId>& reads, ValueId write);
  // A kernel without parameters of its own.
  void run(KernelEntry entry, std::vector<ValueId> reads, ValueId write,
           std::shared_ptr<LocalKernel> kernel);
  // Makes these, when all is joined, what runs by themselves: by the target and by what their
  // layers say. Kernels that others share stay theirs. A list that these are joined to wants them
  // as they were: see MapList::join().
  void rewrite(const Target& target);

  // What a map of the kind Operator moves between ranks; null if nothing.
  const LinearOp* conversionOf(const Map& map) const;

  const Layer& layer() const noexcept { return layer_; }
  LinearOp& op(int index) const { return *operators_[index]; }
  const BoundKernel& kernel(int index) const { return kernels_[index]; }
  const std::vector<BoundKernel>& kernels() const noexcept { return kernels_; }
  // Of a map whose kernel applies one to each element.
  const PointwiseFunction& function(int map) const {
    return *kernels_[list_.maps()[map].object].kernel->function();
  }
  // Of the kernels' parameters, with the layers that use them, those of maps within kernels too.
  // Kernels that share their uses are visited one after the other.
  void forEachUse(const std::function<void(ParameterUse& use, const Layer& layer)>& visit) const;
  Source& source(int index) const { return *sources_[index]; }
  DTensor& constant(int index) const { return *constants_[index]; }
  // In the layout and the list's data type; allocated when first used.
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(comm_, layout, type_, context_->space());
  }
  // For a value of a pass, which may be a rounding.
  Ref<DTensor> tensor(const Value& value) const;
  // Bytes in the space of the list.
  Buffer buffer(Index bytes, std::string label) const {
    return {bytes, std::move(label), context_->memory()};
  }
  // For several tensors, where ranks of the node can read them.
  Buffer memory(Index bytes) const;
  TenonDataType dataType() const noexcept { return type_; }
  KernelContext& context() const noexcept { return *context_; }
  // The log's event of a map's node: its layer's name, or type.
  int event(const Map& map) const { return nodes_[map.node].event; }
  const Layer& layerOf(const Map& map) const { return *nodes_[map.node].layer; }
  // Of the passes of these maps.
  const Observers& observers() const noexcept { return observers_; }
  void setObservers(Observers observers) noexcept { observers_ = std::move(observers); }
  // Memory of operators, constants, parameters in their use layouts, and segments.
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

// While this lives the parameters of the maps are constants.
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
