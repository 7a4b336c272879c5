// SPDX-License-Identifier: BSD-2-Clause
// Losses whose terms are of each element's error d = x - t:
//
//   meansquarederror   d^2
//   meanabsoluteerror  |d|
//   huber              d^2 / 2 where |d| <= delta, beyond it delta (|d| - delta / 2)
#include "declaration/declaration_types.hpp"
#include "declaration/loss.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kHuberSettings[] = {
    kReductionSetting,
    kWeightsSetting,
    {"delta", OptionSpec::Real, "1",
     "error up to which the Huber loss is quadratic, and linear beyond", nullptr, above(0)},
};

class ElementLoss final : public Loss {
public:
  ElementLoss(const char* type, std::span<const OptionSpec> table) : Loss(type, table, "u") {}

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    Example drawn{.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})}},
                  .inputs = {shape},
                  .target = shape};
    if (settings().has("delta"))
      drawn.settings.emplace_back("delta", 0.25 * static_cast<double>(draw.between(1, 4)));
    return drawn;
  }

private:
  std::string summary() const override {
    const std::string said = Loss::summary();
    return settings().has("delta")
               ? fmt::format("delta {}{}{}", real("delta"), said.empty() ? "" : ", ", said)
               : said;
  }
};

} // namespace

std::unique_ptr<Declaration> declareMeansquarederror() {
  return std::make_unique<ElementLoss>("meansquarederror", kLossSettings);
}

std::unique_ptr<Declaration> declareMeanabsoluteerror() {
  return std::make_unique<ElementLoss>("meanabsoluteerror", kLossSettings);
}

std::unique_ptr<Declaration> declareHuber() {
  return std::make_unique<ElementLoss>("huber", kHuberSettings);
}

} // namespace tenon
