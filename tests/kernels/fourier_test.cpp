// SPDX-License-Identifier: BSD-2-Clause
// Truncated Fourier transforms of boxes on the host, by matrices and by FFTW, compared with sums
// over exp(2 pi i k.j / N) in double; their adjoints by dot products; bits for any number of
// threads; and the choice of the method for each dimension.
#include "kernels/expect_near_largest.hpp"
#include "kernels/fourier_cases.hpp"
#include "kernels/host_context.hpp"
#include "kernels/thread_count.hpp"

namespace tenon::test {
namespace {

// The backends that this build has.
std::vector<Backend> fourierBackends() {
  std::vector<Backend> all{Backend::Reference, Backend::Auto};
  if (hasFftw())
    all.push_back(Backend::Fftw);
  return all;
}

template <class T>
struct Fourier : ::testing::Test {
  static constexpr double kTolerance = sizeof(T) == 4 ? 3e-6 : 3e-14;

  static void expectClose(const std::vector<T>& got, const std::vector<double>& want,
                          const std::string& what) {
    expectNearLargest(got, want, kTolerance, what);
  }
};
TYPED_TEST_SUITE(Fourier, RealTypes);

std::string nameOf(const FourierCase& c, Backend backend) {
  std::string text = backendName(backend);
  for (const FourierDim& dim : c.dims)
    text += " [" + std::to_string(dim.extent) + ": " + std::to_string(dim.begin) + " + " +
            std::to_string(dim.count) + ", " + std::to_string(dim.modes) + "]";
  return text;
}

TYPED_TEST(Fourier, EqualsTheDefinition) {
  using T = TypeParam;
  Draw draw(41);
  for (const FourierCase& c : fourierCases()) {
    const Index elements = c.elements(), modes = c.modes();
    const auto x = draw.reals<T>(c.rows * elements, -1, 1),
               X = draw.reals<T>(2 * c.rows * modes, -1, 1);
    std::vector<double> analysed(X.size(), 0), synthesised(x.size(), 0);
    for (Index r = 0; r < c.rows; ++r)
      for (Index m = 0; m < modes; ++m) {
        const std::size_t at = std::size_t(2 * (r * modes + m));
        for (Index j = 0; j < elements; ++j) {
          const Complex wave = c.wave(m, j);
          const std::size_t cell = std::size_t(r * elements + j);
          analysed[at] += wave.real() * double(x[cell]);
          analysed[at + 1] -= wave.imag() * double(x[cell]);
          synthesised[cell] += c.weight(m) * (wave * Complex(X[at], X[at + 1])).real();
        }
      }
    for (const Backend backend : fourierBackends()) {
      TruncatedFourier<T> fourier(std::make_shared<KernelContext>(), backend, c.dims, c.rows);
      std::vector<T> gotX(X.size(), T(7)), gotx(x.size(), T(7));
      fourier.analyse(c.rows, x.data(), gotX.data());
      this->expectClose(gotX, analysed, "analysis, " + nameOf(c, backend));
      fourier.synthesise(c.rows, X.data(), gotx.data());
      this->expectClose(gotx, synthesised, "synthesis, " + nameOf(c, backend));
    }
  }
}

TYPED_TEST(Fourier, HasItsAdjoints) {
  using T = TypeParam;
  Draw draw(42);
  for (const FourierCase& c : fourierCases())
    for (const Backend backend : fourierBackends()) {
      TruncatedFourier<T> fourier(std::make_shared<KernelContext>(), backend, c.dims, c.rows);
      const auto x = draw.reals<T>(c.rows * c.elements(), -1, 1),
                 X = draw.reals<T>(2 * c.rows * c.modes(), -1, 1);
      std::vector<T> Ax(X.size()), AX(x.size()), Sx(X.size()), SX(x.size());
      fourier.analyse(c.rows, x.data(), Ax.data());
      fourier.analyseAdjoint(c.rows, X.data(), AX.data());
      fourier.synthesise(c.rows, X.data(), SX.data());
      fourier.synthesiseAdjoint(c.rows, x.data(), Sx.data());
      const double scale = this->kTolerance * double(X.size() + x.size() + 1);
      EXPECT_NEAR(exactDot(Ax, X), exactDot(x, AX), scale) << "analysis, " << nameOf(c, backend);
      EXPECT_NEAR(exactDot(SX, x), exactDot(X, Sx), scale) << "synthesis, " << nameOf(c, backend);
    }
}

TYPED_TEST(Fourier, GivesTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  const FourierCase c{{{40, 0, 40, 9}, {48, 3, 40, 20}}, 13};
  const auto x = Draw(43).reals<T>(c.rows * c.elements(), -1, 1);
  for (const Backend backend : fourierBackends()) // BLAS divides sums by threads
    if (backend != Backend::Auto)
      expectSameForAllThreads(nameOf(c, backend), [&] {
        TruncatedFourier<T> fourier(std::make_shared<KernelContext>(), backend, c.dims, c.rows);
        std::vector<T> X(std::size_t(2 * c.rows * c.modes())), y(x.size());
        fourier.analyse(c.rows, x.data(), X.data());
        fourier.synthesise(c.rows, X.data(), y.data());
        append(y, X);
        return y;
      });
}

// The work of a product with a matrix grows with the number of modes, that of a fast transform
// hardly does. Auto therefore takes a matrix for few modes, or for a single element; backend blas
// always, and fftw never.
TEST(FourierMethods, AreThoseOfTheBackend) {
  const std::vector<FourierDim> few{{97, 0, 97, 4}, {97, 0, 97, 4}};
  const auto methods = [](Backend backend, const std::vector<FourierDim>& dims) {
    return TruncatedFourier<double>(std::make_shared<KernelContext>(), backend, dims, 1).methods();
  };
  EXPECT_EQ(methods(Backend::Blas, {{64, 0, 64, 32}}), "matrix");
  EXPECT_EQ(methods(Backend::Auto, few), "matrix, matrix");
  if (!hasFftw()) {
    expectError(errorOf([&] { methods(Backend::Fftw, few); }), TENON_ERR_SUPPORT,
                {"'fftw'", "'blas'", "TENON_FFTW"});
    GTEST_SKIP() << "this build has no FFTW";
  }
  EXPECT_EQ(methods(Backend::Fftw, few), "FFTW, FFTW");
  EXPECT_EQ(methods(Backend::Auto, {{1, 0, 1, 1}, {4096, 0, 4096, 2049}}), "matrix, FFTW");
  EXPECT_EQ(methods(Backend::Auto, {{64, 0, 64, 16}, {64, 0, 64, 4}}), "FFTW, matrix");
}

} // namespace
} // namespace tenon::test
