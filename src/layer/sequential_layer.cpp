// SPDX-License-Identifier: BSD-2-Clause
#include "layer/sequential_layer.hpp"

#include "sys/random.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

using Layers = std::vector<Ref<Layer>>;
using Layouts = std::vector<Layout>;

struct SequentialFrame final : Frame {
  std::vector<Ref<DTensor>> between; // the output of every layer but the last
};

class SequentialSetup final : public Setup {
public:
  SequentialSetup(const SequentialLayer& layer, const Layouts& layouts)
      : Setup(layouts.front(), layouts.back()), layer_(layer), layouts_(layouts) {
    for (std::size_t i = 1; i + 1 < layouts_.size(); ++i) {
      tangents_.push_back(tensor(layouts_[i]));
      cotangents_.push_back(tensor(layouts_[i].dual()));
    }
  }

  std::unique_ptr<Frame> makeFrame() override {
    auto frame = std::make_unique<SequentialFrame>();
    for (std::size_t i = 1; i + 1 < layouts_.size(); ++i)
      frame->between.push_back(tensor(layouts_[i]));
    for (const Ref<DTensor>& t : frame->between)
      t->allocate();
    return frame;
  }

  void apply(const DTensor& x, DTensor& y, Frame& base, bool training) override {
    auto& between = static_cast<SequentialFrame&>(base).between;
    std::size_t i = 0;
    try {
      for (; i < layers().size(); ++i)
        layers()[i]->apply(i == 0 ? x : *between[i - 1],
                           i + 1 == layers().size() ? y : *between[i]);
    } catch (...) {
      while (training && i-- > 0) // the container has pushed nothing, so neither have its layers
        layers()[i]->forgetLast();
      throw;
    }
  }

  void tangent(Frame&, const DTensor* dx, DTensor& dy) override {
    for (std::size_t i = 0; i < layers().size(); ++i)
      layers()[i]->applyTangent(i == 0 ? dx : tangents_[i - 1].get(),
                                i + 1 == layers().size() ? dy : *tangents_[i]);
  }

  void adjoint(Frame&, const DTensor& dy, DTensor* dx) override {
    for (std::size_t i = layers().size(); i-- > 0;)
      layers()[i]->applyAdjoint(i + 1 == layers().size() ? dy : *cotangents_[i],
                                i == 0 ? dx : cotangents_[i - 1].get());
  }

  std::string describe() const override {
    return fmt::format("  input {}\n  output {}\n", input().describe(), output().describe());
  }

private:
  const Layers& layers() const { return layer_.layers(); }
  Ref<DTensor> tensor(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, layer_.dataType());
  }

  const SequentialLayer& layer_;
  Layouts layouts_;
  std::vector<Ref<DTensor>> tangents_, cotangents_;
};

} // namespace

void SequentialLayer::add(Ref<Layer> layer) {
  checkBeforeSetUp("Add");
  if (layer->comm() != comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} lives on another communicator than {}", layer->title(), title()));
  layers_.push_back(std::move(layer));
}

void SequentialLayer::setFromOptions() {
  Layer::setFromOptions();
  for (const Ref<Layer>& layer : layers_)
    layer->setFromOptions();
}

void SequentialLayer::setTraining(bool training) {
  Layer::setTraining(training);
  for (const Ref<Layer>& layer : layers_)
    layer->setTraining(training);
}

void SequentialLayer::forgetLast() {
  Layer::forgetLast();
  for (const Ref<Layer>& layer : layers_)
    layer->forgetLast();
}

void SequentialLayer::clearStack() {
  Layer::clearStack();
  for (const Ref<Layer>& layer : layers_)
    layer->clearStack();
}

std::vector<Ref<Parameter>> SequentialLayer::parameters() const {
  std::vector<Ref<Parameter>> all;
  for (const Ref<Layer>& layer : layers_)
    for (const Ref<Parameter>& p : layer->parameters())
      all.push_back(p);
  return all;
}

void SequentialLayer::zeroGradients() {
  for (const Ref<Layer>& layer : layers_)
    layer->zeroGradients();
}

void SequentialLayer::initialize(std::uint64_t seed, std::uint64_t stream) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    layers_[i]->initialize(seed, streamOf(fmt::format("{} layer {}", stream, i)));
}

std::unique_ptr<Setup> SequentialLayer::makeSetup(const Layout& input) {
  if (layers_.empty())
    throw Error(TENON_ERR_STATE, fmt::format("{} has no layers; add some before SetUp", title()));
  Layouts layouts = {input};
  for (const Ref<Layer>& layer : layers_) {
    if (!layer->isSetUp())
      layer->inheritSettings(*this);
    layer->setTraining(isTraining());
    layer->setUp(layouts.back());
    layouts.push_back(layer->outputLayout(layouts.back()));
  }
  return std::make_unique<SequentialSetup>(*this, layouts);
}

std::string SequentialLayer::ownSettings() const {
  std::string text = fmt::format("of {} layers (", layers_.size());
  for (const Ref<Layer>& layer : layers_)
    text += layer->settings() + "; ";
  return text + ")";
}

std::string SequentialLayer::describe() const {
  std::string text = Layer::describe();
  for (const Ref<Layer>& layer : layers_)
    text += layer->describe();
  return text;
}

} // namespace tenon
