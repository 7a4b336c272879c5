// SPDX-License-Identifier: BSD-2-Clause
// Padding as a layer: windows of one element, whose outputs extend into the padding. Negative
// padding removes elements of the domain. A side without a boundary mode is padded with zeros.
//
// Labels per grid axis: n batch, c channel, d/h/w space, B (replicated), R (on the root of the axis
// only), P (partial sums).
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kPadSettings[] = {
    {"padding", OptionSpec::Ints, nullptr,
     "elements added before and after the domain, one number per spatial dimension; negative: "
     "elements of the domain that are left out"},
    kPaddingHighSetting,
    kBoundarySetting,
    kBoundaryConstantSetting,
    kFilledSetting,
    kOutputCutsSetting};

class Pad final : public Windowed {
public:
  Pad() : Windowed("pad", kPadSettings) {}
  SignatureTable rows(const std::vector<Shape>&) const override {
    return imageTable(spatialRank(), true);
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::string summary() const override {
    return fmt::format("{}-D, {}", spatialRank(), windowText());
  }

  Example example(ExampleDraw& draw) const override {
    Example example = windowExample(draw, draw.between(1, 4), 100);
    std::erase_if(example.settings, [](const auto& setting) {
      const std::string_view name = setting.first;
      return name == "kernel" || name == "stride" || name == "dilation";
    });
    return example;
  }

private:
  const char* sizedBy() const override { return "padding"; }
  std::vector<Index> windowSizes() const override {
    return std::vector<Index>(value<std::vector<Index>>("padding").size(), 1);
  }
  Index outputChannels(const Shape& input) const override {
    return input.size() > 1 ? input[1] : 0;
  }
};

} // namespace

std::unique_ptr<Declaration> declarePad() {
  return std::make_unique<Pad>();
}

} // namespace tenon
