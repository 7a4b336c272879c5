// SPDX-License-Identifier: BSD-2-Clause
// Apply, tangent and adjoint of a layer. Each call checks all its arguments, copies those in the
// other memory space, and then runs the set-up for the layouts of its inputs. An Apply that records
// pushes its frame (the saved values) on the stack, and an adjoint pops the top frame. For Apply 1,
// Apply 2, Apply 3, the adjoints are therefore evaluated at the points of 3, 2, 1. A set-up owns
// one frame per level of the stack; stack_ lists, from bottom to top, the set-up and the frame that
// each pending Apply used. All calls are collective. The functions are members of class Layer
// (layer.hpp).
#include "layer/core/layer.hpp"

#include "dtensor/stride_sums.hpp"
#include "sys/errors/at_work.hpp"
#include "sys/log/log.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr const char* kCreateOutput = "create it with TenonLayerCreateOutput()";

// Throws if an input and an output overlap. A layer writes outputs while it still reads inputs, and
// derivatives read the inputs again.
void checkDistinct(const Layer& layer, const DTensor* in, const DTensor* out) {
  if (!in || !out)
    return;
  if (in == out)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the input and output of {} are the same tensor; pass two", layer.title()));
  // Two arrays of the library never overlap, which saves small networks the search.
  if ((in->isPlaced() || out->isPlaced()) && shareElements(*in, *out))
    throw Error(TENON_ERR_ARG,
                fmt::format("the arrays of the input and output of {} overlap, and a layer does "
                            "not work in place; pass separate arrays",
                            layer.title()));
}

// Throws if two of the written tensors overlap.
void checkApart(const Layer& layer, std::span<DTensor* const> written, const char* what,
                const char* remedy) {
  for (std::size_t i = 0; i < written.size(); ++i)
    for (std::size_t j = 0; written[i] && j < i; ++j)
      if (written[j] && (written[i] == written[j] || shareElements(*written[i], *written[j])))
        throw Error(TENON_ERR_ARG,
                    fmt::format("the {} {} and {} of {} are the same tensor, or their arrays "
                                "overlap; pass two with separate arrays{}",
                                what, j, i, layer.title(), remedy));
}

} // namespace

// Throws if the caller passed another number of tensors than the layer has inputs or outputs.
void Layer::checkCount(std::size_t given, std::size_t wanted, const char* what) const {
  if (given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{2} passed, but {0} has {1}", title(),
                            counted(static_cast<Index>(wanted), what),
                            counted(static_cast<Index>(given), "tensor was", "tensors were")));
}

// Throws if the tensor is on the device and has another communicator: its kernels run on another
// stream of the device, without synchronization with those of the layer.
void Layer::checkStream(const DTensor& tensor, const char* role) const {
  if (space_ == Space::Device && tensor.space() == Space::Device && tensor.comm() != comm_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the {} of {} is on the device of another communicator, whose kernels "
                            "run on another stream; create it on the communicator of the layer",
                            role, title()));
}

void Layer::checkArgument(const DTensor& tensor, const Layout& layout, const char* role,
                          const char* remedy) const {
  checkTensor(tensor, layout, type_, title(), role, remedy);
  checkStream(tensor, role);
}

void Layer::checkRead(const DTensor& tensor, const Layout& layout, const char* role,
                      const char* remedy) const {
  checkArgument(tensor, layout, role, remedy);
  tensor.checkGathered();
}

void Layer::apply(Inputs x, Outputs y) {
  static const int event = logEvent("LayerApply");
  const LogScope scope(event);
  // All arguments are checked before communication begins: an error then changes no tensor.
  checkIdle("TenonLayerApply()");
  Entry& entry = entryOf(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    checkRead(*x[i], entry.inputs[i], "input");
  checkWritten(entry, x, y, "output");
  if (checksGhosts_)
    checkGhosts(x);
  Setup& setup = setupOf(entry);
  const AtWork atWork(atWork_);
  // A node of a network that is now applied alone, or a layer that was set up for inference.
  if (records_ && entry.frames.empty())
    entry.frames = framesOf(entry);
  if (records_ && stack_.size() == static_cast<std::size_t>(depth_))
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has {} pending evaluations, and its stack depth is {}; call "
            "TenonLayerApplyAdjoint() or TenonLayerClearStack(), TenonLayerSetStackDepth() before "
            "TenonLayerSetUp(), or TenonLayerSetTraining() with TENON_FALSE for inference",
            title(), stack_.size(), depth_));
  ArgumentStaging& staging = records_ ? entry.frames[entry.used].arguments : entry.inferred;
  entry.lastApply = &staging;
  const Inputs inputs = staging.enter(*this, x);
  const Outputs outputs = staging.prepare(*this, y);
  // The frame is pushed only if Apply succeeds: an error leaves the stack unchanged.
  if (records_) {
    setup.apply(inputs, outputs, *entry.frames[entry.used].frame);
    stack_.push_back({&entry, entry.used++});
  } else {
    setup.infer(inputs, outputs);
  }
  staging.leave(y);
}

// Checks the outputs y of a call, or their tangents. They must not overlap each other or the x that
// the call reads.
void Layer::checkWritten(const Entry& entry, Inputs x, Outputs y, const char* role) const {
  const Layouts& outputs = entry.outputs;
  checkCount(y.size(), outputs.size(), "output");
  for (std::size_t i = 0; i < y.size(); ++i) {
    checkArgument(*y[i], outputs[i], role, kCreateOutput);
    for (const DTensor* input : x)
      checkDistinct(*this, input, y[i]);
  }
  if (y.size() > 1)
    checkApart(*this, y, "outputs", "");
}

const Layer::Level& Layer::top() const {
  if (stack_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no pending evaluation to differentiate; call TenonLayerApply() "
                            "in training mode, or while it records, once for each adjoint",
                            title()));
  return stack_.back();
}

void Layer::applyTangent(Inputs dx, Outputs dy) {
  static const int event = logEvent("LayerTangent");
  const LogScope scope(event);
  checkIdle("TenonLayerApplyTangent()");
  const AtWork atWork(atWork_);
  const auto [entry, frame] = top();
  checkCount(dx.size(), entry->inputs.size());
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i])
      checkRead(*dx[i], entry->inputs[i], "tangent of the input");
  checkWritten(*entry, dx, dy, "tangent of the output");
  const Inputs inputs = entry->tangents.enter(*this, dx);
  const Outputs outputs = entry->tangents.prepare(*this, dy);
  entry->setup->tangent(*entry->frames[frame].frame, inputs, outputs);
  entry->tangents.leave(dy);
}

void Layer::applyAdjoint(OutputCotangents dy, InputCotangents dx) {
  static const int event = logEvent("LayerAdjoint");
  const LogScope scope(event);
  checkIdle("TenonLayerApplyAdjoint()");
  const AtWork atWork(atWork_);
  const auto [entry, frame] = top();
  checkCount(dy.size(), entry->outputs.size(), "output");
  for (std::size_t i = 0; i < dy.size(); ++i)
    if (dy[i])
      checkRead(*dy[i], entry->setup->outputDuals()[i], "cotangent of the output",
                "create it with TenonLayerCreateOutputCotangent()");
  checkCount(dx.size(), entry->inputs.size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    if (dx[i])
      checkArgument(*dx[i], entry->setup->inputDuals()[i], "cotangent of the input",
                    "create it with TenonLayerCreateInputCotangent()");
    for (const DTensor* output : dy)
      checkDistinct(*this, output, dx[i]);
  }
  checkApart(*this, dx, "cotangents of inputs", " and add them afterwards");
  const OutputCotangents outputCotangents = entry->cotangents.enter(*this, dy);
  const InputCotangents inputCotangents = entry->cotangents.prepare(*this, dx);
  // With the adjoint of the last pending Apply, gradients are complete.
  entry->setup->adjoint(*entry->frames[frame].frame, outputCotangents, inputCotangents,
                        /*completes=*/stack_.size() == 1);
  dropLast();
  entry->cotangents.leave(dx);
}

void Layer::dropLast() {
  const auto [entry, frame] = top();
  entry->frames[frame].frame->drop();
  --entry->used;
  stack_.pop_back();
}

void Layer::forgetLast() {
  checkIdle("forgetting an evaluation");
  dropLast();
}

void Layer::clearStack() {
  checkIdle("TenonLayerClearStack()");
  while (!stack_.empty())
    dropLast();
}

} // namespace tenon
