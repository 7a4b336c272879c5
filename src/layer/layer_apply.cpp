// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "sys/log.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr const char* kCreateOutput = "create it with TenonLayerCreateOutput()";

void checkDistinct(const Layer& layer, const DTensor* in, const DTensor* out) {
  if (in == out)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the input and output of {} are the same tensor; pass two", layer.title()));
}

} // namespace

void Layer::checkCount(std::size_t given, std::size_t wanted) const {
  if (given != wanted)
    throw Error(TENON_ERR_ARG,
                fmt::format("{2} passed, but {0} has {1}", title(),
                            counted(static_cast<Index>(wanted), "input"),
                            counted(static_cast<Index>(given), "tensor was", "tensors were")));
}

void Layer::checkSpace(const DTensor& tensor, const char* role) const {
  if (tensor.space() != space_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the {} is on the {}, but {} runs on the {}; call "
                            "TenonDTensorSetSpace() before the tensor is used, or copy it with "
                            "TenonDTensorCopy()",
                            role, spaceName(tensor.space()), title(), spaceName(space_)));
}

void Layer::apply(Inputs x, DTensor& y) {
  static const int event = logEvent("LayerApply");
  const LogScope scope(event);
  Entry& entry = entryOf(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    checkTensor(*x[i], entry.setup->inputs()[i], type_, title(), "input");
    checkSpace(*x[i], "input");
  }
  checkTensor(y, entry.setup->output(), type_, title(), "output", kCreateOutput);
  checkSpace(y, "output");
  for (const DTensor* input : x)
    checkDistinct(*this, input, &y);
  if (entry.frames.empty())
    makeFrames(entry); // a network's node, by itself
  if (!training_)
    return entry.setup->infer(x, y);
  if (stack_.size() == static_cast<std::size_t>(depth_))
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has {} pending evaluations, and its stack depth is {}; call "
            "TenonLayerApplyAdjoint() or TenonLayerClearStack(), TenonLayerSetStackDepth() before "
            "TenonLayerSetUp(), or TenonLayerSetTraining() with TENON_FALSE for inference",
            title(), stack_.size(), depth_));
  entry.setup->apply(x, y, *entry.frames[entry.used]);
  stack_.push_back({&entry, entry.used++});
}

const Layer::Level& Layer::top() const {
  if (stack_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no pending evaluation to differentiate; call TenonLayerApply() "
                            "in training mode once for each adjoint",
                            title()));
  return stack_.back();
}

void Layer::applyTangent(Inputs dx, DTensor& dy) {
  static const int event = logEvent("LayerTangent");
  const LogScope scope(event);
  const auto [entry, frame] = top();
  checkCount(dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (dx[i]) {
      checkTensor(*dx[i], entry->setup->inputs()[i], type_, title(), "tangent of the input");
      checkSpace(*dx[i], "tangent of the input");
    }
  checkTensor(dy, entry->setup->output(), type_, title(), "tangent of the output", kCreateOutput);
  checkSpace(dy, "tangent of the output");
  for (const DTensor* input : dx)
    checkDistinct(*this, input, &dy);
  entry->setup->tangent(*entry->frames[frame], dx, dy);
}

void Layer::applyAdjoint(const DTensor& dy, InputCotangents dx) {
  static const int event = logEvent("LayerAdjoint");
  const LogScope scope(event);
  const auto [entry, frame] = top();
  checkTensor(dy, entry->setup->outputDual(), type_, title(), "cotangent of the output",
              "create it with TenonLayerCreateOutputCotangent()");
  checkSpace(dy, "cotangent of the output");
  checkCount(dx.size(), entry->setup->inputs().size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    if (dx[i]) {
      checkTensor(*dx[i], entry->setup->inputDuals()[i], type_, title(), "cotangent of the input",
                  "create it with TenonLayerCreateInputCotangent()");
      checkSpace(*dx[i], "cotangent of the input");
    }
    checkDistinct(*this, &dy, dx[i]);
    for (std::size_t j = 0; dx[i] && j < i; ++j)
      if (dx[i] == dx[j])
        throw Error(TENON_ERR_ARG, fmt::format("the cotangents of inputs {} and {} of {} are the "
                                               "same tensor; pass two and add them afterwards",
                                               j, i, title()));
  }
  entry->setup->adjoint(*entry->frames[frame], dy, dx, stack_.size() == 1 ? reductions_ : nullptr);
  forgetLast();
}

void Layer::apply(const DTensor& x, DTensor& y) {
  const DTensor* one[] = {&x};
  apply(Inputs(one), y);
}

void Layer::applyTangent(const DTensor* dx, DTensor& dy) {
  const DTensor* one[] = {dx};
  applyTangent(Inputs(one), dy);
}

void Layer::applyAdjoint(const DTensor& dy, DTensor* dx) {
  DTensor* one[] = {dx};
  applyAdjoint(dy, InputCotangents(one));
}

void Layer::forgetLast() {
  const auto [entry, frame] = top();
  entry->frames[frame]->drop();
  --entry->used;
  stack_.pop_back();
}

void Layer::clearStack() {
  while (!stack_.empty())
    forgetLast();
}

} // namespace tenon
