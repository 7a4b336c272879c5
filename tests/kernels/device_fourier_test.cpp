// SPDX-License-Identifier: BSD-2-Clause
// Truncated Fourier transforms on the device, by cuFFT and by matrix products of cuBLAS, compared
// to rounding with the reference backend of the host, which fourier_test.cpp compares with the
// definition.
#include "kernels/draw.hpp"
#include "kernels/fourier_cases.hpp"
#include "kernels/on_device.hpp"

#include <functional>

namespace tenon::test {
namespace {

template <class T>
struct DeviceFourier : ::testing::Test {
  static constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
  using Transform = TruncatedFourier<T>;
  using Pass = std::function<void(Transform&, const T*, T*)>;

  // The two functions from elements to coefficients, and the two from coefficients to elements.
  static std::vector<Pass> analyses(Index rows) {
    return {[=](Transform& f, const T* x, T* y) { f.analyse(rows, x, y); },
            [=](Transform& f, const T* x, T* y) { f.synthesiseAdjoint(rows, x, y); }};
  }
  static std::vector<Pass> syntheses(Index rows) {
    return {[=](Transform& f, const T* x, T* y) { f.synthesise(rows, x, y); },
            [=](Transform& f, const T* x, T* y) { f.analyseAdjoint(rows, x, y); }};
  }

  static void expectAlike(Transform& onHost, Transform& onDevice, const Pass& pass,
                          const std::vector<T>& x, Index outputs, const std::string& what) {
    std::vector<T> want(std::size_t(outputs), T(7)), got = want;
    pass(onHost, x.data(), want.data());
    DeviceCopy<T> from(*deviceContext(), x.data(), Index(x.size())),
        to(*deviceContext(), got.data(), outputs);
    pass(onDevice, from.data(), to.data());
    to.fetch(got.data());
    double largest = 1;
    for (const T value : want)
      largest = std::max(largest, std::abs(double(value)));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(double(got[i]), double(want[i]), kTolerance * largest) << what << " at " << i;
  }

  static void expectAlike(const FourierCase& c, Backend backend) {
    Draw draw(52);
    Transform onHost(std::make_shared<KernelContext>(), Backend::Reference, c.dims, c.rows),
        onDevice(deviceContext(), backend, c.dims, c.rows);
    const Index elements = c.rows * c.elements(), numbers = 2 * c.rows * c.modes();
    for (const Pass& pass : analyses(c.rows))
      expectAlike(onHost, onDevice, pass, draw.reals<T>(elements, -1, 1), numbers,
                  backendName(backend));
    for (const Pass& pass : syntheses(c.rows))
      expectAlike(onHost, onDevice, pass, draw.reals<T>(numbers, -1, 1), elements,
                  backendName(backend));
  }
};
TYPED_TEST_SUITE(DeviceFourier, RealTypes);

} // namespace

TYPED_TEST(DeviceFourier, IsThatOfTheHost) {
  for (const FourierCase& c : fourierCases())
    for (const Backend backend : {Backend::Cufft, Backend::Gemm, Backend::Auto})
      TestFixture::expectAlike(c, backend);
}

TYPED_TEST(DeviceFourier, TakesMoreLinesThanABlockHas) {
  // The lines of a block (kBlock / modes in cuda/fourier_cufft.cpp), and a few more.
  const Index lines = (Index(1) << 20) / 3 + 5;
  TestFixture::expectAlike({{{4, 0, 4, 2}}, lines}, Backend::Cufft);
}

// Aligned as pairs, which are loaded as a whole, and one number further.
TYPED_TEST(DeviceFourier, ProductsOfModesAreAdded) {
  using T = TypeParam;
  Draw draw(53);
  KernelContext& at = *deviceContext();
  const ModeProducts products{{2, 3, 5}, {5, 0, 1}, {0, 5, 1}, {3, 1}, 7};
  const auto a = draw.integers<T>(2 * 10 * 7), b = draw.integers<T>(2 * 15 * 7 + 1);
  std::vector<T> c = draw.integers<T>(2 * 6 * 7), got(c.size());
  for (const Index shift : {0, 1})
    for (const bool conjugates : {false, true}) {
      DeviceCopy<T> da(at, a.data(), Index(a.size())), db(at, b.data(), Index(b.size()));
      DeviceCopy<T> dc(at, c.data(), Index(c.size()));
      KernelContext host;
      multiplyModes(host, products, conjugates, a.data(), b.data() + shift, c.data());
      multiplyModes(at, products, conjugates, da.data(), db.data() + shift, dc.data());
      dc.fetch(got.data());
      EXPECT_EQ(got, c);
    }
}

TEST(DeviceFourierMethods, AreThoseOfTheBackend) {
  const auto methods = [](Backend backend, const std::vector<FourierDim>& dims) {
    return TruncatedFourier<float>(deviceContext(), backend, dims, 1).methods();
  };
  const std::vector<FourierDim> fewAndMany{{64, 0, 64, 32}, {256, 0, 256, 8}};
  EXPECT_EQ(methods(Backend::Cufft, fewAndMany), "cuFFT, cuFFT");
  EXPECT_EQ(methods(Backend::Gemm, fewAndMany), "matrix, matrix");
  EXPECT_EQ(methods(Backend::Cudnn, fewAndMany), "matrix, matrix");
  EXPECT_EQ(methods(Backend::Auto, fewAndMany), "cuFFT, matrix");
  EXPECT_EQ(methods(Backend::Auto, {{64, 0, 32, 4}, {256, 0, 256, 128}}), "matrix, cuFFT");
}

} // namespace tenon::test
