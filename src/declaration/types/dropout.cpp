// SPDX-License-Identifier: BSD-2-Clause
// Dropout (Srivastava et al. 2014), scaled while training: y = m x / (1 - rate), where m is 0 with
// probability rate, else 1; in inference y = x. With the mask given the map is linear, and all
// addends of a partial input get one mask.
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kDropoutSettings[] = {{"rate",
                                            OptionSpec::Real,
                                            "0.5",
                                            "probability that an element is dropped",
                                            nullptr,
                                            {.least = 0, .most = 1, .isOpenAbove = true}}};

class Dropout final : public Elementwise {
public:
  Dropout() : Elementwise("dropout", kDropoutSettings) {}
  bool isRandom() const override { return true; }
  std::string summary() const override { return fmt::format("rate {}", real("rate")); }
  Example example(ExampleDraw& draw) const override {
    return {{{"rate", 0.4}}, {draw.shape(1, 3)}};
  }

private:
  bool isLinear() const override { return true; }
  // The number of the Apply, from which the derivatives draw the mask again.
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .workspace = {sizeof(std::uint64_t)}};
  }
};

} // namespace

std::unique_ptr<Declaration> declareDropout() {
  return std::make_unique<Dropout>();
}

} // namespace tenon
