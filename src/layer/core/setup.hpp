// SPDX-License-Identifier: BSD-2-Clause
// A layer set up for one list of input layouts, as a list of maps, and what one Apply of it leaves
// for its adjoint. A layer maps its inputs x_1 .. x_k to one output y, or a graph to several;
// tangent and
// adjoint are those of the joint map:  dy_j = sum over i of J_ji dx_i,  dx_i = sum over j of J_ji* dy_j.
//
// The passes are derived once for each choice of inputs, and of the nodes that are in training
// where that makes a difference. Frames hold what derivatives read. All other values lie in one
// piece of memory that the passes share, since only one of them runs at a time, each where its
// lifetime allows (declaration/core/memory_plan.hpp). Where an argument is contiguous, the value
// that is staged for it stands in its memory. What a derivative reads of the caller's memory is a
// SavedTensor.
#pragma once

#include "declaration/core/memory_plan.hpp"
#include "layer/core/argument_staging.hpp"
#include "layer/core/bound_maps.hpp"
#include "layer/core/recorded_steps.hpp"

#include <deque>

namespace tenon {

class Frame {
public:
  // Lets go of the tensors that it refers to.
  void drop() noexcept;
  // Memory of its own, allocated now.
  Index bytes() const;

private:
  friend class Setup;
  std::vector<DTensor*> slots_;           // by value of Apply's pass
  std::vector<Ref<DTensor>> own_;         // of what derivatives read,
  Buffer savedMemory_;                    // and their memory
  std::vector<DTensor*> staging_;         // for staged values whose argument is not contiguous
  std::vector<SavedTensor> saved_;        // in the set-up's order
  std::vector<Buffer> workspaces_;        // by map
  std::vector<std::uint64_t> parameters_; // their states
  std::size_t passes_ = 0;                // number of the passes whose Apply it holds
};

class Setup {
public:
  // The inputs and the output are those of the list. The signature is for views; "" without one.
  Setup(BoundMaps maps, std::string signature);
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  const Layouts& inputs() const noexcept { return inputs_; }
  const Layouts& inputDuals() const noexcept { return inputDuals_; }
  const Layouts& outputs() const noexcept { return outputs_; }
  const Layouts& outputDuals() const noexcept { return outputDuals_; }
  // The only one, or the first.
  const Layout& output() const noexcept { return outputs_.front(); }
  // What runs, from the first frame on.
  const BoundMaps& maps() const noexcept { return maps_; }
  // As they were joined, for networks of which this is a node.
  const BoundMaps& joined() const noexcept { return joined_ ? *joined_ : maps_; }
  Order order() const noexcept { return order_; }
  void setObservers(Observers observers) noexcept { maps_.setObservers(std::move(observers)); }

  // The first one derives the passes, and allocates what all share.
  std::unique_ptr<Frame> makeFrame();
  // Keeps in the frame what the adjoint needs.
  void apply(Inputs x, Outputs y, Frame& frame, Saving saving = Saving::CopiesPlaced);
  // Keeps nothing; layers in training run as in training all the same.
  void infer(Inputs x, Outputs y);
  // dy <- J dx + (derivative in the parameters' tangents) at the frame's point.
  void tangent(Frame& frame, Inputs dx, Outputs dy);
  // dx <- J* dy; the parameters' gradients accumulate, and are complete then if it `completes`
  // them.
  void adjoint(Frame& frame, OutputCotangents dy, InputCotangents dx, bool completes = false);
  // A parameter that was changed since the frame's Apply, and its layer; null if there is none.
  using ParameterOfLayer = std::pair<const Parameter*, const Layer*>;
  const ParameterOfLayer* changedSince(const Frame& frame) const;
  std::string describe() const;
  // Memory of its own, allocated now; frames and parameters apart.
  Index bytes() const;
  // Of it what the passes share.
  Index sharedBytes() const noexcept { return shared_.bytes(); }

private:
  // A pass and the tensors of its values. Its arguments' slots are the caller's during a call.
  struct PassTensors {
    Pass pass;
    std::vector<Ref<DTensor>> own;
    std::vector<DTensor*> slots;
    MemoryPlan memoryPlan;
    const void* placedIn = nullptr; // the shared memory in which it is
    std::vector<ValueId> staged;
    std::vector<DTensor*> staging;           // where they lie if they cannot stand in another
    std::vector<UserCopy> copies;            // of them, by the last call
    std::vector<ValueId> left;               // by Apply, in its frame
    std::unique_ptr<RecordedSteps> recorded; // null where nothing is
  };
  struct Saved {
    ValueId value;       // of Apply's pass
    const Layer* reader; // whose derivative reads it
    UserCopy copy;       // by the last call
  };
  using Derive = Pass (*)(const MapList&, const Chosen&, Order, const InInference&);
  // Those of one choice of nodes that are in inference. Without steps: not derived as yet.
  struct Passes {
    InInference nodes;
    PassTensors apply, infer;
    std::deque<PassTensors> tangents, adjoints; // of all inputs, of none, then as they come
  };

  void derive();
  // As the layers of the nodes say now.
  std::size_t present();
  PassTensors& applyOf(Passes& passes);
  PassTensors& inferOf(Passes& passes);
  void noteReaders();
  void noteReader(const Map& map, const Layer& layer);
  static Index bytesOf(ValueId v, const PassTensors& of);
  PassTensors tensorsOf(Pass pass) const;
  void reserve(PassTensors& of);
  void bind(Frame& frame, std::size_t number);
  // The arguments of a pass: those of its inputs and outputs that are not null.
  using Slots = std::span<DTensor* const>;
  // Makes a pass ready to run on them.
  void enter(PassTensors& of, Slots inputs, Slots outputs, std::vector<DTensor*>& slots,
             const std::vector<DTensor*>& staging);
  // The pass for the arguments that are not null.
  PassTensors& find(std::deque<PassTensors>& known, const InInference& nodes, Slots inputs,
                    Slots outputs, Derive derive);
  // Runs it at the frame's point.
  const PassTensors& differentiate(std::deque<PassTensors> Passes::*known, Derive derive,
                                   Frame& frame, Slots inputs, Slots outputs, bool completes);
  void save(Frame& frame, Saving saving);
  // Returns whether the caller's array was copied.
  bool saveUsers(Frame& frame, std::size_t number, Saving saving);
  // Throws if the point of the Apply is gone.
  void restore(Frame& frame) const;
  std::string facts() const;
  std::string copiesText(const PassTensors& of, const char* call, bool cotangents) const;
  std::string role(ValueId argument, bool cotangents) const;

  BoundMaps maps_;
  std::unique_ptr<const BoundMaps> joined_; // null where these are they
  Order order_ = Order::Moved;
  std::string signature_;
  Layouts inputs_, inputDuals_, outputs_, outputDuals_;
  std::deque<Passes> passes_; // the first ones are those of training
  // The nodes that differ between training and inference, and whether that is so of their layers.
  std::vector<std::pair<int, const Layer*>> modal_;
  const PassTensors *lastApply_ = nullptr, *lastAdjoint_ = nullptr;
  Buffer shared_;
  bool poisons_ = false; // it before each pass
  Index savedBytes_ = 0;
  std::vector<std::pair<ValueId, Index>> savedPlaces_; // by value of Apply's pass
  std::vector<Saved> saved_; // what derivatives read that may be the caller's memory
  std::vector<ParameterOfLayer> parameters_;
};

} // namespace tenon
