// SPDX-License-Identifier: BSD-2-Clause
// Cases of truncated Fourier transforms (kernels/fourier/fourier.hpp): boxes of fields, and the
// waves exp(2 pi i k.j / N) and weights D of the definition, from which tests compute the expected
// results.
#pragma once

#include "kernels/fourier/fourier.hpp"

#include <complex>
#include <numbers>
#include <vector>

namespace tenon::test {

using Complex = std::complex<double>;

// `rows` fields, of which this rank has a box.
struct FourierCase {
  std::vector<FourierDim> dims;
  Index rows;

  Index elements() const {
    Index all = 1;
    for (const FourierDim& dim : dims)
      all *= dim.count;
    return all;
  }
  // Number of modes of a dimension: 0 ... m - 1 of the last one, which has real elements; and 0 ...
  // m - 1, followed by -m ... -1, of the others.
  Index modesOf(std::size_t d) const {
    return d + 1 == dims.size() ? dims[d].modes : 2 * dims[d].modes;
  }
  Index modes() const {
    Index all = 1;
    for (std::size_t d = 0; d < dims.size(); ++d)
      all *= modesOf(d);
    return all;
  }
  // exp(2 pi i k.j / N) of coefficient number m and cell number j of the box.
  Complex wave(Index m, Index j) const {
    double turns = 0;
    for (std::size_t d = dims.size(); d-- > 0;) {
      const Index stored = m % modesOf(d), cell = dims[d].begin + j % dims[d].count;
      const Index k = stored < dims[d].modes ? stored : dims[d].extent - modesOf(d) + stored;
      turns += double(k * cell % dims[d].extent) / double(dims[d].extent);
      m /= modesOf(d);
      j /= dims[d].count;
    }
    return std::polar(1.0, 2 * std::numbers::pi * turns);
  }
  // The weight D of coefficient number m in fourier.hpp.
  double weight(Index m) const {
    const Index k = m % dims.back().modes;
    double scale = k == 0 || 2 * k == dims.back().extent ? 1 : 2;
    for (const FourierDim& dim : dims)
      scale /= double(dim.extent);
    return scale;
  }
};

// Dimensions are {extent, begin, count, modes}. The cases are whole fields, parts of fields, odd
// extents, all modes, prime extents, more lines than a block of FFTW's stage has, and no elements.
inline std::vector<FourierCase> fourierCases() {
  return {{{{9, 0, 9, 4}}, 3},
          {{{8, 3, 4, 5}}, 2},
          {{{300, 0, 300, 151}}, 8},
          {{{1, 0, 1, 1}}, 2},
          {{{6, 0, 6, 3}, {8, 0, 8, 5}}, 2},
          {{{13, 5, 6, 6}, {10, 2, 8, 3}}, 3},
          {{{6, 0, 6, 2}, {5, 5, 0, 2}}, 2},
          {{{4, 0, 4, 2}, {6, 1, 5, 3}, {7, 0, 7, 4}}, 2},
          {{{5, 0, 5, 1}, {8, 0, 8, 4}, {6, 2, 1, 2}}, 1},
          {{{6, 0, 6, 2}, {6, 0, 6, 2}, {6, 0, 6, 2}}, 0}};
}

} // namespace tenon::test
