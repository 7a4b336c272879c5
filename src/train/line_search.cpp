// SPDX-License-Identifier: BSD-2-Clause
// Brackets a step length and zooms into the bracket. Values that differ by less than their rounding
// count as equal, and slopes decide: without that, no step near a minimum would fulfil the first
// condition.
#include "train/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tenon {

double cubicMinimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const LinePoint &left = a.at <= b.at ? a : b, &right = a.at <= b.at ? b : a;
  const double d1 =
      left.slope + right.slope - 3 * (left.value - right.value) / (left.at - right.at);
  const double square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0))
    return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = right.at - (right.at - left.at) * (right.slope + d2 - d1) /
                                   (right.slope - left.slope + 2 * d2);
  return std::isfinite(at) ? std::clamp(at, low, high) : (low + high) / 2;
}

double secantMinimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double curvature = (b.slope - a.slope) / (b.at - a.at), at = b.at - b.slope / curvature;
  return curvature > 0 && std::isfinite(at) ? std::clamp(at, low, high) : (low + high) / 2;
}

namespace {

class Search {
public:
  Search(const LineFunction& f, const LinePoint& start, const LineSearchSettings& settings)
      : f_(f), start_(start), settings_(settings),
        rounding_(settings.rounding * std::abs(start.value)) {}

  LineResult run(double first) {
    LinePoint before = start_, now = evaluate(first);
    for (bool isFirst = true;; isFirst = false) {
      if (!decreases(now) || (!isFirst && exceeds(now, before)))
        return zoom(before, now);
      if (isFlat(now))
        return {now, true};
      if (now.slope >= 0)
        return zoom(now, before);
      if (count_ >= settings_.evaluations)
        return {now, false};
      const double width = now.at - before.at;
      const double next = minimum(before, now, now.at + 0.01 * width, 10 * now.at);
      before = now;
      now = evaluate(next);
    }
  }

private:
  LinePoint evaluate(double at) {
    ++count_;
    return f_(at);
  }
  // A value that is NaN exceeds every other.
  bool exceeds(const LinePoint& p, const LinePoint& q) const {
    return !(p.value <= q.value + rounding_);
  }
  bool decreases(const LinePoint& p) const {
    return p.value <= start_.value + settings_.c1 * p.at * start_.slope ||
           (isSameValue(p, start_) && p.slope <= (2 * settings_.c1 - 1) * start_.slope);
  }
  bool isSameValue(const LinePoint& p, const LinePoint& q) const {
    return std::abs(p.value - q.value) <= rounding_;
  }
  double minimum(const LinePoint& a, const LinePoint& b, double low, double high) const {
    return isSameValue(a, b) ? secantMinimum(a, b, low, high) : cubicMinimum(a, b, low, high);
  }
  bool isFlat(const LinePoint& p) const {
    return std::abs(p.slope) <= -settings_.c2 * start_.slope;
  }

  // `low` has the lowest value of those that decrease, and falls towards `high`.
  LineResult zoom(LinePoint low, LinePoint high) {
    bool wasNearEnd = false;
    while (count_ < settings_.evaluations && std::abs(high.at - low.at) >= settings_.shortest) {
      const LinePoint tried = evaluate(between(low, high, wasNearEnd));
      if (!decreases(tried) || exceeds(tried, low)) {
        high = tried;
        continue;
      }
      if (isFlat(tried))
        return {tried, true};
      if (tried.slope * (high.at - low.at) >= 0)
        high = low;
      low = tried;
    }
    return {low, false};
  }

  // The minimum that is expected; one that is near an end for the second time in a row is moved a
  // tenth inside.
  double between(const LinePoint& low, const LinePoint& high, bool& wasNearEnd) const {
    const double left = std::min(low.at, high.at), right = std::max(low.at, high.at);
    const double inset = 0.1 * (right - left);
    double at = std::isfinite(high.value) ? minimum(low, high, left, right) : (left + right) / 2;
    const bool isNearEnd = std::min(right - at, at - left) < inset;
    if (isNearEnd && (wasNearEnd || at >= right || at <= left)) {
      at = right - at < at - left ? right - inset : left + inset;
      wasNearEnd = false;
    } else {
      wasNearEnd = isNearEnd;
    }
    return at;
  }

  const LineFunction& f_;
  LinePoint start_;
  LineSearchSettings settings_;
  double rounding_;
  int count_ = 0;
};

} // namespace

LineResult searchLine(const LineFunction& f, const LinePoint& start, double first,
                      const LineSearchSettings& settings) {
  return Search(f, start, settings).run(first);
}

} // namespace tenon
