// SPDX-License-Identifier: BSD-2-Clause
#include "layer/layer.hpp"

#include "layer/traffic_text.hpp"
#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

std::string Layer::settings() const {
  std::string text = declaration_->agreedText();
  for (const Layout& use : uses_)
    text += ", used as " + use.describe();
  for (const Node& node : nodes_)
    text += fmt::format(", ({}; reads {})", node.layer->settings(), fmt::join(node.reads, " and "));
  return text;
}

// The settings that a reader of the view did not leave at their defaults.
std::string Layer::brief() const {
  std::string text = type().empty() ? "no type" : type();
  const std::string own =
      nodes_.empty() ? declaration_->view()
                     : fmt::format("({})", counted(static_cast<Index>(nodes_.size()), "node"));
  text += fmt::format("{}{}, {}", own.empty() ? "" : " ", own, dataTypeName(type_));
  if (space_ == Space::Device)
    text += ", on the device";
  if (textOf("storage") != "use")
    text += ", storage " + textOf("storage");
  if (depth_ > 1)
    text += fmt::format(", stack depth {}", depth_);
  if (textOf("saved_type") != "same")
    text += ", saved activations in " + textOf("saved_type");
  if (textOf("initializer") != "glorot_uniform")
    text += ", initializer " + textOf("initializer");
  return text;
}

std::string Layer::describe() const {
  std::string text = ownView();
  for (const Layer* child : children())
    text += child->describe();
  return text;
}

std::string Layer::ownView() const {
  std::string text =
      fmt::format("{}: {}\n", headingOf(*this), viewsInDetail() ? settings() : brief());
  if (!isSetUp())
    return text + "  not set up\n";
  for (const Entry& entry : setups_) {
    text += entry.setup->describe();
    if (entry.lastApply)
      text += entry.lastApply->describe("Apply", "input", "output");
    text += entry.cotangents.describe("ApplyAdjoint", "output cotangent", "input cotangent");
  }
  for (const Ref<Parameter>& p : parameters_) {
    const LinearOp* reduction = p->toDirection();
    text += viewLine(p->name(), p->storage(), latest().output().mesh(),
                     (p->isFrozen() ? "   frozen" : "") +
                         (!reduction        ? std::string()
                          : p->isInBucket() ? "   gradient reduction with others"
                                            : "   gradient reduction: " + trafficText(*reduction)));
  }
  for (const Ref<StateTensor>& state : states_)
    text += viewLine(state->name(), state->storage(), latest().output().mesh(), "   running");
  const Memory held = memory();
  return text +
         fmt::format("  memory on rank {}: parameters {}, buffers {}, saved activations {}\n",
                     comm_->rank(), sizeText(held.parameters), sizeText(held.buffers),
                     sizeText(held.kept));
}

Layer::Memory Layer::memory() const {
  Memory held;
  for (const Entry& entry : setups_) {
    held.buffers += entry.setup->bytes() + entry.inferred.bytes() + entry.tangents.bytes() +
                    entry.cotangents.bytes();
    for (const Kept& kept : entry.frames)
      held.kept += kept.frame->bytes() + kept.arguments.bytes();
  }
  for (const Ref<Parameter>& p : parameters_)
    held.parameters += p->bytes();
  return held;
}

} // namespace tenon
