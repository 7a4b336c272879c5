// SPDX-License-Identifier: BSD-2-Clause
// The basis functions of filter_basis.hpp. Their order and normalisation are those of
// torch-harmonics, whose weights then mean the same: hats by ring and sector, the innermost first;
// harmonics by both frequencies, whose norms are sums over 50 x 200 points of the disk; Zernike's
// polynomials by degree; Bessel functions by their zeros, cosines before sines.
#include "kernels/sphere/filter_basis.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <math.h> // jn(), which is POSIX's and not in namespace std
#include <numbers>
#include <optional>
#include <utility>

namespace tenon {

namespace {

constexpr double kPi = std::numbers::pi;

// The distance of two directions, of which one is in [0, 2 pi) and the other in [-pi, pi).
double directionDistance(double a, double b) {
  const double distance = std::abs(a - b);
  return std::min(distance, std::abs(2 * kPi - distance));
}

// The first positive zeros of the Bessel function J_m. Neighbouring zeros are more than 3 apart,
// but the first one of J_0 is at 2.4.
std::vector<double> besselZeros(Index m, Index count) {
  constexpr double kStep = 0.25;
  const int order = static_cast<int>(m);
  std::vector<double> zeros;
  double low = m == 0 ? kStep : double(m); // J_m is positive on (0, m]
  while (static_cast<Index>(zeros.size()) < count) {
    double high = low + kStep;
    if (jn(order, low) * jn(order, high) <= 0) {
      // Bisection; after 60 steps the interval of 0.25 is shorter than a rounding error.
      double a = low, b = high;
      for (int step = 0; step < 60; ++step) {
        const double middle = (a + b) / 2;
        (jn(order, low) * jn(order, middle) > 0 ? a : b) = middle;
      }
      zeros.push_back((a + b) / 2);
    }
    low = high;
  }
  return zeros;
}

// Zernike's radial polynomial R_n^m, 0 <= m <= n, n - m even: (-1)^k r^m P_k(1 - 2 r^2), where P_k
// is the Jacobi polynomial P_k^(m,0) and k = (n - m) / 2. The recurrence (DLMF 18.9.2) keeps the
// digits that the sum of powers of r, with signs in turn, loses from degree 15 on.
double zernikeRadial(Index n, Index m, double r) {
  const double x = 1 - 2 * r * r, a = double(m);
  double before = 0, polynomial = 1;
  for (Index i = 1; i <= (n - m) / 2; ++i) {
    const double k = double(i), c = 2 * k + a;
    const double next = i == 1 ? a + 1 + (a + 2) * (x - 1) / 2
                               : ((c - 1) * (c * (c - 2) * x + a * a) * polynomial -
                                  2 * (k + a - 1) * (k - 1) * c * before) /
                                     (2 * k * (k + a) * (c - 2));
    before = std::exchange(polynomial, next);
  }
  return ((n - m) / 2 % 2 == 0 ? 1 : -1) * std::pow(r, a) * polynomial;
}

} // namespace

FilterBasisKind filterBasisNamed(std::string_view name) {
  if (name == "linear")
    return FilterBasisKind::Linear;
  if (name == "harmonic")
    return FilterBasisKind::Harmonic;
  if (name == "morlet")
    return FilterBasisKind::Morlet;
  if (name == "zernike")
    return FilterBasisKind::Zernike;
  if (name == "fourierbessel")
    return FilterBasisKind::FourierBessel;
  throw Error(TENON_ERR_ARG,
              fmt::format("the basis of filters '{}' is unknown; use 'linear', 'harmonic', "
                          "'morlet', 'zernike' or 'fourierbessel'",
                          name));
}

Index filterBasisSize(FilterBasisKind kind, Index radial, Index angular) {
  switch (kind) {
  case FilterBasisKind::Linear:
    return radial / 2 * angular + radial % 2;
  case FilterBasisKind::Harmonic:
  case FilterBasisKind::Morlet:
    return radial * angular;
  case FilterBasisKind::Zernike:
    return radial * (radial + 1) / 2;
  case FilterBasisKind::FourierBessel:
    break;
  }
  return FilterBasis(kind, radial, angular, 1).size();
}

FilterBasis::FilterBasis(FilterBasisKind kind, Index radial, Index angular, double cutoff)
    : kind_(kind), radial_(radial), angular_(angular), cutoff_(cutoff) {
  if (kind == FilterBasisKind::Linear)
    listLinear();
  else if (kind == FilterBasisKind::Harmonic || kind == FilterBasisKind::Morlet)
    listHarmonic();
  else if (kind == FilterBasisKind::Zernike)
    listZernike();
  else
    listFourierBessel();
}

// With an odd number of rings the first one is the centre, which has one function; with an even
// number rings are at half steps. `radial` is twice the distance of a ring in steps: 0, 2, 4 for 5
// rings (the centre, and two on each side of it), and 1, 3 for 4.
void FilterBasis::listLinear() {
  const bool hasCentre = radial_ % 2 == 1;
  if (hasCentre)
    functions_.push_back({.isIsotropic = true});
  for (Index ring = 0; ring < radial_ / 2; ++ring)
    for (Index sector = 0; sector < angular_; ++sector)
      functions_.push_back({.radial = 2 * ring + (hasCentre ? 2 : 1),
                            .angular = sector,
                            .isIsotropic = angular_ == 1});
}

// `radial` is the frequency number along the axis to the south, `angular` to the east.
void FilterBasis::listHarmonic() {
  for (Index m = 0; m < radial_; ++m)
    for (Index n = 0; n < angular_; ++n)
      functions_.push_back({.radial = m, .angular = n, .isIsotropic = m == 0 && n == 0});
  if (kind_ == FilterBasisKind::Morlet)
    return;
  constexpr int kRadii = 50, kDirections = 200;
  for (Function& f : functions_) {
    double square = 0;
    for (int i = 0; i < kRadii; ++i)
      for (int j = 0; j < kDirections; ++j) {
        const double r = (i + 0.5) / kRadii, value = harmonic(f, r, 2 * kPi * j / kDirections);
        square += value * value * r * (1. / kRadii) * (2 * kPi / kDirections);
      }
    f.factor = 1 / std::max(std::sqrt(square), 1e-12);
  }
}

// `radial` is the degree n, `angular` a number l with m = 2 l - n. The factor makes the norm over
// the disk of radius 1 equal to 1.
void FilterBasis::listZernike() {
  for (Index n = 0; n < radial_; ++n)
    for (Index l = 0; l <= n; ++l)
      functions_.push_back(
          {.radial = n,
           .angular = l,
           .isIsotropic = 2 * l == n,
           .factor = 1 / std::sqrt(kPi * (2 * l == n ? 2 : 1) / (2 * double(n + 1)))});
}

// All zeros up to the last one of J_0 that `radial` asks for.
void FilterBasis::listFourierBessel() {
  const double last = besselZeros(0, radial_).back();
  for (Index m = 0; m <= angular_; ++m)
    for (const double zero : besselZeros(m, radial_)) {
      if (zero > last)
        break;
      // Over the disk of radius 1: the integral of r J_m(zero r)^2 is J_(m+1)(zero)^2 / 2, and that
      // of cos^2 or sin^2 over directions is pi (2 pi for m = 0).
      const double norm = std::abs(jn(static_cast<int>(m) + 1, zero)) / std::numbers::sqrt2 *
                          std::sqrt(m == 0 ? 2 * kPi : kPi);
      Function f{
          .angular = m, .isIsotropic = m == 0, .zero = zero, .factor = 1 / std::max(norm, 1e-12)};
      functions_.push_back(f);
      f.isSine = true;
      if (m > 0)
        functions_.push_back(f);
    }
  std::ranges::stable_sort(functions_, {}, &Function::zero);
}

bool FilterBasis::evaluate(Index function, double r, double phi, double* value) const {
  const Function& f = functions_[function];
  if (r > cutoff_)
    return false;
  switch (kind_) {
  case FilterBasisKind::Linear:
    return linear(f, r, phi, value);
  case FilterBasisKind::Harmonic:
  case FilterBasisKind::Morlet:
    *value = f.factor * harmonic(f, r / cutoff_, phi);
    break;
  case FilterBasisKind::Zernike:
    *value = f.factor * zernike(f, r / cutoff_, phi);
    break;
  case FilterBasisKind::FourierBessel: {
    const double angle = double(f.angular) * phi;
    *value = f.factor * jn(static_cast<int>(f.angular), f.zero * r / cutoff_) *
             (f.isSine ? std::sin(angle) : std::cos(angle));
    break;
  }
  }
  return true;
}

// Hats of width `step` at the ring; the innermost ring of an even number of rings reaches beyond
// the centre, to points in the opposite direction.
bool FilterBasis::linear(const Function& f, double r, double phi, double* value) const {
  const double step = 2 * cutoff_ / double(radial_ + 1), ring = double(f.radial) * step / 2,
               width = 2 * kPi / double(angular_), centre = double(f.angular) * width - kPi;
  const bool hasSectors = angular_ > 1 && f.radial > 0;
  const auto hat = [&](double at, double direction) {
    const double across = hasSectors ? directionDistance(direction, centre) : 0;
    return std::abs(at - ring) <= step && across <= width
               ? std::optional((1 - std::abs(at - ring) / step) * (1 - across / width))
               : std::nullopt;
  };
  const auto near = hat(r, phi);
  const bool reachesBeyond = hasSectors && radial_ % 2 == 0;
  const auto beyond = reachesBeyond ? hat(-r, phi - kPi) : std::nullopt;
  *value = near.value_or(0) + beyond.value_or(0);
  return near || beyond;
}

// Numbers of frequencies 0, 1, 2, 3, 4 are those of 1, sin(pi x), cos(pi x), sin(2 pi x), ...
double FilterBasis::harmonic(const Function& f, double r, double phi) {
  const auto wave = [](Index number, double x) {
    const double angle = double((number + 1) / 2) * kPi * x;
    return number % 2 == 1 ? std::sin(angle) : std::cos(angle);
  };
  const double window = std::cos(kPi * r / 2);
  return window * window * wave(f.angular, r * std::sin(phi)) * wave(f.radial, r * std::cos(phi));
}

double FilterBasis::zernike(const Function& f, double r, double phi) {
  const Index m = 2 * f.angular - f.radial;
  const double angle = double(m) * phi;
  return zernikeRadial(f.radial, std::abs(m), r) * (m < 0 ? std::sin(angle) : std::cos(angle));
}

} // namespace tenon
