// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `pad`, which adds elements before and after the domain in each spatial
// dimension; negative padding removes elements. A boundary mode (zero, periodic, ...) defines the
// values of the added elements; without a mode they are zero. With padding 1 and periodic
// boundaries, 1 2 3 4 becomes 4 1 2 3 4 1.
//
// The layer is declared as windows of one element (core/windowed.hpp), whose outputs extend into
// the padding. That base derives the layouts of input and output on all ranks and the halo
// exchange; the kernel is that of slice.
//
// Labels, which state what an axis of the process grid does to x and y: n (splits the batch), c
// (splits channels), d/h/w (splits a spatial dimension), B (x and y are replicated), R (they are on
// the root only), P (each rank has a partial sum).
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/slice.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kPadSettings[] = {
    {"padding", OptionSpec::Ints, nullptr,
     "elements added before and after the domain, one number per spatial dimension; negative: "
     "elements of the domain that are left out"},
    kPaddingHighSetting,
    kBoundarySetting,
    kBoundaryConstantSetting,
    kFilledSetting,
    kVectorsSetting,
    kOutputCutsSetting};

class Pad final : public Windowed {
public:
  Pad() : Windowed("pad", kPadSettings) {}
  SignatureTable rows(const std::vector<Shape>&) const override {
    return imageTable(spatialRank(), /*linear=*/true);
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  // Padding is a range that begins before the input.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const Shape& shape = at.form.output.shape();
    std::vector<RangeSelection::Range> ranges;
    for (const Index extent : {shape[0], shape[1]})
      ranges.push_back({.begin = 0, .step = 1, .count = extent});
    for (const Window& window : windows())
      ranges.push_back({.begin = -window.padLow, .step = 1, .count = shape[ranges.size()]});
    return RangeSelection::makeExcerpt(at, ranges);
  }
  std::string summary() const override {
    return fmt::format("{}-D, {}", spatialRank(), windowText());
  }

  Example example(ExampleDraw& draw) const override {
    Example example = windowExample(draw, /*channels=*/draw.between(1, 4), /*mostPadding=*/100);
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
    return input.size() > 1 ? input[kChannelDim] : 0;
  }
};

} // namespace

std::unique_ptr<Declaration> declarePad() {
  return std::make_unique<Pad>();
}

} // namespace tenon
