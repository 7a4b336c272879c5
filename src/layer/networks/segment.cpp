// SPDX-License-Identifier: BSD-2-Clause
// The kernel of a container that recomputes. Each derivative computes the activations again and
// lets go of them; what was counted once, such as the batches of running statistics and random
// numbers, is not counted again.
#include "layer/networks/segment.hpp"

#include "layer/core/layer.hpp"
#include "layer/types/shell.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tenon {

namespace {

// Collects the layers that contain no others, each once, since a layer can be several nodes.
void forEachLeaf(const Layer& layer, std::vector<Layer*>& leaves) {
  for (Layer* child : layer.children())
    if (!child->children().empty())
      forEachLeaf(*child, leaves);
    else if (std::find(leaves.begin(), leaves.end(), child) == leaves.end())
      leaves.push_back(child);
}

// While this lives, running statistics do not follow: the batch that is computed again was counted
// when it was computed first.
class HeldStates {
public:
  explicit HeldStates(const std::vector<Ref<StateTensor>>& states) : states_(states) { hold(true); }
  ~HeldStates() { hold(false); }
  HeldStates(const HeldStates&) = delete;
  HeldStates& operator=(const HeldStates&) = delete;

private:
  void hold(bool held) const {
    for (const Ref<StateTensor>& state : states_)
      state->hold(held);
  }
  const std::vector<Ref<StateTensor>>& states_;
};

class SegmentKernel final : public LocalKernel {
public:
  SegmentKernel(const Layer& layer, std::unique_ptr<Setup> inner)
      : inner_(std::move(inner)), frame_(inner_->makeFrame()),
        output_(inner_->maps().tensor(inner_->output())) {
    forEachLeaf(layer, leaves_);
    for (Layer* leaf : leaves_) {
      // A user's function may read its states, which are not what they were at the first Apply.
      const auto* shell = dynamic_cast<const ShellDeclaration*>(&leaf->declaration());
      if (shell && shell->hasStates())
        throw Error(TENON_ERR_SUPPORT,
                    fmt::format("{} cannot recompute, since {} has states that its user functions "
                                "may read; set recompute to false, or add the layer elsewhere",
                                layer.title(), leaf->title()));
      if (leaf->declaration().isRandom())
        random_.push_back(leaf);
      states_.insert(states_.end(), leaf->ownStates().begin(), leaf->ownStates().end());
    }
    output_->allocate();
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer* workspace) override {
    DTensor* const one[] = {&y};
    if (!workspace)
      return inner_->infer(x, one);
    // The workspace, though it is empty, tells which pending Apply this is: each level of the stack
    // has its own.
    notePoint(points_[workspace]);
    inner_->apply(x, one, *frame_, Saving::Nothing);
  }
  // Each derivative computes the activations anew and lets go of them: the frame may serve another
  // pending Apply next.
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&, DTensor& dy) override {
    runAgain(point);
    DTensor* const one[] = {&dy};
    inner_->tangent(*frame_, dx, one);
    frame_->drop();
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    runAgain(point);
    const DTensor* const one[] = {&dy};
    inner_->adjoint(*frame_, one, dx);
    frame_->drop();
  }
  Index bytes() const override { return inner_->bytes() + frame_->bytes() + output_->arrayBytes(); }
  std::string describe() const override {
    return "recomputed before its adjoint from its input; activations are among the buffers";
  }
  const BoundMaps* inner() const override { return &inner_->maps(); }
  // Its own passes record their steps.
  bool isRepeatable() const override { return false; }

private:
  // What an Apply depends on beside its inputs and the parameters, which are the point of whoever
  // runs the segment: how often the random layers were applied, and which layers are in training.
  struct Point {
    std::vector<std::uint64_t> applied;
    std::vector<bool> training;
  };

  void notePoint(Point& point) const {
    point.applied.resize(random_.size());
    for (std::size_t i = 0; i < random_.size(); ++i)
      point.applied[i] = random_[i]->randomState().applied;
    point.training.resize(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      point.training[i] = leaves_[i]->isTraining();
  }

  void runAgain(const KernelPoint& at) {
    const Point& point = points_.at(at.workspace);
    Point now;
    notePoint(now);
    take(point);
    const HeldStates held(states_);
    // Whoever runs the segment keeps its inputs, so that copies of them would be second ones.
    DTensor* const one[] = {output_.get()};
    inner_->apply(at.inputs, one, *frame_, Saving::References);
    take(now);
  }
  void take(const Point& point) const {
    for (std::size_t i = 0; i < random_.size(); ++i)
      random_[i]->randomState().applied = point.applied[i];
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const bool records = leaves_[i]->isRecording();
      leaves_[i]->setTraining(point.training[i]);
      leaves_[i]->setRecording(records);
    }
  }

  std::unique_ptr<Setup> inner_;
  std::unique_ptr<Frame> frame_;
  Ref<DTensor> output_; // of a recomputation; nobody reads it
  std::vector<Layer*> leaves_, random_;
  std::vector<Ref<StateTensor>> states_;
  std::map<const Buffer*, Point> points_; // by the workspace of a frame and a map
};

} // namespace

std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner) {
  if (inner->outputs().size() > 1)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} cannot recompute, since it has {}; set recompute to false, or to "
                            "true for a container within it that has one",
                            layer.title(),
                            counted(static_cast<Index>(inner->outputs().size()), "output")));
  BoundMaps maps(layer);
  std::vector<ValueId> reads;
  for (const Layout& input : inner->inputs())
    reads.push_back(maps.list().input(fmt::format("x{}", reads.size()), input));
  const ValueId y = maps.list().output("y", inner->output());
  maps.run({.name = "segment",
            .keepsInputs = true,
            .anyStrides = true,
            .runsOnce = true,
            .gradients = Gradients::Within},
           reads, y, std::make_shared<SegmentKernel>(layer, std::move(inner)));
  return std::make_unique<Setup>(std::move(maps), "");
}

} // namespace tenon
