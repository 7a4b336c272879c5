// SPDX-License-Identifier: BSD-2-Clause
// Brackets a step length and zooms into the bracket; conditions and references are in
// line_search.hpp. f(t) is the loss at distance t along a direction:
//
//   run()    tries the first t, then larger ones, until [previous, current] contains an acceptable
//            t: f has increased, or its slope has become positive
//   zoom()   narrows this bracket by trial points at the minimum of an interpolation
//
// Values that differ by less than their rounding error count as equal, and slopes decide; otherwise
// no step near a minimum could satisfy the first condition. Each evaluation of f runs the network,
// so it is collective, and all ranks see the same numbers.
#include "train/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tenon {

// Interpolates values and slopes of both points (3.59).
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

// Zero of the linear interpolation of both slopes.
double secantMinimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double curvature = (b.slope - a.slope) / (b.at - a.at), at = b.at - b.slope / curvature;
  return curvature > 0 && std::isfinite(at) ? std::clamp(at, low, high) : (low + high) / 2;
}

namespace {

// One line search. It counts the evaluations of f.
class Search {
public:
  Search(const LineFunction& f, const LinePoint& start, const LineSearchSettings& settings)
      : f_(f), start_(start), settings_(settings),
        rounding_(settings.rounding * std::abs(start.value)) {}

  LineResult run(double first) {
    LinePoint previous = start_, current = evaluate(first);
    for (bool isFirst = true;; isFirst = false) {
      if (!decreases(current) || (!isFirst && exceeds(current, previous)))
        return zoom(previous, current);
      if (isFlat(current))
        return {.point = current, .fulfils = true};
      if (current.slope >= 0)
        return zoom(current, previous);
      if (count_ >= settings_.evaluations)
        return {.point = current, .fulfils = false};
      // The next point is at least a hundredth of the last distance further, and at most 10 times
      // as far from the start.
      const double width = current.at - previous.at;
      const double next = minimum(previous, current, current.at + 0.01 * width, 10 * current.at);
      previous = current;
      current = evaluate(next);
    }
  }

private:
  LinePoint evaluate(double at) {
    ++count_;
    return f_(at);
  }
  // A NaN exceeds every other value.
  bool exceeds(const LinePoint& p, const LinePoint& q) const {
    return !(p.value <= q.value + rounding_);
  }
  // The first condition, or its replacement near a minimum.
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
  // The second condition: the slope has decreased sufficiently.
  bool isFlat(const LinePoint& p) const {
    return std::abs(p.slope) <= -settings_.c2 * start_.slope;
  }

  // `low` has the lowest value among points that decrease sufficiently, and descends towards
  // `high`.
  LineResult zoom(LinePoint low, LinePoint high) {
    bool wasNearEnd = false;
    while (count_ < settings_.evaluations && std::abs(high.at - low.at) >= settings_.shortest) {
      const LinePoint trial = evaluate(between(low, high, wasNearEnd));
      // A trial point that is too high is the far end of a shorter bracket.
      if (!decreases(trial) || exceeds(trial, low)) {
        high = trial;
        continue;
      }
      if (isFlat(trial))
        return {.point = trial, .fulfils = true};
      // If f rises from the trial point towards `high`, the minimum is on the other side, towards
      // `low`, which becomes the far end.
      if (trial.slope * (high.at - low.at) >= 0)
        high = low;
      low = trial;
    }
    return {.point = low, .fulfils = false};
  }

  // Returns the expected minimum. If it is at an end of the bracket, or near one twice in a row, it
  // is moved inside by a tenth, because the bracket would otherwise hardly become shorter. An
  // infinite value, of a step that was far too long, cannot be interpolated: the bracket is halved.
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
