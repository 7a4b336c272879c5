// SPDX-License-Identifier: BSD-2-Clause
#include "layer/map_setup.hpp"

#include "layer/held_bytes.hpp"
#include "layer/saved.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Slots are of tensors to read and to write; a pass does not write its operands.
DTensor* slotOf(const DTensor* tensor) {
  return const_cast<DTensor*>(tensor);
}

} // namespace

struct MapSetup::PassFrame final : Frame {
  std::vector<DTensor*> slots;           // by value of the list
  std::vector<Ref<DTensor>> own;         // of values that derivatives read, and of staged ones
  std::vector<SavedTensor> saved;        // in the order of saved_
  std::vector<Buffer> workspaces;        // by map
  std::vector<std::uint64_t> parameters; // their states

  void drop() noexcept override {
    for (SavedTensor& tensor : saved)
      tensor.drop();
  }
  Index bytes() const override {
    Index sum = 0;
    for (std::size_t v = 0; v < own.size(); ++v)
      if (kept[v])
        sum += heldBytes(own[v]);
    for (const SavedTensor& tensor : saved)
      sum += tensor.bytes();
    for (const Buffer& workspace : workspaces)
      sum += workspace.bytes();
    return sum;
  }
  std::vector<bool> kept; // of the values: is the frame's own
};

MapSetup::MapSetup(const Layer& layer, BoundMaps maps)
    : Setup(inputsOf(maps.list()), maps.list().values()[maps.list().output()].layout),
      layer_(layer), maps_(std::move(maps)), apply_(tensorsOf(applyPass(maps_.list()))),
      parameters_(maps_.parameters()) {
  const std::vector<Value>& values = maps_.list().values();
  for (ValueId v = 0; v < static_cast<ValueId>(values.size()); ++v) {
    if (values[v].kept && isCallers(v))
      saved_.push_back(v);
    if (values[v].kept)
      apply_.own[v] = {}; // each frame has its own
    else if (apply_.own[v] && !isCallers(v))
      apply_.own[v]->allocate();
    if (values[v].place == Value::Place::Constant)
      apply_.slots[v] = &maps_.constant(values[v].constant);
  }
  savedCopies_.resize(saved_.size());
  for (bool chosen : {true, false}) {
    const Chosen same(inputs().size(), chosen);
    adjoints_.push_back(tensorsOf(adjointPass(maps_.list(), same)));
    tangents_.push_back(tensorsOf(tangentPass(maps_.list(), same)));
  }
}

MapSetup::~MapSetup() = default;

Layouts MapSetup::inputsOf(const MapList& list) {
  Layouts layouts;
  for (ValueId input : list.inputs())
    layouts.push_back(list.values()[input].layout);
  return layouts;
}

bool MapSetup::isCallers(ValueId v) const {
  const Value& value = maps_.list().values()[v];
  return value.place == Value::Place::Argument || value.standsIn != kNoValue;
}

MapSetup::PassTensors MapSetup::tensorsOf(Pass pass) const {
  PassTensors made{std::move(pass), {}, {}, {}, {}};
  for (const Value& value : made.pass.values) {
    made.own.push_back(value.place == Value::Place::Own ? maps_.tensor(value.layout)
                                                        : Ref<DTensor>());
    made.slots.push_back(made.own.back().get());
    if (value.standsIn != kNoValue)
      made.staged.push_back(static_cast<ValueId>(made.slots.size()) - 1);
  }
  made.copies.resize(made.staged.size());
  return made;
}

std::unique_ptr<Frame> MapSetup::makeFrame() {
  auto frame = std::make_unique<PassFrame>();
  const MapList& list = maps_.list();
  frame->slots = apply_.slots;
  frame->own = apply_.own;
  for (ValueId v = 0; v < static_cast<ValueId>(list.values().size()); ++v) {
    const Value& value = list.values()[v];
    frame->kept.push_back(value.kept && value.place == Value::Place::Own);
    if (!frame->kept[v])
      continue;
    frame->own[v] = maps_.tensor(value.layout);
    frame->slots[v] = frame->own[v].get();
    if (!isCallers(v))
      frame->own[v]->allocate();
  }
  frame->saved.resize(saved_.size());
  for (const Map& map : list.maps())
    frame->workspaces.emplace_back(
        map.kind == Map::Kind::Kernel ? maps_.kernel(map.object).kernel->workspaceBytes() : 0,
        layer_.title() + " workspace");
  frame->parameters.resize(parameters_.size());
  return frame;
}

void MapSetup::stage(PassTensors& of, DTensor** slots, const Ref<DTensor>* own) {
  for (std::size_t i = 0; i < of.staged.size(); ++i) {
    const ValueId v = of.staged[i];
    DTensor* argument = slots[of.pass.values[v].standsIn];
    const bool copied = !argument->isContiguous();
    slots[v] = copied ? own[v].get() : argument;
    of.copies[i].note(copied, *argument);
  }
}

void MapSetup::applyMany(Inputs x, DTensor& y, Frame& base, bool training) {
  auto& frame = static_cast<PassFrame&>(base);
  for (std::size_t i = 0; i < x.size(); ++i)
    frame.slots[apply_.pass.inputs[i]] = slotOf(x[i]);
  frame.slots[apply_.pass.output] = &y;
  stage(apply_, frame.slots.data(), frame.own.data());
  runPass(maps_, apply_.pass, frame.slots.data(),
          {frame.slots.data(), training ? frame.workspaces.data() : nullptr});
  if (training)
    save(frame);
}

void MapSetup::save(PassFrame& frame) {
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const DTensor& tensor = *frame.slots[saved_[i]];
    if (&tensor != frame.own[saved_[i]].get())
      savedCopies_[i].note(frame.saved[i].keep(tensor), tensor);
    else
      savedCopies_[i].note(false, tensor);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    frame.parameters[i] = parameters_[i]->state();
}

// Throws if the point of the Apply is gone.
void MapSetup::restore(PassFrame& frame) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (frame.parameters[i] != parameters_[i]->state())
      throw Error(
          TENON_ERR_STATE,
          fmt::format("parameter \"{}\" of {} was changed after TenonLayerApply(), so that its "
                      "adjoint cannot be evaluated; update parameters after "
                      "TenonLayerApplyAdjoint()",
                      parameters_[i]->name(), layer_.title()));
  for (std::size_t i = 0; i < saved_.size(); ++i)
    if (frame.slots[saved_[i]] != frame.own[saved_[i]].get())
      frame.slots[saved_[i]] = slotOf(&frame.saved[i].get(layer_.title()));
}

template <class Tensors>
MapSetup::PassTensors& MapSetup::find(std::vector<PassTensors>& known, Tensors chosen,
                                      Derive derive) {
  for (PassTensors& of : known) {
    bool same = true;
    for (std::size_t i = 0; same && i < chosen.size(); ++i)
      same = (of.pass.inputs[i] != kNoValue) == (chosen[i] != nullptr);
    if (same)
      return of;
  }
  Chosen inputs;
  for (const DTensor* tensor : chosen)
    inputs.push_back(tensor != nullptr);
  known.push_back(tensorsOf(derive(maps_.list(), inputs, Order::Moved)));
  return known.back();
}

void MapSetup::tangentMany(Frame& base, Inputs dx, DTensor& dy) {
  auto& frame = static_cast<PassFrame&>(base);
  restore(frame);
  PassTensors& of = find(tangents_, dx, tangentPass);
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i])
      of.slots[of.pass.inputs[i]] = slotOf(dx[i]);
  of.slots[of.pass.output] = &dy;
  stage(of, of.slots.data(), of.own.data());
  runPass(maps_, of.pass, of.slots.data(), {frame.slots.data(), frame.workspaces.data()});
}

void MapSetup::adjointMany(Frame& base, const DTensor& dy, InputCotangents dx) {
  auto& frame = static_cast<PassFrame&>(base);
  restore(frame);
  PassTensors& of = find(adjoints_, dx, adjointPass);
  lastAdjoint_ = static_cast<std::size_t>(&of - adjoints_.data());
  of.slots[of.pass.output] = slotOf(&dy);
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i])
      of.slots[of.pass.inputs[i]] = dx[i];
  stage(of, of.slots.data(), of.own.data());
  runPass(maps_, of.pass, of.slots.data(), {frame.slots.data(), frame.workspaces.data()});
}

std::string MapSetup::role(ValueId argument, bool cotangents) const {
  const MapList& list = maps_.list();
  std::string name = "output";
  for (std::size_t i = 0; i < list.inputs().size(); ++i)
    if (list.inputs()[i] == argument)
      name = list.inputs().size() == 1 ? "input" : fmt::format("input {}", i);
  return cotangents ? name + " cotangent" : name;
}

std::string MapSetup::copiesText(const PassTensors& of, const char* call, bool cotangents) const {
  const MapList& list = maps_.list();
  std::string text;
  for (std::size_t i = 0; i < of.staged.size(); ++i) {
    const ValueId argument = of.pass.values[of.staged[i]].standsIn;
    ValueId ofList = list.output();
    for (std::size_t k = 0; k < of.pass.inputs.size(); ++k)
      if (of.pass.inputs[k] == argument)
        ofList = list.inputs()[k];
    text += of.copies[i].describe(call, role(ofList, cotangents).c_str(), "strided array");
  }
  return text;
}

std::string MapSetup::passesText() const {
  const MapList& list = maps_.list();
  return "  apply\n" + tenon::describe(list, apply_.pass) + "  adjoint\n" +
         tenon::describe(list, adjoints_.front().pass);
}

std::string MapSetup::describe() const {
  std::string text = facts() + copiesText(apply_, "Apply", false);
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const ValueId standsIn = maps_.list().values()[saved_[i]].standsIn;
    text += savedCopies_[i].describe(
        "Apply in training", role(standsIn == kNoValue ? saved_[i] : standsIn, false).c_str(),
        "saved for the adjoint");
  }
  text += copiesText(adjoints_[lastAdjoint_], "ApplyAdjoint", true);
  return viewsInDetail() ? text + passesText() : text;
}

Index MapSetup::bytes() const {
  Index sum = maps_.bytes() + heldBytes(apply_.own);
  for (const auto* known : {&tangents_, &adjoints_})
    for (const PassTensors& of : *known)
      sum += heldBytes(of.own);
  return sum;
}

} // namespace tenon
