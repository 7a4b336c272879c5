// SPDX-License-Identifier: BSD-2-Clause
// The transform of one dimension by the matrix of its kept modes, beside FFTW: where `auto` changes from the one to the
// other (src/kernels/fourier.cpp). Processor time of one thread; analysis and its adjoint.
//
//   OMP_NUM_THREADS=1 tests/bench/spectral
#include "bench/race.hpp"
#include "bench/turns.hpp"
#include "kernels/fourier.hpp"

#include <fmt/format.h>

namespace tenon::bench {
namespace {

template <class T>
void measure(Index extent, Index modes, bool isReal) {
  // The second dimension is tiny where the first is to be measured: its pairs are what lies behind.
  const std::vector<FourierDim> real{{extent, 0, extent, modes}},
      both{{extent, 0, extent, modes}, {16, 0, 16, 8}};
  const std::vector<FourierDim>& dims = isReal ? real : both;
  const Index rows = std::max<Index>(1, (Index(1) << 17) / (extent * (isReal ? 1 : 16)));
  const auto make = [&](Backend backend) {
    return std::make_unique<TruncatedFourier<T>>(std::make_shared<KernelContext>(), backend, dims,
                                                 rows);
  };
  const auto matrix = make(Backend::Blas), fast = make(Backend::Fftw), chosen = make(Backend::Auto);
  std::vector<T> x(static_cast<std::size_t>(rows * extent * (isReal ? 1 : 16)), T(1)),
      X(static_cast<std::size_t>(2 * rows * modes * (isReal ? 1 : 16)));
  const auto both_ = [&](TruncatedFourier<T>& f) {
    f.analyse(rows, x.data(), X.data());
    f.analyseAdjoint(rows, X.data(), x.data());
    std::fill(x.begin(), x.end(), T(1));
  };
  std::vector<Method> methods{{"matrix", [&] { both_(*matrix); }, 4, {}},
                              {"FFTW", [&] { both_(*fast); }, 4, {}}};
  takeTurns(methods);
  const double a = quantile(methods[0].seconds, 0.5), b = quantile(methods[1].seconds, 0.5);
  fmt::print("{:<8} {:<8} {:>6} {:>6} {:>10.1f} {:>10.1f} {:>7.2f}  {}\n",
             sizeof(T) == 4 ? "float32" : "float64", isReal ? "last" : "first", extent, modes,
             1e6 * a, 1e6 * b, a / b, chosen->methods());
}

template <class T>
void run() {
  for (const bool isReal : {true, false})
    for (const Index extent : {16, 64, 128, 256, 1024})
      for (const Index part : {32, 16, 8, 4, 2})
        if (extent / part >= 2)
          measure<T>(extent, extent / part, isReal);
}

} // namespace
} // namespace tenon::bench

int main() {
  if (!tenon::hasFftw()) {
    fmt::print("this build has no FFTW: nothing to compare with\n");
    return 0;
  }
  fmt::print("{:<8} {:<8} {:>6} {:>6} {:>10} {:>10} {:>7}  {}\n", "type", "dim", "extent", "modes",
             "matrix us", "FFTW us", "ratio", "auto");
  tenon::bench::run<float>();
  tenon::bench::run<double>();
}
