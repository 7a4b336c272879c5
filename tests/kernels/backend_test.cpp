// SPDX-License-Identifier: BSD-2-Clause
// Names of the backends, and resolveBackend(), which replaces the requested backend by one that can
// compute a kernel: for each data type, memory space and build, or the error with its advice.
#include "kernels/draw.hpp"

namespace tenon::test {

TEST(Backend, NamesAreReadBack) {
  for (Backend b : {Backend::Auto, Backend::Reference, Backend::Blas, Backend::OneDnn,
                    Backend::Direct, Backend::Fftw, Backend::Cudnn, Backend::Cufft, Backend::Gemm})
    EXPECT_EQ(parseBackend(backendName(b)), b);
}

TEST(Backend, UnknownNameListsTheKnownOnes) {
  expectError(errorOf([] { parseBackend("mkl"); }), TENON_ERR_TYPE,
              {"'mkl'", "'auto'", "'reference'", "'blas'", "'onednn'", "'direct'", "'fftw'",
               "'cudnn'", "'cufft'", "'gemm'"});
}

TEST(Backend, AutoDependsOnTheDataType) {
  EXPECT_EQ(resolveBackend<float>(Backend::Auto), hasOneDnn() ? Backend::OneDnn : Backend::Blas);
  EXPECT_EQ(resolveBackend<double>(Backend::Auto), Backend::Blas);
  EXPECT_EQ(resolveBackend<float>(Backend::Blas), Backend::Blas);
  EXPECT_EQ(resolveBackend<double>(Backend::Reference), Backend::Reference);
}

// The backend `direct` exists for convolutions only.
TEST(Backend, DirectIsBlasForOtherKernels) {
  EXPECT_EQ(resolveBackend<float>(Backend::Direct), Backend::Blas);
  EXPECT_EQ(resolveBackend<double>(Backend::Direct), Backend::Blas);
}

TEST(Backend, OnTheDeviceAllIsGemmButConvolutions) {
  for (Backend backend : {Backend::Auto, Backend::Cudnn, Backend::Cufft, Backend::Gemm}) {
    EXPECT_EQ(resolveBackend<float>(backend, Space::Device), Backend::Gemm);
    EXPECT_EQ(resolveBackend<double>(backend, Space::Device), Backend::Gemm);
  }
}

TEST(Backend, IsOfOneSpace) {
  for (Backend backend : {Backend::Cudnn, Backend::Cufft, Backend::Gemm})
    expectError(errorOf([&] { resolveBackend<double>(backend, Space::Host); }), TENON_ERR_SUPPORT,
                {backendName(backend), "computes on the device", "'blas'", "space device"});
  for (Backend backend : {Backend::Reference, Backend::Blas, Backend::OneDnn, Backend::Direct})
    expectError(errorOf([&] { resolveBackend<float>(backend, Space::Device); }), TENON_ERR_SUPPORT,
                {backendName(backend), "computes on the host", "'gemm'", "space host"});
}

TEST(Backend, OneDnnRefusesDouble) {
  expectError(errorOf([] { resolveBackend<double>(Backend::OneDnn); }), TENON_ERR_SUPPORT,
              {"'onednn'", "float64", "'blas'"});
}

TEST(Backend, OneDnnIsRefusedWhereTheBuildHasNone) {
  if (hasOneDnn()) {
    EXPECT_EQ(resolveBackend<float>(Backend::OneDnn), Backend::OneDnn);
    return;
  }
  expectError(errorOf([] { resolveBackend<float>(Backend::OneDnn); }), TENON_ERR_SUPPORT,
              {"'onednn'", "'auto'", "TENON_ONEDNN"});
}

} // namespace tenon::test
