// SPDX-License-Identifier: BSD-2-Clause
// A layer set up for one list of input layouts: its map list with the passes derived from it, and
// frames, which hold what one Apply leaves for its adjoint. A layer maps inputs x_1 .. x_k to
// outputs y_1 .. y_m (m = 1 except for graphs); tangent and adjoint are those of the joint map:
//
//   dy_j = sum over i of J_ji dx_i,   dx_i = sum over j of J_ji* dy_j
//
// Passes are derived once for each choice of inputs with tangents or cotangents, and for each
// choice of nodes in training or inference, if these differ. Frames hold the values that
// derivatives read. All other values share one buffer, since only one pass runs at a time; their
// offsets follow from their lifetimes (declaration/core/memory_plan.hpp). A value that is a
// contiguous copy of an argument uses the argument's memory if that is contiguous itself. Values in
// user memory that a derivative reads are saved by SavedTensor.
//
// The order of calls:
//
//   makeFrame()   once per level of the stack; the first call derives the passes
//   apply()       runs Apply and saves values in the frame; or infer(), which saves nothing
//   tangent()     at the frame's point
//   adjoint()     at the frame's point; afterwards Frame::drop() releases saved references
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
  // Releases the tensors that it refers to.
  void drop() noexcept;
  // Bytes of the frame's own memory, allocated now.
  Index bytes() const;

private:
  friend class Setup;
  std::vector<DTensor*> slots_;   // tensors by value of Apply's pass
  std::vector<Ref<DTensor>> own_; // saved values that the frame owns,
  Buffer savedMemory_;            // and their memory
  // Copies for staged values whose argument is not contiguous.
  std::vector<DTensor*> staging_;
  std::vector<SavedTensor> saved_;        // saved user tensors, in the order of the set-up
  std::vector<Buffer> workspaces_;        // by map
  std::vector<std::uint64_t> parameters_; // state counters of parameters at Apply
  std::size_t passes_ = 0;                // index of the passes whose Apply it holds
};

class Setup {
public:
  // Inputs and outputs are those of the list. The signature is for views, or "".
  Setup(BoundMaps maps, std::string signature);
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const Layouts& inputs() const noexcept { return inputs_; }
  const Layouts& inputDuals() const noexcept { return inputDuals_; }
  const Layouts& outputs() const noexcept { return outputs_; }
  const Layouts& outputDuals() const noexcept { return outputDuals_; }
  // The first, and for a layer the only, output.
  const Layout& output() const noexcept { return outputs_.front(); }
  // The maps that run; rewritten when the first frame is made.
  const BoundMaps& maps() const noexcept { return maps_; }
  // The maps before rewriting, for networks that contain this layer as a node.
  const BoundMaps& joined() const noexcept { return joined_ ? *joined_ : maps_; }
  Order order() const noexcept { return order_; }
  void setObservers(Observers observers) noexcept { maps_.setObservers(std::move(observers)); }

  // Creates a frame. The first call derives the passes and allocates the shared memory.
  std::unique_ptr<Frame> makeFrame();
  // Runs Apply, and saves in the frame the values that the adjoint needs.
  void apply(Inputs x, Outputs y, Frame& frame, Saving saving = Saving::CopiesPlaced);
  // Runs Apply and saves nothing. Layers that are in training mode remain in it.
  void infer(Inputs x, Outputs y);
  // dy <- J dx + (derivative with respect to parameters) * (their tangents), at the frame's point.
  void tangent(Frame& frame, Inputs dx, Outputs dy);
  // dx <- J* dy, and adds to the parameters' gradients. `completes`: they are complete afterwards.
  void adjoint(Frame& frame, OutputCotangents dy, InputCotangents dx, bool completes = false);
  // A parameter that was changed since the frame's Apply, with its layer; null if there is none.
  using ParameterOfLayer = std::pair<const Parameter*, const Layer*>;
  const ParameterOfLayer* changedSince(const Frame& frame) const;
  std::string describe() const;
  // Bytes of the set-up's own memory, allocated now, without frames and parameters.
  Index bytes() const;
  // Bytes of the memory that the passes share.
  Index sharedBytes() const noexcept { return shared_.bytes(); }

private:
  // A pass and the tensors of its values. The slots of arguments are set in each call.
  struct PassTensors {
    Pass pass;
    std::vector<Ref<DTensor>> own;
    std::vector<DTensor*> slots;
    MemoryPlan memoryPlan;
    const void* placedIn = nullptr;          // shared memory in which the values were placed
    std::vector<ValueId> staged;             // values that can use the memory of another
    std::vector<DTensor*> staging;           // and their own tensors, used if they cannot
    std::vector<UserCopy> copies;            // copies of staged arguments in the last call
    std::vector<ValueId> left;               // values that Apply has saved in its frame
    std::unique_ptr<RecordedSteps> recorded; // null if steps are not recorded
  };
  // A value of Apply's pass that derivatives read and that can be in user memory.
  struct Saved {
    ValueId value;
    const Layer* reader; // layer whose derivative reads it
    UserCopy copy;       // its copy in the last call
  };
  using Derive = Pass (*)(const MapList&, const Chosen&, Order, const InInference&);
  // The passes for one choice of nodes in inference. A pass without slots is not derived yet.
  struct Passes {
    InInference nodes;
    PassTensors apply, infer;
    std::deque<PassTensors> tangents, adjoints; // for all inputs, for none, then as needed
  };

  void derive();
  // The index of the passes for the current modes of the layers.
  std::size_t present();
  PassTensors& applyOf(Passes& passes);
  PassTensors& inferOf(Passes& passes);
  void noteReaders();
  void noteReader(const Map& map, const Layer& layer);
  static Index bytesOf(ValueId v, const PassTensors& of);
  PassTensors tensorsOf(Pass pass) const;
  void reserve(PassTensors& of);
  void bind(Frame& frame, std::size_t number);
  // The arguments of a pass; null for inputs and outputs that it does not use.
  using Slots = std::span<DTensor* const>;
  // Prepares a pass to run on these arguments.
  void enter(PassTensors& of, Slots inputs, Slots outputs, std::vector<DTensor*>& slots,
             const std::vector<DTensor*>& staging);
  // The pass for the arguments that are not null, derived if necessary.
  PassTensors& find(std::deque<PassTensors>& known, const InInference& nodes, Slots inputs,
                    Slots outputs, Derive derive);
  // Runs such a pass at the frame's point.
  const PassTensors& differentiate(std::deque<PassTensors> Passes::*known, Derive derive,
                                   Frame& frame, Slots inputs, Slots outputs, bool completes);
  void save(Frame& frame, Saving saving);
  // Returns whether the user array was copied.
  bool saveUsers(Frame& frame, std::size_t number, Saving saving);
  // Sets the saved values. Throws if a tensor or parameter was changed since the Apply.
  void restore(Frame& frame) const;
  std::string facts() const;
  std::string copiesText(const PassTensors& of, const char* call, bool cotangents) const;
  std::string role(ValueId argument, bool cotangents) const;

  BoundMaps maps_;
  std::unique_ptr<const BoundMaps> joined_; // null if maps_ was not rewritten
  Order order_ = Order::Moved;
  std::string signature_;
  Layouts inputs_, inputDuals_, outputs_, outputDuals_;
  std::deque<Passes> passes_; // the first is for training
  // The nodes that differ between training and inference, with their layers.
  std::vector<std::pair<int, const Layer*>> modal_;
  const PassTensors *lastApply_ = nullptr, *lastAdjoint_ = nullptr;
  Buffer shared_;
  bool poisons_ = false; // fills shared_ with NaN before each pass
  Index savedBytes_ = 0;
  std::vector<std::pair<ValueId, Index>> savedPlaces_; // offset by value of Apply's pass
  std::vector<Saved> saved_;
  std::vector<ParameterOfLayer> parameters_;
};

} // namespace tenon
