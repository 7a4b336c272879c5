// SPDX-License-Identifier: BSD-2-Clause
#include "linop/store_choice.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

StoreWay parseStoreWay(std::string_view name) {
  if (name == "auto")
    return StoreWay::Auto;
  if (name == "cached")
    return StoreWay::Cached;
  if (name == "streaming")
    return StoreWay::Streaming;
  throw Error(TENON_ERR_ARG,
              fmt::format("unknown store '{}'; use one of {}", name, kStoreWayChoices));
}

StoreWay StoreChoice::next() noexcept {
  if (cost_[0] == 0 || cost_[1] == 0)
    return last_ = other(last_);
  if (untilTrial_-- > 0)
    return faster();
  untilTrial_ = interval_;
  return other(faster());
}

// A time counts at once where it is less, and by a quarter where it is more, up to four times what
// it was: most of what makes one store slow is not the way of it.
void StoreChoice::took(StoreWay way, double secondsPerByte) noexcept {
  constexpr double kWeight = 0.25, kMost = 4, kLeast = 1e-15;
  const double now = std::max(secondsPerByte, kLeast);
  const StoreWay before = faster();
  double& known = cost(way);
  known =
      known == 0 || now < known ? now : known + kWeight * (std::min(now, kMost * known) - known);
  if (faster() != before)
    interval_ = untilTrial_ = kFirstInterval;
  else if (way != before)
    interval_ = std::min(2 * interval_, kLastInterval);
}

} // namespace tenon
