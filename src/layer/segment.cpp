// SPDX-License-Identifier: BSD-2-Clause
#include "layer/segment.hpp"

#include "layer/shell.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tenon {

namespace {

// visit(layer) for those without layers in them, each once.
void forEachLeaf(const Layer& layer, std::vector<Layer*>& leaves) {
  for (Layer* child : layer.children())
    if (!child->children().empty())
      forEachLeaf(*child, leaves);
    else if (std::find(leaves.begin(), leaves.end(), child) == leaves.end())
      leaves.push_back(child);
}

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
    std::vector<Layer*> leaves;
    forEachLeaf(layer, leaves);
    for (Layer* leaf : leaves) {
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
    if (!workspace)
      return inner_->infer(x, y);
    notePoint(points_[workspace]);
    inner_->run(x, y, *frame_);
  }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&, DTensor& dy) override {
    runAgain(point);
    inner_->tangent(*frame_, dx, dy);
    frame_->drop();
  }
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    runAgain(point);
    inner_->adjoint(*frame_, dy, dx);
    frame_->drop();
  }
  Index bytes() const override { return inner_->bytes() + frame_->bytes() + output_->arrayBytes(); }
  std::string describe() const override { return "segment that is recomputed"; }
  const BoundMaps* inner() const override { return &inner_->maps(); }
  // Its own passes record their steps.
  bool isRepeatable() const override { return false; }

private:
  // What an Apply in training depends on beside its inputs and the parameters, which are the point of whoever runs the
  // segment: how often the random layers were applied.
  using Point = std::vector<std::uint64_t>;

  void notePoint(Point& point) const {
    point.resize(random_.size());
    for (std::size_t i = 0; i < random_.size(); ++i)
      point[i] = random_[i]->randomState().applied;
  }

  void runAgain(const KernelPoint& at) {
    const Point& point = points_.at(at.workspace);
    Point now;
    notePoint(now);
    setApplied(point);
    const HeldStates held(states_);
    inner_->apply(at.inputs, *output_, *frame_, Saving::References);
    setApplied(now);
  }
  void setApplied(const Point& point) const {
    for (std::size_t i = 0; i < random_.size(); ++i)
      random_[i]->randomState().applied = point[i];
  }

  std::unique_ptr<Setup> inner_;
  std::unique_ptr<Frame> frame_;
  Ref<DTensor> output_; // of a recomputation; nobody reads it
  std::vector<Layer*> random_;
  std::vector<Ref<StateTensor>> states_;
  std::map<const Buffer*, Point> points_; // by the workspace of a frame and a map
};

std::string segmentFacts(const Setup& setup) {
  const Mesh& mesh = setup.output().mesh();
  std::string text = fmt::format("  process grid {}\n", mesh.describe());
  for (const Layout& input : setup.inputs())
    text += viewLine("input", input, mesh);
  return text + viewLine("output", setup.output(), mesh) +
         "  keeps its input, and is recomputed before its adjoint; activations are among the "
         "buffers\n";
}

} // namespace

std::unique_ptr<Setup> makeSegment(const Layer& layer, std::unique_ptr<Setup> inner) {
  BoundMaps maps(layer);
  std::vector<ValueId> reads;
  for (const Layout& input : inner->inputs())
    reads.push_back(maps.list().input(fmt::format("x{}", reads.size()), input));
  const ValueId y = maps.list().output("y", inner->output());
  maps.run(
      {.name = "segment", .keepsInputs = true, .anyStrides = true, .gradients = Gradients::Within},
      reads, y, std::make_shared<SegmentKernel>(layer, std::move(inner)));
  return std::make_unique<Setup>(std::move(maps), "", segmentFacts);
}

} // namespace tenon
