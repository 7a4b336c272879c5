// SPDX-License-Identifier: BSD-2-Clause
// A step length t > 0 along a descent direction that fulfils the strong Wolfe conditions
//
//   f(t) <= f(0) + c1 t f'(0),   |f'(t)| <= c2 |f'(0)|,
//
// by bracketing and zooming (Nocedal and Wright, Numerical Optimization, Algorithms 3.5 and 3.6),
// with the minimum of the cubic through two points (3.59), kept away from the ends of the bracket.
//
// Near a minimum the values differ by less than they are rounded, at slopes of the root of that
// rounding. Such values count as equal, and slopes decide: the first condition is then f'(t) <= (2
// c1 - 1) f'(0), which it is for a quadratic f (Hager and Zhang, SIAM Journal on Optimization 16,
// 2005), and the secant of the slopes takes the place of the cubic.
#pragma once

#include <functional>

namespace tenon {

struct LinePoint {
  double at = 0, value = 0, slope = 0;
};
using LineFunction = std::function<LinePoint(double at)>;

struct LineSearchSettings {
  double c1 = 1e-4, c2 = 0.9;
  int evaluations = 25;   // at most
  double shortest = 1e-9; // bracket that is not narrowed
  double rounding = 0;    // of a value, relative
};

struct LineResult {
  LinePoint point;
  bool fulfils = false; // else the lowest point that was found
};

// `start` is at 0 with a negative slope; `first` is tried first.
LineResult searchLine(const LineFunction& f, const LinePoint& start, double first,
                      const LineSearchSettings& settings);

// The minimum of the cubic with these values and slopes, within [low, high]; its middle if the
// cubic has none.
double cubicMinimum(const LinePoint& a, const LinePoint& b, double low, double high);
// The same for the quadratic with these slopes.
double secantMinimum(const LinePoint& a, const LinePoint& b, double low, double high);

} // namespace tenon
