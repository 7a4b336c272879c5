// SPDX-License-Identifier: BSD-2-Clause
// A map list with the objects that run it on this rank. The map list
// (declaration/core/map_list.hpp) describes a layer as a short program, in which each map reads and
// writes numbered values (tensors). It has tables of
//
//   operators   linear operators between layouts: most redistribute data between ranks; some, such
//               as a crop to the owned elements, are local
//   kernels     compute on the arrays of one rank
//   sources     update an array before kernels read it: parameters, targets, states
//   constants   tensors with fixed values
//
// and this class has one object for each entry, in the same order. Terms of this file:
//
//   form             the layouts of all arrays of a layer for given inputs
//                    (declaration/core/form.hpp)
//
//   node             one use of a layer in a network (but see memory(), for a node of the machine)
//
//   use              a parameter in the layout in which the kernels read it (parameter.hpp,
//                    ParameterUse), which can differ from the one in which it is stored
//
//   type on tensors  a layer type whose kernels need more than arrays, such as targets, states or
//                    operators; they are made by make<Name>Kernel() (layer_types.hpp), other
//                    kernels by the declaration
//
//   epilogue         an elementwise function that the preceding kernel applies to its output
#pragma once

#include "compile/program/compiled_network.hpp"
#include "declaration/kernel/kernel_place.hpp"
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
  std::shared_ptr<ParameterUses> uses; // its parameters; shared by all kernels of a layer's form
  const Layer* layer;

  // Whether some of its parameters are not frozen.
  bool wantsGradients() const;
  // Marks the gradients of the parameters as changed. Must be called on all ranks.
  void changeGradients() const;
};

using Sources = std::vector<std::shared_ptr<Source>>;

// The argument of make<Name>Kernel(): the place of the kernel (which kernel of which form, on which
// rank), and the objects on which it can depend.
struct KernelSite : KernelPlace {
  Layer& layer;
  const Sources& sources;               // of the list; kernels may keep references
  const std::vector<BoundKernel>& made; // kernels of the list that exist already
  // The operators of the list; empty if the kernel is only made to measure its scratch memory.
  const std::vector<LinearOpRef>& operators;
};
// make<Name>Kernel(); null for types whose kernels are made by the declaration.
using KernelMaker = std::unique_ptr<LocalKernel> (*)(const KernelSite& at);

// The bytes of scratch memory that the kernels of a form need on this rank. Kernels are created and
// discarded to find the number, before parameters or operators exist.
Index scratchOfKernels(Layer& layer, const Form& form, KernelMaker make);

// The list and its objects. Two kinds exist: the list of one node, which owns its objects (the
// first two constructors), and the list that runs, which is joined from the lists of a network's
// nodes and shares their objects (the third).
class BoundMaps {
public:
  // The list of a layer as a node of a compiled network, without fused kernels. Collective, because
  // operators are created. The layer must outlive it.
  BoundMaps(Layer& layer, const CompiledNetwork::Node& node, KernelMaker make);
  // The list of a container that recomputes as a whole: one map, whose kernel runs the maps of the
  // container.
  BoundMaps(const Layer& layer, const CompiledNetwork::Node& node,
            std::shared_ptr<LocalKernel> kernel);
  // The list of a compiled network. `nodes` has the list of each of its nodes. Not collective.
  BoundMaps(const Layer& layer, const CompiledNetwork& network,
            const std::vector<std::shared_ptr<const BoundMaps>>& nodes);

  const MapList& list() const noexcept { return list_; }

  // The operator of a map that redistributes data between ranks; null for other operators.
  const LinearOp* redistributionOf(const Map& map) const;

  const Layer& layer() const noexcept { return layer_; }
  LinearOp& op(int index) const { return *operators_[index]; }
  const BoundKernel& kernel(int index) const { return kernels_[index]; }
  const std::vector<BoundKernel>& kernels() const noexcept { return kernels_; }
  // The elementwise function of a map whose kernel is one.
  const PointwiseFunction& function(int map) const {
    return *kernels_[list_.maps()[map].object].kernel->function();
  }
  // Calls visit() for each parameter that a kernel uses, with the layer of that kernel. Where a
  // kernel itself runs a list of maps (a container that recomputes), the parameters of that list
  // follow. A parameter is visited once per kernel: twice if its layer has two kernels. The kernels
  // of one layer are adjacent, so a caller can skip repetitions by comparing with the last visit.
  void forEachUse(const std::function<void(ParameterUse& use, const Layer& layer)>& visit) const;
  Source& source(int index) const { return *sources_[index]; }
  DTensor& constant(int index) const { return *constants_[index]; }
  // A tensor in the layout with the list's data type; allocated on first use.
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(comm_, layout, type_, context_->space());
  }
  // A tensor for a value of a pass. It has bfloat16 elements if the value is the rounded copy of
  // another one.
  Ref<DTensor> tensor(const Value& value) const;
  // A buffer in the memory space of the list.
  Buffer buffer(Index bytes, std::string label) const {
    return {bytes, std::move(label), context_->memory()};
  }
  // Memory for several tensors, readable by other ranks on the same node of the machine (shared
  // memory).
  Buffer memory(Index bytes) const;
  TenonDataType dataType() const noexcept { return type_; }
  KernelContext& context() const noexcept { return *context_; }
  // The log event of a map's node, by the name or type of its layer.
  int event(const Map& map) const { return nodes_[map.node].event; }
  const Layer& layerOf(const Map& map) const { return *nodes_[map.node].layer; }
  const Layer& layerOfNode(int node) const { return *nodes_[node].layer; }
  // Observers of the passes of these maps (pass_observer.hpp).
  const Observers& observers() const noexcept { return observers_; }
  void setObservers(Observers observers) noexcept { observers_ = std::move(observers); }
  // Bytes allocated now for operators, constants, parameters in their use layouts, and kernels.
  Index bytes() const;

private:
  explicit BoundMaps(const Layer& layer);
  // Replaces the kernels that the list fuses (KernelEntry::fused) by one kernel each.
  void fuseKernels();
  // Tells each kernel its epilogue before it is called, since autotuning measures both together.
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
  Observers observers_;
};

// While the object exists, the parameters of these maps are constants: without tangents or
// gradients.
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
