// SPDX-License-Identifier: BSD-2-Clause
#include "plan/measurement.hpp"

#include "sys/log.hpp"

#include <algorithm>

namespace tenon {

namespace {

void add(OpenScope& sum, const OpenScope& took) {
  sum.seconds += took.seconds;
  sum.messages += took.messages;
  sum.bytes += took.bytes;
}

} // namespace

Measurement::Measurement(const std::vector<const Layer*>& nodes)
    : apply_(nodes.size()), adjoint_(nodes.size()), gradients_(nodes.size()) {
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const Ref<Parameter>& parameter : nodes[node]->ownParameters())
      parameters_.emplace_back(parameter.get(), static_cast<int>(node));
}

void Measurement::Ring::begin() noexcept {
  for (std::size_t node = 0; node < nodes; ++node)
    at(begun, static_cast<int>(node)) = {};
  ++begun;
}

void Measurement::begins(const MapList&, const Pass& pass) noexcept {
  isTangent_ = pass.ofTangents;
  if (isTangent_ || !logEnabled())
    return;
  const bool isAdjoint = std::any_of(pass.steps.begin(), pass.steps.end(),
                                     [](const Step& step) { return step.adjoint; });
  if (isAdjoint)
    wantedInput_ = pass.inputs.front() != kNoValue;
  (isAdjoint ? adjoint_ : apply_).begin();
}

void Measurement::ran(const MapList& list, const Step& step, const OpenScope& took) noexcept {
  Ring& ring = step.adjoint ? adjoint_ : apply_;
  if (isTangent_ || ring.begun == 0)
    return;
  const bool isMove = step.what == Do::Begin || step.what == Do::End || step.what == Do::Apply;
  Sums& sums = ring.at(ring.begun - 1, list.maps()[step.map].node);
  add(isMove ? sums.move : sums.kernel, took);
}

// The network's first parameter begins a step of the optimizer.
void Measurement::reduced(const Parameter& parameter, const OpenScope& took) noexcept {
  for (const auto& [known, node] : parameters_) {
    if (known != &parameter)
      continue;
    if (known == parameters_.front().first)
      gradients_.begin();
    if (gradients_.begun > 0)
      add(gradients_.at(gradients_.begun - 1, node).move, took);
    return;
  }
}

int Measurement::passes() const {
  return std::min({apply_.begun, adjoint_.begun, kPasses});
}

const Measurement::Ring& Measurement::ringOf(Phase phase) const {
  if (phase == Phase::Gradients)
    return gradients_;
  return phase == Phase::ApplyKernel || phase == Phase::ApplyMove ? apply_ : adjoint_;
}

PhaseCost Measurement::of(int node, Phase phase) const {
  const bool isKernel = phase == Phase::ApplyKernel || phase == Phase::AdjointKernel;
  const Ring& ring = ringOf(phase);
  const int kept = std::min(ring.begun, kPasses);
  if (kept == 0)
    return {};
  const auto in = [&](int pass) -> const OpenScope& {
    const Sums& sums = ring.at(pass, node);
    return isKernel ? sums.kernel : sums.move;
  };
  std::vector<double> seconds;
  for (int pass = 0; pass < kept; ++pass)
    seconds.push_back(in(pass).seconds);
  std::nth_element(seconds.begin(), seconds.begin() + kept / 2, seconds.end());
  const OpenScope& last = in(ring.begun - 1);
  return {.seconds = seconds[kept / 2], .messages = last.messages, .bytes = last.bytes};
}

} // namespace tenon
