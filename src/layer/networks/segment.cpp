// SPDX-License-Identifier: BSD-2-Clause
// The kernel of a container that recomputes its activations (a segment): activation checkpointing.
// The surrounding network sees one kernel that saves only its inputs. Within it, `inner_` is the
// set-up of the whole container with all its layers, and `frame_` the memory for its activations:
//
//   forwardMany()                  inner Apply; the activations are overwritten by the next Apply
//   tangentMany(), adjointMany()   inner Apply again from the saved inputs, then the inner tangent
//                                  or adjoint; the activations are then released
//
// The first Apply has changed running statistics and the counters of random numbers besides its
// output. The second one must draw the same random numbers and must not change the statistics
// again.
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

// Collects the layers that are not containers, each once, since a layer can be several nodes.
void collectLeaves(const Layer& layer, std::vector<Layer*>& leaves) {
  for (Layer* child : layer.children())
    if (!child->children().empty())
      collectLeaves(*child, leaves);
    else if (std::find(leaves.begin(), leaves.end(), child) == leaves.end())
      leaves.push_back(child);
}

// While the object exists, running statistics are not updated: the first Apply has already counted
// this batch.
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

// Runs the set-up of the container as a kernel. The functions are called on all ranks, and are
// collective because the inner passes exchange messages.
class SegmentKernel final : public LocalKernel {
public:
  SegmentKernel(const Layer& layer, std::unique_ptr<Setup> inner)
      : inner_(std::move(inner)), frame_(inner_->makeFrame()),
        output_(inner_->maps().tensor(inner_->output())) {
    collectLeaves(layer, leaves_);
    for (Layer* leaf : leaves_) {
      // User functions can read the states of their layer. These have changed since the first
      // Apply, so a second Apply could give another result.
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
    DTensor* const outputs[] = {&y};
    if (!workspace)
      return inner_->infer(x, outputs);
    // The workspace (the per-Apply memory of this kernel) has no bytes, but each level of the stack
    // has its own, so its address identifies the pending Apply. A new Apply on the same level
    // overwrites the entry; until then the derivatives of the pending one can read it repeatedly.
    noteConditions(conditions_[workspace]);
    inner_->apply(x, outputs, *frame_, Saving::Nothing);
  }
  // Each derivative recomputes the activations and then frees them. There is one frame for all
  // pending Applies, and the next derivative may be that of another one, whose activations differ.
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&, DTensor& dy) override {
    runAgain(point);
    DTensor* const outputs[] = {&dy};
    inner_->tangent(*frame_, dx, outputs);
    frame_->drop();
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    runAgain(point);
    const DTensor* const cotangents[] = {&dy};
    inner_->adjoint(*frame_, cotangents, dx);
    frame_->drop();
  }
  Index bytes() const override { return inner_->bytes() + frame_->bytes() + output_->arrayBytes(); }
  std::string describe() const override {
    return "recomputed before its adjoint from its input; activations are among the buffers";
  }
  const BoundMaps* inner() const override { return &inner_->maps(); }
  // The passes of the inner set-up record their own steps.
  bool isRepeatable() const override { return false; }

private:
  // The state on which an Apply depends besides its inputs and parameters: the numbers of random
  // draws so far, and which layers are in training mode. (The surrounding set-up checks that inputs
  // and parameters are unchanged.)
  struct Conditions {
    std::vector<std::uint64_t> applied; // by layer of random_
    std::vector<bool> training;         // by layer of leaves_
  };

  void noteConditions(Conditions& conditions) const {
    conditions.applied.resize(random_.size());
    for (std::size_t i = 0; i < random_.size(); ++i)
      conditions.applied[i] = random_[i]->randomState().applied;
    conditions.training.resize(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      conditions.training[i] = leaves_[i]->isTraining();
  }

  // While the object exists, the layers are under the conditions of an earlier Apply. Afterwards
  // the present conditions hold again, also if the recomputation throws: otherwise the next Apply
  // would draw the random numbers of the earlier one.
  class EarlierConditions {
  public:
    EarlierConditions(const SegmentKernel& kernel, const Conditions& ofApply) : kernel_(kernel) {
      kernel.noteConditions(present_);
      kernel.restore(ofApply);
    }
    ~EarlierConditions() { kernel_.restore(present_); }
    EarlierConditions(const EarlierConditions&) = delete;
    EarlierConditions& operator=(const EarlierConditions&) = delete;

  private:
    const SegmentKernel& kernel_;
    Conditions present_;
  };

  // Runs the Apply that left the inputs and the workspace of `at` again, under the conditions of
  // that Apply. This fills frame_ with its activations, which the caller's derivative then reads.
  void runAgain(const KernelPoint& at) {
    const EarlierConditions ofApply(*this, conditions_.at(at.workspace));
    const HeldStates held(states_);
    // The surrounding set-up keeps the inputs unchanged, so references to them suffice.
    DTensor* const outputs[] = {output_.get()};
    inner_->apply(at.inputs, outputs, *frame_, Saving::References);
  }
  void restore(const Conditions& conditions) const {
    for (std::size_t i = 0; i < random_.size(); ++i)
      random_[i]->randomState().applied = conditions.applied[i];
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const bool records = leaves_[i]->isRecording();
      // setTraining() also sets the recording mode, which is restored.
      leaves_[i]->setTraining(conditions.training[i]);
      leaves_[i]->setRecording(records);
    }
  }

  std::unique_ptr<Setup> inner_;
  std::unique_ptr<Frame> frame_;
  Ref<DTensor> output_;                  // result of recomputations, which nobody reads
  std::vector<Layer*> leaves_;           // the layers in the container that are not containers
  std::vector<Layer*> random_;           // those of them that draw random numbers
  std::vector<Ref<StateTensor>> states_; // of all leaves
  std::map<const Buffer*, Conditions> conditions_; // key: the workspace of the pending Apply
};

} // namespace

void checkSegment(const Layer& container, std::size_t outputs) {
  if (outputs > 1)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} cannot recompute, since it has {}; set recompute to false, or to "
                            "true for a container within it that has one",
                            container.title(), counted(static_cast<Index>(outputs), "output")));
}

std::shared_ptr<LocalKernel> makeSegment(const Layer& container, std::unique_ptr<Setup> inner) {
  return std::make_shared<SegmentKernel>(container, std::move(inner));
}

} // namespace tenon
