// SPDX-License-Identifier: BSD-2-Clause
// Spherical harmonics for tests, independent of the library: associated Legendre functions by the
// explicit sum for low degrees, and the transforms of one field by their definition in plain loops.
#pragma once

#include "kernels/sphere/rows.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

namespace tenon::test {

// P_lm, orthonormal with exp(i m phi) over the sphere, without the sign (-1)^m: m derivatives of
// the polynomial P_l taken term by term.
inline double explicitLegendre(Index l, Index m, double t) {
  const auto factorial = [](Index n) { return std::tgamma(double(n) + 1); };
  double sum = 0;
  for (Index k = 0; l - 2 * k - m >= 0; ++k)
    sum += (k % 2 == 0 ? 1 : -1) * factorial(2 * l - 2 * k) /
           (factorial(k) * factorial(l - k) * factorial(l - 2 * k - m)) *
           std::pow(std::cos(t), double(l - 2 * k - m));
  return std::sqrt(double(2 * l + 1) / (4 * std::numbers::pi) * factorial(l - m) /
                   factorial(l + m)) *
         std::pow(std::sin(t), double(m)) * sum / std::pow(2, double(l));
}

// dP_lm/dt and m P_lm / sin t by neighbouring orders, finite at the poles.
inline double explicitDerivative(Index l, Index m, double t) {
  const auto at = [&](Index order) { return order > l ? 0 : explicitLegendre(l, order, t); };
  const auto root = [](Index a, Index b) { return std::sqrt(double(a) * double(b)); };
  if (m == 0)
    return l == 0 ? 0 : -root(l, l + 1) * at(1);
  return (root(l + m, l - m + 1) * at(m - 1) - root(l - m, l + m + 1) * at(m + 1)) / 2;
}
inline double explicitQuotient(Index l, Index m, double t) {
  const auto root = [](Index a, Index b) { return std::sqrt(double(a) * double(b)); };
  return m == 0 ? 0
                : std::sqrt(double(2 * l + 1) / double(2 * l + 3)) / 2 *
                      (root(l - m + 1, l - m + 2) * explicitLegendre(l + 1, m - 1, t) +
                       root(l + m + 1, l + m + 2) * explicitLegendre(l + 1, m + 1, t));
}

// Settings of a transform of fields [rows, columns] to coefficients [orders, degrees, 2].
struct SphereCase {
  Index rows, columns, degrees, orders;
  std::string grid = "gauss", norm = "ortho";
  bool sign = true, south = false;

  // One entry of the matrix: for the real (part 0) or the imaginary part of a coefficient, and an
  // element (y, x) of the field. In an analysis, the coefficient is the sum of analysis() times the
  // elements; in a synthesis, the element is the sum of synthesis() times the coefficients. Orders
  // are stored folded: `place` is the position of an order in the array (orderAtPlace()).
  double analysis(const SphereRows& nodes, Index place, Index l, Index part, Index y,
                  Index x) const {
    const Index m = orderAtPlace(place, orders);
    const double wave = part == 0 ? std::cos(angle(m, x)) : -std::sin(angle(m, x));
    return l < m ? 0
                 : norm_(l, m) * 2 * std::numbers::pi / double(columns) * nodes.weight[row(y)] *
                       explicitLegendre(l, m, nodes.colatitude[row(y)]) * wave;
  }
  double synthesis(const SphereRows& nodes, Index place, Index l, Index part, Index y,
                   Index x) const {
    const Index m = orderAtPlace(place, orders);
    const double wave = part == 0 ? std::cos(angle(m, x)) : -std::sin(angle(m, x));
    // The coefficient of -m, which is not stored, is the conjugate of that of m, and together they
    // give twice the real part. The orders 0 and columns / 2 are their own mirror images.
    return l < m ? 0
                 : (m == 0 || 2 * m == columns ? 1 : 2) / norm_(l, m) *
                       explicitLegendre(l, m, nodes.colatitude[row(y)]) * wave;
  }

  // The matrix [orders, degrees, 2, rows, columns] of one direction.
  std::vector<double> matrix(bool isSynthesis) const {
    const SphereRows nodes = sphereRows(sphereGridNamed(grid), rows);
    std::vector<double> all;
    for (Index place = 0; place < orders; ++place)
      for (Index l = 0; l < degrees; ++l)
        for (Index part = 0; part < 2; ++part)
          for (Index y = 0; y < rows; ++y)
            for (Index x = 0; x < columns; ++x)
              all.push_back(isSynthesis ? synthesis(nodes, place, l, part, y, x)
                                        : analysis(nodes, place, l, part, y, x));
    return all;
  }

protected:
  Index row(Index y) const { return south ? rows - 1 - y : y; }
  double angle(Index m, Index x) const {
    return 2 * std::numbers::pi * double(m * x % columns) / double(columns);
  }
  double norm_(Index l, Index m) const {
    const double value =
        norm == "schmidt" ? std::sqrt(4 * std::numbers::pi / double(2 * l + 1)) : 1;
    return sign && m % 2 != 0 ? -value : value;
  }
};

// Vector fields, whose two components (y, x) correspond to two scalars.
struct VectorCase : SphereCase {
  bool isDivVort = false, isNorthward = false;
  double radius = 1;

  // The matrix [2, orders, degrees, 2, 2, rows, columns] of one direction, with the components to
  // the south and to the east of each harmonic: grad of s, and the turned grad of u.
  std::vector<double> vectorMatrix(bool isSynthesis) const {
    using Complex = std::complex<double>;
    const SphereRows nodes = sphereRows(sphereGridNamed(grid), rows);
    std::vector<double> all;
    for (const bool isToroidal : {false, true})
      for (Index place = 0; place < orders; ++place)
        for (Index l = 0; l < degrees; ++l)
          for (Index part = 0; part < 2; ++part)
            for (const bool isEast : {false, true})
              for (Index y = 0; y < rows; ++y)
                for (Index x = 0; x < columns; ++x) {
                  const Index m = orderAtPlace(place, orders);
                  const double t = nodes.colatitude[row(y)];
                  Complex value = 0;
                  if (l >= m && l > 0 && isEast == isToroidal)
                    value = (isToroidal ? -1 : 1) * explicitDerivative(l, m, t);
                  else if (l >= m && l > 0)
                    value = Complex(0, explicitQuotient(l, m, t));
                  if (!isEast && (south || isNorthward))
                    value = -value;
                  value *= std::polar(1., angle(m, x));
                  // The real part of the value, or of i times it.
                  const double number = part == 0 ? value.real() : -value.imag();
                  all.push_back(number * scale(isSynthesis, isToroidal, l, m) *
                                (isSynthesis ? 1 : nodes.weight[row(y)]));
                }
    return all;
  }

private:
  double scale(bool isSynthesis, bool isToroidal, Index l, Index m) const {
    const double eigenvalue = std::max(1., double(l) * double(l + 1)),
                 laplacian = isDivVort ? (isToroidal ? 1 : -1) * eigenvalue / radius / radius : 1;
    if (isSynthesis)
      return (m == 0 || 2 * m == columns ? 1 : 2) / norm_(l, m) / radius / laplacian;
    return norm_(l, m) * 2 * std::numbers::pi / double(columns) * radius / eigenvalue * laplacian;
  }
};

// y[f] = A x[f] for each field f, with the matrix A [outer, inner], or its transpose.
inline std::vector<double> multiplied(const std::vector<double>& matrix, bool transposed,
                                      std::size_t inner, std::size_t outer,
                                      const std::vector<double>& x) {
  const std::size_t from = transposed ? outer : inner, to = transposed ? inner : outer,
                    fields = x.size() / from;
  std::vector<double> y(fields * to, 0);
  for (std::size_t f = 0; f < fields; ++f)
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i)
        if (transposed)
          y[f * to + i] += matrix[o * inner + i] * x[f * from + o];
        else
          y[f * to + o] += matrix[o * inner + i] * x[f * from + i];
  return y;
}

} // namespace tenon::test
