// SPDX-License-Identifier: BSD-2-Clause
#include "layer/kernel_strips.hpp"

#include "layer/held_bytes.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

KernelStrips::KernelStrips(const Layer& layer, const Layout& input, std::vector<KernelStrip> strips)
    : layer_(layer), strips_(std::move(strips)) {
  for (const KernelStrip& strip : strips_)
    conversions_.push_back(makeRef<Conversion>(layer.comm(), input, strip.use, layer.dataType()));
  tangents_ = tensors(false);
  cotangents_ = tensors(true);
}

KernelStrips::Tensors KernelStrips::tensors(bool dual) const {
  Tensors list;
  for (const KernelStrip& strip : strips_)
    list.push_back(
        makeRef<DTensor>(layer_.comm(), dual ? strip.use.dual() : strip.use, layer_.dataType()));
  return list;
}

KernelStrips::Tensors KernelStrips::makeTensors() const {
  Tensors list = tensors(false);
  for (const Ref<DTensor>& tensor : list)
    tensor->allocate();
  return list;
}

void KernelStrips::begin(const DTensor& x, Tensors& use) {
  for (std::size_t s = 0; s < strips_.size(); ++s)
    conversions_[s]->start({Sense::Forward, 1, &x, 0, use[s].get()});
}

void KernelStrips::forward(Tensors& use, ParameterUses& parameters, DTensor& y) {
  for (std::size_t s = 0; s < strips_.size(); ++s) {
    conversions_[s]->finish();
    strips_[s].kernel->forward(*use[s], parameters, y, nullptr);
  }
}

void KernelStrips::beginTangent(const DTensor* dx) {
  if (dx)
    begin(*dx, tangents_);
}

void KernelStrips::tangent(const Tensors& use, const DTensor* dx, ParameterUses& parameters,
                           DTensor& dy) {
  for (std::size_t s = 0; s < strips_.size(); ++s) {
    if (dx)
      conversions_[s]->finish();
    strips_[s].kernel->tangent({.x = use[s].get()}, dx ? tangents_[s].get() : nullptr, parameters,
                               dy);
  }
}

void KernelStrips::beginAdjoint(const Tensors& use, const DTensor& dy, ParameterUses& parameters,
                                DTensor& dx) {
  for (std::size_t s = 0; s < strips_.size(); ++s) {
    strips_[s].kernel->adjoint({.x = use[s].get()}, dy, parameters, cotangents_[s].get());
    conversions_[s]->start({Sense::Adjoint, 1, cotangents_[s].get(), 1, &dx});
  }
}

void KernelStrips::adjointParameters(const Tensors& use, const DTensor& dy,
                                     ParameterUses& parameters) {
  for (std::size_t s = 0; s < strips_.size(); ++s)
    strips_[s].kernel->adjointParameters({.x = use[s].get()}, dy, parameters);
}

void KernelStrips::endAdjoint() {
  for (const Ref<Conversion>& conversion : conversions_)
    conversion->finish();
}

std::string KernelStrips::describe() const {
  std::string text;
  for (std::size_t s = 0; s < strips_.size(); ++s)
    text += fmt::format("  strip {} of the output, computed after its halo exchange: {}\n", s,
                        trafficText(*conversions_[s]));
  return text;
}

Index KernelStrips::bytes() const {
  return heldBytes(tangents_, cotangents_, conversions_);
}

} // namespace tenon
