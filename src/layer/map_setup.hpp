// SPDX-License-Identifier: BSD-2-Clause
// A layer set up as a list of maps: its passes, derived once for each choice of inputs, and their
// memory. A frame holds what derivatives read, all frames share the rest.
//
// Where an argument is contiguous, the value that is staged for it stands in its memory. What a
// derivative reads of the caller's memory is a SavedTensor.
#pragma once

#include "layer/callers_copy.hpp"
#include "layer/layer.hpp"
#include "layer/pass_runner.hpp"

namespace tenon {

class MapSetup : public Setup {
public:
  // The inputs and the output are those of the list.
  MapSetup(const Layer& layer, BoundMaps maps);
  ~MapSetup() override;

  std::unique_ptr<Frame> makeFrame() final;
  void applyMany(Inputs x, DTensor& y, Frame& frame, bool training) final;
  void tangentMany(Frame& frame, Inputs dx, DTensor& dy) final;
  void adjointMany(Frame& frame, const DTensor& dy, InputCotangents dx) final;
  std::string describe() const final;
  Index bytes() const final;

protected:
  // The lines of a view that say what the layer is on its process grid.
  virtual std::string facts() const = 0;
  const BoundMaps& maps() const noexcept { return maps_; }

private:
  struct PassFrame;
  // A pass and the tensors of its values. Its arguments' slots are the caller's during a call.
  struct PassTensors {
    Pass pass;
    std::vector<Ref<DTensor>> own;
    std::vector<DTensor*> slots;
    std::vector<ValueId> staged;
    std::vector<CallersCopy> copies; // of the staged values, by the last call
  };
  using Derive = Pass (*)(const MapList&, const Chosen&, Order);

  static Layouts inputsOf(const MapList& list);
  bool isCallers(ValueId v) const;
  PassTensors tensorsOf(Pass pass) const;
  // The pass for the tensors that are not null.
  template <class Tensors>
  PassTensors& find(std::vector<PassTensors>& known, Tensors chosen, Derive derive);
  // Lets the staged values stand in their arguments where these are contiguous.
  void stage(PassTensors& of, DTensor** slots, const Ref<DTensor>* own);
  void save(PassFrame& frame);
  void restore(PassFrame& frame) const;
  std::string copiesText(const PassTensors& of, const char* call, bool cotangents) const;
  std::string role(ValueId argument, bool cotangents) const;
  std::string passesText() const;

  const Layer& layer_;
  BoundMaps maps_;
  PassTensors apply_;
  std::vector<PassTensors> tangents_, adjoints_; // of all inputs, of none, then as they come
  std::size_t lastAdjoint_ = 0;
  std::vector<ValueId> saved_;           // what derivatives read that may be the caller's memory
  std::vector<CallersCopy> savedCopies_; // by the last call
  std::vector<const Parameter*> parameters_;
};

} // namespace tenon
