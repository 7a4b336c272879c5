// SPDX-License-Identifier: BSD-2-Clause
// Finds a step length t > 0 along a descent direction that satisfies the strong Wolfe conditions
//
//   f(t) <= f(0) + c1 t f'(0),   |f'(t)| <= c2 |f'(0)|,
//
// where f(t) is the loss at w + t d. First an interval (bracket) that contains such a t is found,
// then it is narrowed (Nocedal and Wright, Numerical Optimization, Algorithms 3.5 and 3.6). The
// next t is the minimum of the cubic through two points (3.59), at some distance from the ends of
// the bracket.
//
// Near a minimum, values differ by less than their rounding error, while slopes are still accurate.
// Such values count as equal, and slopes decide: the first condition is replaced by f'(t) <= (2 c1
// - 1) f'(0), which is equivalent for a quadratic f (Hager and Zhang, SIAM Journal on Optimization
// 16, 2005), and the cubic by the secant of the slopes.
#pragma once

#include <functional>

namespace tenon {

// f(at) and its derivative.
struct LinePoint {
  double at = 0, value = 0, slope = 0;
};
using LineFunction = std::function<LinePoint(double at)>;

struct LineSearchSettings {
  double c1 = 1e-4, c2 = 0.9; // of the conditions above
  int evaluations = 25;       // maximal number of evaluations of f
  double shortest = 1e-9;     // width of a bracket that is not narrowed further
  double rounding = 0;        // relative rounding error of f
};

// The result of a search.
struct LineResult {
  LinePoint point;
  // Satisfies the conditions; otherwise the point is the lowest that was found.
  bool fulfils = false;
};

// `start` is at 0 with a negative slope; `first` is the first step length tried.
LineResult searchLine(const LineFunction& f, const LinePoint& start, double first,
                      const LineSearchSettings& settings);

// Returns the minimum of the cubic with these values and slopes, within [low, high]; the midpoint
// if the cubic has no minimum.
double cubicMinimum(const LinePoint& a, const LinePoint& b, double low, double high);
// The same for the quadratic with these slopes.
double secantMinimum(const LinePoint& a, const LinePoint& b, double low, double high);

} // namespace tenon
