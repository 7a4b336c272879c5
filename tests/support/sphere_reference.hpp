// SPDX-License-Identifier: BSD-2-Clause
// Spherical harmonics for tests, independent of the library: associated Legendre functions by the
// explicit sum for low degrees, and the transforms of one field by their definition in plain loops.
#pragma once

#include "kernels/sphere/rows.hpp"

#include <cmath>
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

// Settings of a transform of fields [rows, columns] to coefficients [orders, degrees, 2].
struct SphereCase {
  Index rows, columns, degrees, orders;
  std::string grid = "gauss", norm = "ortho";
  bool sign = true, south = false;

  // The real and the imaginary part of a coefficient at a place of the folded orders: the sum of
  // this number times the elements of the field, in an analysis; and the number by which it
  // contributes to an element, in a synthesis.
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

private:
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
