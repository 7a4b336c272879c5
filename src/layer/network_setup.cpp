// SPDX-License-Identifier: BSD-2-Clause
#include "layer/network_setup.hpp"

#include "layer/held_bytes.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

struct NetworkFrame final : Frame {
  std::vector<Ref<DTensor>> values;
  std::vector<int> levels; // of each node on its layer's stack

  Index bytes() const override { return heldBytes(values); }
};

} // namespace

NetworkSetup::NetworkSetup(const Layer& layer, const Layouts& values)
    : Setup(Layouts(values.begin(), values.begin() + layer.inputCount()), values.back()),
      layer_(layer), values_(values), output_(layer.lastValue()) {
  for (const Layout& value : values_)
    duals_.push_back(value.dual());
  tangents_ = between(values_);
  cotangents_ = between(duals_);
  makeSteps();
  checkAllRead();
}

void NetworkSetup::makeSteps() {
  std::vector<bool> reached(values_.size(), false);
  for (const Layer::Node& node : layer_.nodes()) {
    Step step{node.layer.get(), {}, {}, {}};
    for (int value : node.reads)
      step.edges.push_back({value, {}});
    step.reads.resize(step.edges.size());
    step.writes.resize(step.edges.size());
    steps_.push_back(std::move(step));
  }
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    for (Edge& edge : step->edges) {
      if (reached[edge.value])
        edge.addend = tensor(duals_[edge.value]);
      reached[edge.value] = true;
    }
}

void NetworkSetup::checkAllRead() const {
  std::vector<bool> read(values_.size(), false);
  read[output_] = true;
  for (const Step& step : steps_)
    for (const Edge& edge : step.edges)
      read[edge.value] = true;
  for (int value = 0; value < static_cast<int>(read.size()); ++value)
    if (!read[value])
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} {} of {} is not used; every input and every node except the last "
                              "must be read by a node",
                              value < inputCount() ? "input" : "node",
                              value < inputCount() ? value : value - inputCount(), layer_.title()));
}

std::vector<Ref<DTensor>> NetworkSetup::between(const Layouts& layouts) const {
  std::vector<Ref<DTensor>> tensors(layouts.size());
  for (int value = inputCount(); value < static_cast<int>(layouts.size()); ++value)
    if (value != output_)
      tensors[value] = tensor(layouts[value]);
  return tensors;
}

std::unique_ptr<Frame> NetworkSetup::makeFrame() {
  auto frame = std::make_unique<NetworkFrame>();
  frame->values = between(values_);
  for (const Ref<DTensor>& value : frame->values)
    if (value)
      value->allocate();
  frame->levels.resize(steps_.size());
  return frame;
}

void NetworkSetup::setReads(Step& step, Inputs x, const std::vector<Ref<DTensor>>& values) {
  for (std::size_t e = 0; e < step.edges.size(); ++e) {
    const int value = step.edges[e].value;
    step.reads[e] = value < inputCount() ? x[value] : values[value].get();
  }
}

void NetworkSetup::applyMany(Inputs x, DTensor& y, Frame& base, bool training) {
  auto& frame = static_cast<NetworkFrame&>(base);
  std::size_t n = 0;
  try {
    for (; n < steps_.size(); ++n) {
      const int value = inputCount() + static_cast<int>(n);
      setReads(steps_[n], x, frame.values);
      frame.levels[n] = steps_[n].layer->stackSize();
      steps_[n].layer->apply(Inputs(steps_[n].reads), value == output_ ? y : *frame.values[value]);
    }
  } catch (...) {
    while (training && n-- > 0) // the network has pushed nothing, so neither have its layers
      steps_[n].layer->forgetLast();
    throw;
  }
}

void NetworkSetup::tangentMany(Frame& base, Inputs dx, DTensor& dy) {
  const auto& frame = static_cast<const NetworkFrame&>(base);
  for (std::size_t n = 0; n < steps_.size(); ++n) {
    const int value = inputCount() + static_cast<int>(n);
    setReads(steps_[n], dx, tangents_);
    steps_[n].layer->applyTangentAt(frame.levels[n], steps_[n].reads,
                                    value == output_ ? dy : *tangents_[value]);
  }
}

DTensor* NetworkSetup::cotangent(int value, InputCotangents dx) const {
  return value < inputCount() ? dx[value] : cotangents_[value].get();
}

void NetworkSetup::setWrites(Step& step, InputCotangents dx) {
  for (std::size_t e = 0; e < step.edges.size(); ++e) {
    const Edge& edge = step.edges[e];
    DTensor* sum = cotangent(edge.value, dx);
    step.writes[e] = sum && edge.addend ? edge.addend.get() : sum;
  }
}

void NetworkSetup::adjointMany(Frame&, const DTensor& dy, InputCotangents dx) {
  for (std::size_t n = steps_.size(); n-- > 0;) {
    Step& step = steps_[n];
    const int value = inputCount() + static_cast<int>(n);
    setWrites(step, dx);
    step.layer->applyAdjoint(value == output_ ? dy : *cotangents_[value],
                             InputCotangents(step.writes));
    for (std::size_t e = 0; e < step.edges.size(); ++e)
      if (step.writes[e] && step.edges[e].addend)
        addLocal(*step.writes[e], *cotangent(step.edges[e].value, dx));
  }
}

std::string NetworkSetup::describe() const {
  const Mesh& mesh = output().mesh();
  std::string text = fmt::format("  process grid {}\n", mesh.describe());
  for (const Layout& input : inputs())
    text += viewLine("input", input, mesh);
  return text + viewLine("output", output(), mesh);
}

Index NetworkSetup::bytes() const {
  Index sum = heldBytes(tangents_, cotangents_);
  for (const Step& step : steps_)
    for (const Edge& edge : step.edges)
      sum += heldBytes(edge.addend);
  return sum;
}

} // namespace tenon
