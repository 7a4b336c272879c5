// SPDX-License-Identifier: BSD-2-Clause
// A layer set up for one list of input layouts. The words that this file uses:
//
//   map list   the layer as a short program of communication operators and local kernels, each with
//              the numbers of the values (tensors) that it reads and writes
//   pass       the ordered steps of one Apply, tangent or adjoint, derived from the map list
//   frame      the values that one Apply saves for its adjoint
//   slot       the pointer to the tensor of a value, in a table by value
//   argument   a tensor of the caller
//
// A layer maps inputs x_1 .. x_k to outputs y_1 .. y_m (m = 1 except for graphs); with the
// Jacobians J_ji of y_j with respect to x_i, tangent and adjoint are
//
//   dy_j = sum over i of J_ji dx_i,   dx_i = sum over j of J_ji* dy_j
//
// Passes are derived once for each choice of inputs with tangents or cotangents, and for each
// choice of nodes in training or inference, if these differ. Values that are not saved share one
// buffer, since only one pass runs at a time; their offsets follow from the first and last step
// that use them (declaration/core/memory_plan.hpp). Values in user memory that a derivative reads
// are saved by SavedTensor. A staged value is a contiguous copy of an argument, or a saved value
// converted back from bfloat16. If the argument is contiguous, or the saved value was not rounded,
// the staged value uses its memory and nothing is copied.
//
// The calls of Layer, in order:
//
//   makeFrame()   once per level of the stack; the first call derives the passes
//   apply()       runs Apply and saves values in the frame; or infer(), which saves nothing
//   tangent()     at the point of the frame's Apply
//   adjoint()     at the point of the frame's Apply; Frame::drop() then releases saved tensors
#pragma once

#include "declaration/core/memory_plan.hpp"
#include "layer/core/argument_staging.hpp"
#include "layer/core/bound_maps.hpp"
#include "layer/core/recorded_steps.hpp"

#include <deque>

namespace tenon {

// The values of one Apply that derivatives read.
class Frame {
public:
  // Releases the user's tensors that the frame refers to.
  void drop() noexcept;
  // Bytes of the frame's own memory, allocated now.
  Index bytes() const;

private:
  friend class Setup;
  std::vector<DTensor*> slots_;   // by value of Apply's pass
  std::vector<Ref<DTensor>> own_; // by value: the tensor if the frame owns it,
  Buffer savedMemory_;            // and the memory of these tensors
  // Tensors for staged values whose argument is not contiguous, in the order of
  // PassTensors::staged.
  std::vector<DTensor*> staging_;
  std::vector<SavedTensor> saved_;        // saved user tensors, as in Setup::saved_
  std::vector<Buffer> workspaces_;        // by map
  std::vector<std::uint64_t> parameters_; // state counters of parameters at the time of Apply
  std::size_t passes_ = 0;                // index in Setup::passes_ of the Apply that ran
};

// The passes of a layer for one list of input layouts, and the memory in which they run.
class Setup {
public:
  // A compiled network, and its list with the objects.
  Setup(BoundMaps maps, std::shared_ptr<const CompiledNetwork> network);
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const Layouts& inputs() const noexcept { return inputs_; }
  const Layouts& inputDuals() const noexcept { return inputDuals_; }
  const Layouts& outputs() const noexcept { return outputs_; }
  const Layouts& outputDuals() const noexcept { return outputDuals_; }
  // The first, and for a layer the only, output.
  const Layout& output() const noexcept { return outputs_.front(); }
  // The map list that runs.
  const BoundMaps& maps() const noexcept { return maps_; }
  const CompiledNetwork& network() const noexcept { return *network_; }
  void setObservers(Observers observers) noexcept { maps_.setObservers(std::move(observers)); }

  // Creates a frame. The first call derives the passes and allocates the shared memory.
  std::unique_ptr<Frame> makeFrame();
  // Does the same for infer(), without memory of a frame or of an adjoint.
  void prepareInference();
  // Runs Apply, and saves in the frame the values that the adjoint needs.
  void apply(Inputs x, Outputs y, Frame& frame, Saving saving = Saving::CopiesPlaced);
  // Runs Apply and saves nothing. Layers that are in training mode remain in it.
  void infer(Inputs x, Outputs y);
  // dy <- J dx + (derivative with respect to parameters) * (their tangents), at the frame's point.
  void tangent(Frame& frame, Inputs dx, Outputs dy);
  // dx <- J* dy, and adds to the parameters' gradients. `completes`: no later adjoint adds to these
  // gradients before the optimizer reads them, so their reduction can start.
  void adjoint(Frame& frame, OutputCotangents dy, InputCotangents dx, bool completes = false);
  // A parameter that was changed since the frame's Apply, with its layer; null if there is none.
  using ParameterOfLayer = std::pair<const Parameter*, const Layer*>;
  const ParameterOfLayer* changedSince(const Frame& frame) const;
  // Lines about the arrays that calls copy, and in detail the steps of the passes.
  std::string describe() const;
  // Bytes of the set-up's own memory, allocated now, without frames and parameters.
  Index bytes() const;
  // Bytes of the memory that the passes share.
  Index sharedBytes() const noexcept { return shared_.bytes(); }

private:
  // A pass and the tensors of its values. Each call sets the slots of the arguments.
  struct PassTensors {
    Pass pass;
    InferencePlan inference;       // empty but for Apply in inference
    std::vector<Ref<DTensor>> own; // by value: the tensor if the pass owns it
    std::vector<DTensor*> slots;
    MemoryPlan memoryPlan;
    const void* placedIn = nullptr;          // shared memory in which the values were placed
    std::vector<ValueId> staged;             // values that can use the memory of another
    std::vector<DTensor*> staging;           // their own tensors, used if they cannot
    std::vector<UserCopy> copies;            // copies of staged arguments in the last call
    std::vector<ValueId> savedInFrame;       // values of a derivative's pass that are in the frame
    std::unique_ptr<RecordedSteps> recorded; // null if steps are not recorded
  };
  // A value of Apply's pass that derivatives read and that can be in user memory.
  struct Saved {
    ValueId value;
    const Layer* reader; // layer whose derivative reads it
    UserCopy copy;       // its copy in the last call
  };
  // tangentPass() or adjointPass() of declaration/core/pass.hpp.
  using Derive = Pass (*)(const MapList&, const Chosen&, Order, const InInference&);
  // The passes for one choice of nodes in inference, the others being in training. A pass whose
  // slots are empty is not derived yet.
  struct Passes {
    InInference nodes;
    PassTensors apply;
    PassTensors evaluate, infer; // Apply without saving: of layers in training, and in inference
    std::deque<PassTensors> tangents, adjoints; // for all inputs, for none, then others
  };

  void derive();
  // The index in passes_ for the present training modes of the layers; derives the passes if
  // necessary.
  std::size_t presentPasses();
  // The passes of Apply with and without saving; derived on first use.
  PassTensors& applyOf(Passes& passes);
  PassTensors& inferOf(Passes& passes);
  // These fill saved_ and parameters_.
  void noteReaders();
  void noteReader(const Map& map, const Layer& layer);
  static Index bytesOf(ValueId v, const PassTensors& of);
  // Creates the tensors of a pass, without memory for their values.
  PassTensors tensorsOf(Pass pass, InferencePlan inference = {}) const;
  void placeValues(PassTensors& of);
  void bindFrame(Frame& frame, std::size_t number);
  // The arguments of a pass; null for inputs and outputs that it does not use.
  using Slots = std::span<DTensor* const>;
  // Prepares a pass to run on these arguments: writes their addresses to the slots.
  void setArguments(PassTensors& of, Slots inputs, Slots outputs, std::vector<DTensor*>& slots,
                    const std::vector<DTensor*>& staging);
  // The pass among `known` for exactly the arguments that are not null; derives it if there is
  // none.
  PassTensors& passFor(std::deque<PassTensors>& known, const InInference& nodes, Slots inputs,
                       Slots outputs, Derive derive);
  // Runs such a pass at the point of the frame's Apply.
  const PassTensors& differentiate(std::deque<PassTensors> Passes::*known, Derive derive,
                                   Frame& frame, Slots inputs, Slots outputs, bool completes);
  void save(Frame& frame, Saving saving);
  // Returns whether the user array was copied.
  bool saveUserTensor(Frame& frame, std::size_t number, Saving saving);
  // Sets the frame's slots to the saved user tensors. Throws if such a tensor or a parameter was
  // changed since the Apply.
  void restoreSaved(Frame& frame) const;
  std::string copiesText(const PassTensors& of, const char* call, bool cotangents) const;
  std::string role(ValueId argument, bool cotangents) const;

  BoundMaps maps_;
  std::shared_ptr<const CompiledNetwork> network_;
  Order order_; // whether exchanges overlap with kernels
  Layouts inputs_, inputDuals_, outputs_, outputDuals_;
  std::deque<Passes> passes_; // the first is for training of all nodes
  // The numbers of the nodes that differ between training and inference, with their layers.
  std::vector<std::pair<int, const Layer*>> modeNodes_;
  const PassTensors *lastApply_ = nullptr, *lastAdjoint_ = nullptr;
  Buffer shared_;                                      // the values of the pass that runs
  bool poisons_ = false;                               // fills shared_ with NaN before each pass
  Index savedBytes_ = 0;                               // of a frame
  std::vector<std::pair<ValueId, Index>> savedPlaces_; // offset by value of Apply's pass
  std::vector<Saved> saved_;
  std::vector<ParameterOfLayer> parameters_; // all that the kernels use, each once
};

// Lines of a view about a layer that computes, from the list of the layer alone: process grid,
// signature, kernels, layouts and communication.
std::string describeLayer(const BoundMaps& maps, const std::string& signature);
// The lines about a container. `setup` is null if the container is only a part of networks.
std::string describeNetwork(const Layouts& inputs, const Layouts& outputs, const Setup* setup);

} // namespace tenon
