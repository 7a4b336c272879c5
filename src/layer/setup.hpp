// SPDX-License-Identifier: BSD-2-Clause
// A layer set up for one list of input layouts, as a list of maps, and what one Apply of it leaves
// for its adjoint. A layer maps its inputs x_1 .. x_k to one output y; tangent and adjoint are those of
// the joint map:  dy = sum over i of J_i dx_i,  dx_i = J_i* dy.
//
// The passes are derived once for each choice of inputs. Frames hold what derivatives read, and
// share the rest. Where an argument is contiguous, the value that is staged for it stands in its
// memory. What a derivative reads of the caller's memory is a SavedTensor.
#pragma once

#include "layer/bound_maps.hpp"
#include "layer/callers_copy.hpp"
#include "layer/pass_runner.hpp"
#include "layer/saved.hpp"

namespace tenon {

class Frame {
public:
  // Lets go of the tensors that it refers to.
  void drop() noexcept;
  // Memory of its own, allocated now.
  Index bytes() const;

private:
  friend class Setup;
  std::vector<DTensor*> slots_;           // by value of the list
  std::vector<Ref<DTensor>> own_;         // of what derivatives read
  std::vector<DTensor*> staging_;         // for staged values whose argument is not contiguous
  std::vector<SavedTensor> saved_;        // in the set-up's order
  std::vector<Buffer> workspaces_;        // by map
  std::vector<std::uint64_t> parameters_; // their states
};

class Setup {
public:
  // The lines of a view that say what a layer is on its process grid.
  using Facts = std::string (*)(const Setup& setup);
  // The inputs and the output are those of the list. The signature is for the facts.
  Setup(BoundMaps maps, std::string signature, Facts facts);
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  // As -tenon_overlap_steps says, which is the same on all ranks.
  static Order orderFromOptions();

  const Layouts& inputs() const noexcept { return inputs_; }
  const Layouts& inputDuals() const noexcept { return inputDuals_; }
  const Layout& output() const noexcept { return output_; }
  const Layout& outputDual() const noexcept { return outputDual_; }
  const BoundMaps& maps() const noexcept { return maps_; }
  void setWatch(StepWatch* watch) noexcept { maps_.setWatch(watch); }
  const std::string& signature() const noexcept { return signature_; }

  // The first one derives the passes, and allocates what all share.
  std::unique_ptr<Frame> makeFrame();
  // Keeps in the frame what the adjoint needs if `training`, else uses it as scratch alone.
  void apply(Inputs x, DTensor& y, Frame& frame, bool training);
  // The same, but nothing of the caller's memory is saved, so that no adjoint can follow.
  void run(Inputs x, DTensor& y, Frame& frame, bool training);
  // dy <- J dx + (derivative in the parameters' tangents) at the frame's point.
  void tangent(Frame& frame, Inputs dx, DTensor& dy);
  // dx <- J* dy; the parameters' gradients accumulate.
  void adjoint(Frame& frame, const DTensor& dy, InputCotangents dx);
  // A parameter that was changed since the frame's Apply; null if there is none.
  const Parameter* changedSince(const Frame& frame) const;
  std::string describe() const;
  // Memory of its own, allocated now; frames and parameters apart.
  Index bytes() const;

private:
  // A pass and the tensors of its values. Its arguments' slots are the caller's during a call.
  struct PassTensors {
    Pass pass;
    std::vector<Ref<DTensor>> own;
    std::vector<DTensor*> slots;
    std::vector<ValueId> staged;
    std::vector<DTensor*> staging;   // where they lie if their argument is not contiguous
    std::vector<CallersCopy> copies; // of them, by the last call
  };
  struct Saved {
    ValueId value;
    const Layer* reader; // whose derivative reads it
    CallersCopy copy;    // by the last call
  };
  using Derive = Pass (*)(const MapList&, const Chosen&, Order);

  void derive();
  void noteReader(const Map& map, const Layer& layer);
  PassTensors tensorsOf(Pass pass) const;
  // The pass for the tensors that are not null.
  template <class Tensors>
  PassTensors& find(std::vector<PassTensors>& known, Tensors chosen, Derive derive);
  // Lets the staged values stand in their arguments where these are contiguous.
  static void stage(PassTensors& of, std::vector<DTensor*>& slots,
                    const std::vector<DTensor*>& staging);
  void save(Frame& frame);
  // Throws if the point of the Apply is gone.
  void restore(Frame& frame) const;
  std::string copiesText(const PassTensors& of, const char* call, bool cotangents) const;
  std::string role(ValueId argument, bool cotangents) const;

  BoundMaps maps_;
  Order order_ = orderFromOptions();
  std::string signature_;
  Facts facts_;
  Layouts inputs_, inputDuals_;
  Layout output_, outputDual_;
  PassTensors apply_;
  Pass inference_;                               // on the same tensors
  std::vector<PassTensors> tangents_, adjoints_; // of all inputs, of none, then as they come
  std::size_t lastAdjoint_ = 0;
  std::vector<Saved> saved_; // what derivatives read that may be the caller's memory
  std::vector<std::pair<const Parameter*, const Layer*>> parameters_;
};

} // namespace tenon
