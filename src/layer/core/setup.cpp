// SPDX-License-Identifier: BSD-2-Clause
// A layer that is set up for given input layouts. Its evaluation is described by the map list: a
// program of maps (exchanges, local kernels) on numbered values (tensors). For example, a
// convolution with input value 0 and output value 2:
//
//   map 0   halo exchange   value 0 -> value 1
//   map 1   kernel          value 1 -> value 2
//
// The first makeFrame() derives the passes from this list (lists of steps for Apply, tangent and
// adjoint) and allocates memory for their values. A call then only writes the addresses of its
// arguments (here of values 0 and 2) into the table of tensors by value number, whose entries are
// called slots, and runs the steps. Apply finally saves, in a frame, the values that derivatives
// read (here value 1, if the weights need a gradient). All ranks run the same steps.
#include "layer/core/setup.hpp"

#include "layer/core/held_bytes.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/pass_runner.hpp"
#include "sys/memory/memory.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"device_graphs", OptionSpec::Flag, "false",
     "on the device, record the kernels of a pass between its messages when they work on the same "
     "arrays for the second time, and launch them as CUDA graphs from then on, but not while the "
     "log is on"},
    {"poison_values", OptionSpec::Flag, "false",
     "fill the memory that values share with NaN before each pass: shows reads of what nobody "
     "wrote"},
};
const OptionRegistration kRegistration{{"layer", kOptions}};

// A table of slots has one pointer type for tensors that a pass reads and those that it writes. A
// pass never writes the tensors that it only reads, so the const_cast is safe.
DTensor& slotOf(const DTensor& tensor) {
  return const_cast<DTensor&>(tensor);
}
std::span<DTensor* const> slotsOf(Inputs tensors) {
  return {const_cast<DTensor* const*>(tensors.data()), tensors.size()};
}

// The layouts of these values.
Layouts layoutsOf(const MapList& list, const std::vector<ValueId>& values) {
  Layouts layouts;
  for (ValueId v : values)
    layouts.push_back(list.values()[v].layout);
  return layouts;
}

Layouts dualsOf(const Layouts& layouts) {
  Layouts duals;
  for (const Layout& layout : layouts)
    duals.push_back(layout.dual());
  return duals;
}

} // namespace

void Frame::drop() noexcept {
  for (SavedTensor& tensor : saved_)
    tensor.drop();
}

Index Frame::bytes() const {
  Index sum = heldBytes(own_) + savedMemory_.bytes();
  for (const SavedTensor& tensor : saved_)
    sum += tensor.bytes();
  for (const Buffer& workspace : workspaces_)
    sum += workspace.bytes();
  return sum;
}

Setup::Setup(BoundMaps maps, std::shared_ptr<const CompiledNetwork> network)
    : maps_(std::move(maps)), network_(std::move(network)), order_(network_->order()),
      inputs_(layoutsOf(maps_.list(), maps_.list().inputs())), inputDuals_(dualsOf(inputs_)),
      outputs_(layoutsOf(maps_.list(), maps_.list().outputs())), outputDuals_(dualsOf(outputs_)) {}

// Derives the passes from the list.
void Setup::derive() {
  const MapList& list = maps_.list();
  poisons_ = options().getFlag("", "poison_values");
  for (const Map& map : list.maps())
    if (map.when != When::Always && (modeNodes_.empty() || modeNodes_.back().first != map.node))
      modeNodes_.emplace_back(map.node, &maps_.layerOf(map));
  // The derivatives with respect to all inputs, and with respect to parameters only, are the common
  // cases: they are derived now to make later calls free of allocations.
  Passes& training = passes_.emplace_back();
  for (bool chosen : {true, false}) {
    const Chosen allOrNone(inputs_.size(), chosen);
    training.adjoints.push_back(tensorsOf(adjointPass(list, allOrNone, order_)));
    training.tangents.push_back(tensorsOf(tangentPass(list, allOrNone, order_)));
  }
  lastAdjoint_ = &training.adjoints.front();
  lastApply_ = &applyOf(training);
  // The second common case is that all nodes are in inference; mixed modes are derived when they
  // occur.
  if (!modeNodes_.empty())
    passes_.emplace_back().nodes.assign(std::max(1, list.nodes()), true);
  inferOf(passes_.back());
  noteReaders();
}

// Finds the passes whose nodes in inference are those of the layers' present modes.
std::size_t Setup::presentPasses() {
  for (std::size_t i = 0; i < passes_.size(); ++i)
    if (std::ranges::all_of(modeNodes_, [&](const auto& nodeAndLayer) {
          const auto& [node, layer] = nodeAndLayer;
          // The node must be in inference if and only if its layer is not in training.
          const InInference& inInference = passes_[i].nodes;
          return (!inInference.empty() && inInference[node]) != layer->isTraining();
        }))
      return i;
  InInference nodes(std::max(1, maps_.list().nodes()), false);
  for (const auto& [node, layer] : modeNodes_)
    nodes[node] = !layer->isTraining();
  passes_.emplace_back().nodes = std::move(nodes);
  return passes_.size() - 1;
}

// The pass of Apply. In the passes of all modes, the same values are saved, at the same offsets in
// the memory of a frame: these follow from the first pass.
Setup::PassTensors& Setup::applyOf(Passes& passes) {
  PassTensors& apply = passes.apply;
  if (!apply.slots.empty())
    return apply;
  apply = tensorsOf(applyPass(maps_.list(), order_, passes.nodes));
  const bool isFirst = &passes == &passes_.front();
  for (ValueId v = 0; v < static_cast<ValueId>(apply.pass.values.size()); ++v) {
    const Value& value = apply.pass.values[v];
    if (!value.saved || value.place != Value::Place::Own)
      continue;
    if (isFirst && !value.isUserSupplied()) {
      savedPlaces_.emplace_back(v, savedBytes_);
      savedBytes_ += roundedUp(bytesOf(v, apply), kAlignment);
    }
    apply.own[v] = {}; // each frame has its own tensor
  }
  return apply;
}

Setup::PassTensors& Setup::inferOf(Passes& passes) {
  const bool infers = !maps_.layer().isTraining();
  PassTensors& found = infers ? passes.infer : passes.evaluate;
  if (!found.slots.empty())
    return found;
  Pass pass = applyPass(maps_.list(), order_, passes.nodes, /*keeps=*/false);
  InferencePlan plan;
  if (infers && maps_.context().space() == Space::Host)
    plan = planInference(maps_, pass);
  return found = tensorsOf(std::move(pass), std::move(plan));
}

// Lists the values in user memory that must be saved (saved_) and all parameters (parameters_).
void Setup::noteReaders() {
  for (const Map& map : maps_.list().maps())
    if (map.kind == Map::Kind::Kernel && !map.fixed)
      noteReader(map, *maps_.kernel(map.object).layer);
  maps_.forEachUse([this](const ParameterUse& use, const Layer& layer) {
    if (std::none_of(parameters_.begin(), parameters_.end(),
                     [&](const auto& known) { return known.first == &use.parameter(); }))
      parameters_.emplace_back(&use.parameter(), &layer);
  });
}

// Adds to saved_ the values in user memory that the derivatives of a map's kernel read.
void Setup::noteReader(const Map& map, const Layer& layer) {
  const KernelEntry& kernel = maps_.list().kernels()[map.object];
  const std::vector<ValueId> saved = savedIn(maps_.list());
  std::vector<ValueId> read;
  if (kernel.savesInputs)
    read = map.x;
  if (kernel.savesOutput)
    read.push_back(map.y);
  for (ValueId v : read)
    if (maps_.list().values()[v].isUserSupplied() &&
        std::none_of(saved_.begin(), saved_.end(),
                     [&](const Saved& known) { return known.value == saved[v]; }))
      saved_.push_back({saved[v], &layer, {}});
}

Index Setup::bytesOf(ValueId v, const PassTensors& of) {
  return of.own[v]->localElements() * dataTypeSize(of.own[v]->dataType());
}

Setup::PassTensors Setup::tensorsOf(Pass pass, InferencePlan inference) const {
  PassTensors tensors;
  tensors.pass = std::move(pass);
  tensors.inference = std::move(inference);
  for (const Value& value : tensors.pass.values) {
    const auto v = static_cast<ValueId>(tensors.slots.size());
    tensors.own.push_back(value.place == Value::Place::Own ? maps_.tensor(value) : Ref<DTensor>());
    tensors.slots.push_back(tensors.own.back().get());
    if (value.place == Value::Place::Saved)
      tensors.savedInFrame.push_back(v);
    if (value.place == Value::Place::Constant)
      tensors.slots[v] = value.constant < 0 ? nullptr : &maps_.constant(value.constant);
    if (value.sharesMemoryOf == kNoValue)
      continue;
    tensors.staged.push_back(v);
    tensors.staging.push_back(tensors.own.back().get());
  }
  tensors.copies.resize(tensors.staged.size());
  if (maps_.context().space() == Space::Device && options().getFlag("", "device_graphs"))
    tensors.recorded = std::make_unique<RecordedSteps>(tensors.pass.steps.size());
  tensors.memoryPlan = memoryPlanOf(
      tensors.pass, [&](ValueId v) { return bytesOf(v, tensors); }, kAlignment);
  return tensors;
}

// Places the values of a pass in the shared memory. It holds no data between passes, so it can be
// enlarged here.
void Setup::placeValues(PassTensors& of) {
  if (of.memoryPlan.bytes > shared_.bytes()) {
    shared_ = {}; // free the old memory before allocating
    shared_ = maps_.memory(of.memoryPlan.bytes);
  }
  if (poisons_)
    shared_.fill(0xff); // as a floating-point number, NaN
  auto* memory = shared_.data<std::byte>();
  if (of.placedIn == memory)
    return;
  of.placedIn = memory;
  for (const MemoryPlan::Place& place : of.memoryPlan.places)
    if (of.inference.isChannelsLast(place.value))
      placeChannelsLast(*of.own[place.value], memory + place.begin);
    else
      of.own[place.value]->placeBox(memory + place.begin, /*readOnly=*/false);
}

void Setup::prepareInference() {
  if (passes_.empty())
    derive();
  placeValues(inferOf(passes_[presentPasses()]));
}

std::unique_ptr<Frame> Setup::makeFrame() {
  if (passes_.empty())
    derive();
  auto frame = std::make_unique<Frame>();
  const MapList& list = maps_.list();
  PassTensors& apply = passes_.front().apply;
  placeValues(apply);
  frame->savedMemory_ = maps_.memory(savedBytes_);
  frame->slots_ = apply.slots;
  frame->own_.resize(frame->slots_.size());
  for (ValueId v = 0; v < static_cast<ValueId>(frame->own_.size()); ++v) {
    const Value& value = apply.pass.values[v];
    if (!value.saved || value.place != Value::Place::Own)
      continue;
    // Saved values belong to the frame; all others use the tensors of the pass.
    frame->own_[v] = maps_.tensor(value);
    frame->slots_[v] = frame->own_[v].get();
  }
  for (const auto& [v, place] : savedPlaces_)
    frame->own_[v]->placeBox(frame->savedMemory_.data<std::byte>() + place, /*readOnly=*/false);
  for (ValueId v : apply.staged)
    frame->staging_.push_back((apply.own[v] ? apply.own : frame->own_)[v].get());
  frame->saved_.resize(saved_.size());
  for (const Map& map : list.maps()) {
    const bool isKernel = map.kind == Map::Kind::Kernel;
    const Layer& layer = isKernel ? *maps_.kernel(map.object).layer : maps_.layer();
    frame->workspaces_.push_back(maps_.buffer(
        isKernel ? list.kernels()[map.object].workspace.bytesOfRank(layer.comm()->rank()) : 0,
        layer.title() + " workspace"));
  }
  frame->parameters_.resize(parameters_.size());
  return frame;
}

// Sets the slots of arguments and of staged values (contiguous copies of arguments, and saved
// values converted back from bfloat16). A staged value uses the memory of its source if the kernels
// can read that, which means that it is contiguous and has their data type; otherwise the pass
// copies the source to the tensor in `staging`.
void Setup::setArguments(PassTensors& of, Slots inputs, Slots outputs, std::vector<DTensor*>& slots,
                         const std::vector<DTensor*>& staging) {
  placeValues(of);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i])
      slots[of.pass.inputs[i]] = inputs[i];
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i])
      slots[of.pass.outputs[i]] = outputs[i];
  for (std::size_t i = 0; i < of.staged.size(); ++i) {
    const ValueId v = of.staged[i];
    DTensor* argument = slots[of.pass.values[v].sharesMemoryOf];
    const bool copied = !argument->isContiguous() || argument->dataType() != maps_.dataType();
    slots[v] = copied ? staging[i] : argument;
    of.copies[i].note(copied, *argument);
  }
}

// Prepares the frame for an Apply with the passes of this number: slots of values that the frame
// does not own point to the tensors of these passes.
void Setup::bindFrame(Frame& frame, std::size_t number) {
  if (frame.passes_ == number)
    return;
  frame.passes_ = number;
  const PassTensors& apply = applyOf(passes_[number]);
  for (std::size_t v = 0; v < frame.slots_.size(); ++v)
    frame.slots_[v] = frame.own_[v] ? frame.own_[v].get() : apply.slots[v];
  for (std::size_t i = 0; i < apply.staged.size(); ++i)
    if (const ValueId v = apply.staged[i]; apply.own[v])
      frame.staging_[i] = apply.own[v].get();
}

void Setup::apply(Inputs x, Outputs y, Frame& frame, Saving saving) {
  bindFrame(frame, presentPasses());
  PassTensors& of = passes_[frame.passes_].apply;
  lastApply_ = &of;
  setArguments(of, slotsOf(x), y, frame.slots_, frame.staging_);
  runPass(maps_, of.pass, {.tensors = frame.slots_.data(), .workspaces = frame.workspaces_.data()},
          of.recorded.get());
  if (saving != Saving::Nothing)
    save(frame, saving);
}

void Setup::infer(Inputs x, Outputs y) {
  if (passes_.empty())
    derive();
  PassTensors& of = inferOf(passes_[presentPasses()]);
  lastApply_ = &of;
  setArguments(of, slotsOf(x), y, of.slots, of.staging);
  runPass(maps_, of.pass,
          {.tensors = of.slots.data(),
           .workspaces = nullptr,
           .inference = of.inference.isEmpty() ? nullptr : &of.inference},
          of.recorded.get());
}

void Setup::save(Frame& frame, Saving saving) {
  for (std::size_t i = 0; i < saved_.size(); ++i)
    saved_[i].copy.note(saveUserTensor(frame, i, saving), *frame.slots_[saved_[i].value]);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    frame.parameters_[i] = parameters_[i].first->state();
}

// Saves one value in user memory. If the pass itself has copied the value to the frame's own
// tensor, nothing is left to do, and the result is false.
bool Setup::saveUserTensor(Frame& frame, std::size_t number, Saving saving) {
  const ValueId v = saved_[number].value;
  const DTensor& tensor = *frame.slots_[v];
  return &tensor != frame.own_[v].get() &&
         frame.saved_[number].save(tensor, saving, passes_.front().apply.pass.values[v], maps_);
}

const Setup::ParameterOfLayer* Setup::changedSince(const Frame& frame) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (frame.parameters_[i] != parameters_[i].first->state())
      return &parameters_[i];
  return nullptr;
}

void Setup::restoreSaved(Frame& frame) const {
  if (const ParameterOfLayer* changed = changedSince(frame))
    throw Error(
        TENON_ERR_STATE,
        fmt::format("parameter \"{}\" of {} was changed after TenonLayerApply(), so that its "
                    "adjoint cannot be evaluated; update parameters after "
                    "TenonLayerApplyAdjoint()",
                    changed->first->name(), changed->second->title()));
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const ValueId v = saved_[i].value;
    if (frame.slots_[v] != frame.own_[v].get())
      frame.slots_[v] = &slotOf(frame.saved_[i].get(saved_[i].reader->title()));
  }
}

Setup::PassTensors& Setup::passFor(std::deque<PassTensors>& passes, const InInference& nodes,
                                   Slots inputs, Slots outputs, Derive derive) {
  const auto matches = [](Slots slots, const std::vector<ValueId>& values) {
    return std::ranges::equal(slots, values, [](const DTensor* tensor, ValueId v) {
      return (tensor != nullptr) == (v != kNoValue);
    });
  };
  for (PassTensors& of : passes)
    if (matches(inputs, of.pass.inputs) && matches(outputs, of.pass.outputs))
      return of;
  Chosen chosen;
  for (Slots slots : {inputs, outputs})
    for (const DTensor* tensor : slots)
      chosen.push_back(tensor != nullptr);
  passes.push_back(tensorsOf(derive(maps_.list(), chosen, order_, nodes)));
  return passes.back();
}

const Setup::PassTensors& Setup::differentiate(std::deque<PassTensors> Passes::*known,
                                               Derive derive, Frame& frame, Slots inputs,
                                               Slots outputs, bool completes) {
  restoreSaved(frame);
  Passes& passes = passes_[frame.passes_];
  PassTensors& of = passFor(passes.*known, passes.nodes, inputs, outputs, derive);
  // The derivative's pass reads the values that Apply has saved from the frame.
  for (ValueId v : of.savedInFrame)
    of.slots[v] = frame.slots_[of.pass.values[v].of];
  setArguments(of, inputs, outputs, of.slots, of.staging);
  runPass(
      maps_, of.pass,
      {.tensors = of.slots.data(), .workspaces = frame.workspaces_.data(), .completes = completes},
      of.recorded.get());
  return of;
}

void Setup::tangent(Frame& frame, Inputs dx, Outputs dy) {
  differentiate(&Passes::tangents, tangentPass, frame, slotsOf(dx), dy, /*completes=*/false);
}

void Setup::adjoint(Frame& frame, OutputCotangents dy, InputCotangents dx, bool completes) {
  lastAdjoint_ = &differentiate(&Passes::adjoints, adjointPass, frame, dx, slotsOf(dy), completes);
}

Index Setup::bytes() const {
  Index sum = maps_.bytes() + shared_.bytes();
  for (const Passes& passes : passes_) {
    sum +=
        heldBytes(passes.apply.own) + heldBytes(passes.evaluate.own) + heldBytes(passes.infer.own);
    for (const auto* known : {&passes.tangents, &passes.adjoints})
      for (const PassTensors& of : *known)
        sum += heldBytes(of.own);
  }
  return sum;
}

} // namespace tenon
