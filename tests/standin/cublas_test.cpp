// SPDX-License-Identifier: BSD-2-Clause
// Tests the fake cuBLAS of the stand-in for CUDA: products are compared with the definition,
// computed here on the host, for matrices stored by columns; and wrong calls give cuBLAS's error
// codes or end the program. The tests DeviceHandles.* check what Tenon's options set on cuBLAS's
// handles.
#include "kernels/cuda/handles.hpp"
#include "kernels/draw.hpp"
#include "kernels/on_device.hpp"
#include "kernels/products/gemm.hpp"
#include "standin/failures.hpp"
#include "standin/refused.hpp"
#include "sys/bfloat16.hpp"
#include "sys/options/options.hpp"

#include <cmath>

namespace tenon::test {
namespace {

constexpr Index kM = 3, kN = 4, kK = 5, kLda = 6, kLdb = 7, kLdc = 5;

// Integer matrices A, B and C on the host and the device: C = 2 op(A) op(B) - C.
struct Matrices {
  Draw draw{51};
  std::vector<double> a = draw.integers<double>(kLda * 5), b = draw.integers<double>(kLdb * 5),
                      c = draw.integers<double>(kLdc * kN);
  KernelContext& at = *deviceContext();
  DeviceCopy<double> da{at, a.data(), Index(a.size())}, db{at, b.data(), Index(b.size())},
      dc{at, c.data(), Index(c.size())};

  cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t transA, cublasOperation_t transB,
                          const double* first, Index ldc = kLdc, Index k = kK) {
    const double alpha = 2, beta = -1;
    return cuda::blas().cublasDgemm_v2_64(handle, transA, transB, kM, kN, k, &alpha, first, kLda,
                                          db.data(), kLdb, &beta, dc.data(), ldc);
  }
};

} // namespace

TEST(StandinCublas, ProductsAreThoseOfTheDefinition) {
  for (cublasOperation_t transA : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (cublasOperation_t transB : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      Matrices m;
      ASSERT_EQ(m.multiply(cuda::handlesOf(m.at).blas(), transA, transB, m.da.data()),
                CUBLAS_STATUS_SUCCESS);
      std::vector<double> result(m.c.size());
      m.dc.fetch(result.data());
      for (Index i = 0; i < kM; ++i)
        for (Index j = 0; j < kN; ++j) {
          double sum = -m.c[j * kLdc + i];
          for (Index l = 0; l < kK; ++l)
            sum += 2 * (transA == CUBLAS_OP_N ? m.a[l * kLda + i] : m.a[i * kLda + l]) *
                   (transB == CUBLAS_OP_N ? m.b[j * kLdb + l] : m.b[l * kLdb + j]);
          EXPECT_EQ(result[j * kLdc + i], sum);
          m.c[j * kLdc + i] = sum;
        }
      EXPECT_EQ(result, m.c) << "cells between the columns";
    }
}

TEST(StandinCublas, ImpossibleDistanceIsAnError) {
  Matrices m;
  EXPECT_EQ(m.multiply(cuda::handlesOf(m.at).blas(), CUBLAS_OP_N, CUBLAS_OP_N, m.da.data(), kM - 1),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST(StandinCublas, DefaultStreamIsRefused) {
  Matrices m;
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cuda::blas().cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EXIT(m.multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m.da.data()), refusedByStandin,
              "default stream");
  cuda::blas().cublasDestroy_v2(handle);
}

TEST(StandinCublas, ShortMatrixAndMatrixOfTheHostAreRefused) {
  Matrices m;
  const cublasHandle_t handle = cuda::handlesOf(m.at).blas();
  EXPECT_EXIT(m.multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m.da.data(), kLdc, kK + 1),
              refusedByStandin, "matrix of cuBLAS");
  EXPECT_EXIT(m.multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m.a.data()), refusedByStandin,
              "matrix of cuBLAS");
}

TEST(DeviceHandles, TellCublasWhatTheOptionsAllow) {
  KernelContext& at = *deviceContext();
  const auto modeOf = [&](const char* allowed) {
    options().set("-tenon_device_tf32", allowed);
    DeviceHandles handles(at.stream(), at.memory());
    cublasMath_t mode{};
    EXPECT_EQ(cublasGetMathMode(handles.blas(), &mode), CUBLAS_STATUS_SUCCESS);
    return mode;
  };
  EXPECT_EQ(modeOf("true"), CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(modeOf("false"), CUBLAS_DEFAULT_MATH);
}

// With -tenon_device_bfloat16 both factors are rounded to bfloat16 and the rest is float32, so the
// product is the same as that of factors that were rounded before.
TEST(DeviceHandles, RoundFactorsToBFloat16WhereTheOptionSaysSo) {
  constexpr Index kExtent = 9;
  Draw draw(5);
  cuda::handlesOf(*deviceContext()).blas(); // a handle made before the option is set does not round
  options().set("-tenon_device_bfloat16", "true");
  KernelContext at(Space::Device);
  const auto product = [&](const std::vector<float>& a, const std::vector<float>& b,
                           KernelContext& context, bool isBatch) {
    const std::vector<float> none(kExtent * kExtent, 0);
    DeviceCopy<float> da(context, a.data(), Index(a.size())),
        db(context, b.data(), Index(b.size())), dc(context, none.data(), Index(none.size()));
    if (isBatch)
      gemmBatch<float>(context, Backend::Auto, kExtent, {kExtent, 0, kExtent}, false, false, 1,
                       kExtent, kExtent, 1, da.data(), kExtent, db.data(), kExtent, 0, dc.data(),
                       kExtent);
    else
      gemm<float>(context, Backend::Auto, false, false, kExtent, kExtent, kExtent, 1, da.data(),
                  kExtent, db.data(), kExtent, 0, dc.data(), kExtent);
    std::vector<float> c(none.size());
    dc.fetch(c.data());
    return c;
  };
  const auto rounded = [](std::vector<float> values) {
    for (float& value : values)
      value = valueOf(toBFloat16(value));
    return values;
  };
  const auto a = draw.reals<float>(kExtent * kExtent, -1, 1),
             b = draw.reals<float>(kExtent * kExtent, -1, 1);
  for (bool isBatch : {false, true}) {
    const auto whole = product(a, b, *deviceContext(), isBatch), less = product(a, b, at, isBatch);
    EXPECT_EQ(less, product(rounded(a), rounded(b), *deviceContext(), isBatch));
    EXPECT_NE(less, whole);
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(less[i], whole[i], kExtent * std::ldexp(1.0, -7));
  }
  options().set("-tenon_device_bfloat16", "false");
}

TEST(DeviceHandles, AreMadeWhollyOrNotAtAll) {
  KernelContext& at = *deviceContext();
  DeviceHandles handles(at.stream(), at.memory());
  cublasMath_t mode{};
  options().set("-tenon_device_tf32", "true");
  tenonStandinFail("cublasSetWorkspace");
  EXPECT_THROW(handles.blas(), Error);
  EXPECT_EQ(cublasGetMathMode(handles.blas(), &mode), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUBLAS_TF32_TENSOR_OP_MATH);
  options().set("-tenon_device_tf32", "false");
}

TEST(StandinCublas, WorkspaceIsTakenAwayByANewStream) {
  Matrices m;
  const cuda::BlasTable& library = cuda::blas();
  Buffer workspace(1024, "a test's workspace", m.at.memory());
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(library.cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
  const auto stream = static_cast<cudaStream_t>(m.at.stream().handle());
  workspace.setZero();
  ASSERT_EQ(library.cublasSetWorkspace_v2(handle, workspace.data<void>(), 1024),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(library.cublasSetStream_v2(handle, stream), CUBLAS_STATUS_SUCCESS);
  const auto firstOfWorkspace = [&] {
    double first = 7;
    m.at.copyAndWait(&first, workspace.data<void>(), sizeof first);
    return first;
  };
  m.multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m.da.data());
  EXPECT_EQ(firstOfWorkspace(), 0.0);
  ASSERT_EQ(library.cublasSetWorkspace_v2(handle, workspace.data<void>(), 1024),
            CUBLAS_STATUS_SUCCESS);
  m.multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, m.da.data());
  const double lost = firstOfWorkspace();
  EXPECT_NE(lost, lost) << "what was in the workspace is lost";
  library.cublasDestroy_v2(handle);
}

} // namespace tenon::test
