// SPDX-License-Identifier: BSD-2-Clause
#include "layer/initializer.hpp"

#include "dtensor/fill.hpp"
#include "sys/random.hpp"

#include <cmath>

namespace tenon {

void initializeParameter(Parameter& parameter, const std::string& rule, std::uint64_t seed,
                         std::uint64_t stream) {
  DTensor& value = parameter.value();
  const Index fans =
      rule.starts_with("he") ? parameter.fanIn() : parameter.fanIn() + parameter.fanOut();
  const std::uint64_t own = stream ^ streamOf(parameter.name());
  if (fans == 0) {
    fillConstant(value, parameter.initial());
  } else {
    const double variance = 2.0 / static_cast<double>(fans);
    const double bound = std::sqrt(3 * variance);
    if (rule.ends_with("uniform"))
      fillUniform(value, seed, own, -bound, bound);
    else
      fillNormal(value, seed, own, 0, std::sqrt(variance));
  }
  parameter.valueChanged();
  parameter.setInitialized();
}

} // namespace tenon
