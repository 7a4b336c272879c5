// SPDX-License-Identifier: BSD-2-Clause
// Pooling over windows of an input [batch, channel, spatial...]: the maximum, or the mean with or
// without the padding. Padding is absent, not zero, unless a boundary mode fills it. Ties of the
// maximum go to the first input in global row-major order.
//
// Labels on a grid axis: n batch, c channel, d/h/w space, B, R; P for the mean, which is linear.
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kStrideSetting = {
    "stride",
    OptionSpec::Ints,
    nullptr,
    "step of the window, one number for all spatial dimensions or one each; the window's size "
    "where it is not set",
    nullptr,
    atLeast(1)};
constexpr OptionSpec kCeilSetting = {"ceil", OptionSpec::Flag, "false",
                                     "round the number of outputs up: a last window may reach "
                                     "beyond the padding"};
constexpr OptionSpec kMaximumSettings[] = {
    kKernelSetting,      kStrideSetting,   kDilationSetting,         kPaddingSetting,
    kPaddingHighSetting, kBoundarySetting, kBoundaryConstantSetting, kOutputCutsSetting,
    kCeilSetting,        kFilledSetting,   kVectorsSetting};
constexpr OptionSpec kAverageSettings[] = {
    kKernelSetting,
    kStrideSetting,
    kDilationSetting,
    kPaddingSetting,
    kPaddingHighSetting,
    kBoundarySetting,
    kBoundaryConstantSetting,
    kOutputCutsSetting,
    kCeilSetting,
    kFilledSetting,
    kVectorsSetting,
    {"include_padding", OptionSpec::Flag, "true",
     "divide by the size of the window, padding included, and not by what lies in the domain"}};

class Pooling final : public Windowed {
public:
  explicit Pooling(bool isMaximum)
      : Windowed(isMaximum ? "maxpooling" : "averagepooling",
                 isMaximum ? std::span<const OptionSpec>(kMaximumSettings) : kAverageSettings),
        isMaximum_(isMaximum) {}

  SignatureTable rows(const std::vector<Shape>&) const override {
    return imageTable(spatialRank(), !isMaximum_);
  }

  Work work(const Form& form, int position) const override {
    double taps = 1;
    for (const Window& window : windows())
      taps *= double(window.kernel);
    return {.columns = taps * double(elements(form.output.box(position)))};
  }
  // Windows that do not overlap have kernels of their own.
  std::string kernelKind() const override {
    const bool isApart = std::ranges::all_of(
        windows(), [](const Window& window) { return window.kernel <= window.stride; });
    return isApart ? type() : "overlapping " + type();
  }

  // The derivatives of a maximum read where it was, and those of a mean nothing.
  KernelEntry kernel(const Form& form) const override {
    return {.name = type(),
            .workspace = {isMaximum_ ? Index(sizeof(std::int32_t)) : 0, form.output}};
  }

  std::string summary() const override {
    const char* mode = isMaximum_                ? "max"
                       : flag("include_padding") ? "average including padding"
                                                 : "average excluding padding";
    return fmt::format("{}-D, {}, {}", spatialRank(), mode, windowText());
  }

  // Half of a window's reach at most is padding, since a window that sees padding alone has no
  // maximum.
  Example example(ExampleDraw& draw) const override {
    Example example = windowExample(draw, draw.between(1, 4), 50);
    example.settings.emplace_back("ceil", draw.chance(40));
    if (!isMaximum_)
      example.settings.emplace_back("include_padding", draw.chance(50));
    return example;
  }

private:
  bool padsWithZeros() const override { return false; }
  Index defaultStride(Index kernel) const override { return kernel; }
  Index outputChannels(const Shape& input) const override {
    return input.size() > 1 ? input[1] : 0;
  }

  bool isMaximum_;
};

} // namespace

std::unique_ptr<Declaration> declareMaxPooling() {
  return std::make_unique<Pooling>(true);
}

std::unique_ptr<Declaration> declareAveragePooling() {
  return std::make_unique<Pooling>(false);
}

} // namespace tenon
