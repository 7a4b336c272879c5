// SPDX-License-Identifier: BSD-2-Clause
// Basis functions of filters on the sphere, for discrete-continuous convolutions (Ocampo, Price and
// McEwen 2023). A function depends on the distance r from the centre of the filter, an angle up to
// the cutoff, and on the direction phi of a point: 0 to the south, pi / 2 to the east.
// Beyond the cutoff it is 0. The functions are those of torch-harmonics 0.9.3:
//
//   Linear         hats in r, at `radial` rings, times hats in phi at `angular` sectors
//   Harmonic       Hann's window in r times sines and cosines along both axes
//   Morlet         the same without a normalisation in L2
//   Zernike        Zernike's polynomials of degrees below `radial`
//   FourierBessel  J_m(a r) cos(m phi) and sin(m phi) with zeros at the cutoff
//
// All but Linear and Morlet are normalised in L2 on the disk of radius 1, the cutoff.
#pragma once

#include "sys/types.hpp"

#include <string_view>
#include <vector>

namespace tenon {

enum class FilterBasisKind { Linear, Harmonic, Morlet, Zernike, FourierBessel };

// The kind with this name: "linear", "harmonic", "morlet", "zernike" or "fourierbessel".
FilterBasisKind filterBasisNamed(std::string_view name);

// The number of basis functions, which is all that layouts and shapes need to know. Zernike's
// polynomials have no second number.
Index filterBasisSize(FilterBasisKind kind, Index radial, Index angular);

// The basis for one cutoff.
class FilterBasis {
public:
  FilterBasis(FilterBasisKind kind, Index radial, Index angular, double cutoff);

  Index size() const noexcept { return static_cast<Index>(functions_.size()); }
  // Whether a function does not depend on the direction.
  bool isIsotropic(Index function) const { return functions_[function].isIsotropic; }
  // Whether the point at distance r <= cutoff is in the support of a function, and then its value.
  bool evaluate(Index function, double r, double phi, double* value) const;

private:
  struct Function {
    Index radial = 0, angular = 0; // numbers of the ring and sector, or of frequencies
    bool isIsotropic = false, isSine = false;
    double zero = 0, factor = 1; // of Bessel functions; normalisation in L2
  };
  void listLinear();
  void listHarmonic();
  void listZernike();
  void listFourierBessel();
  bool linear(const Function& f, double r, double phi, double* value) const;
  static double harmonic(const Function& f, double r, double phi);
  static double zernike(const Function& f, double r, double phi);

  FilterBasisKind kind_;
  Index radial_, angular_;
  double cutoff_;
  std::vector<Function> functions_;
};

} // namespace tenon
