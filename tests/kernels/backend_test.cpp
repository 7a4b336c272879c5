// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/draw.hpp"

namespace tenon::test {

TEST(Backend, NamesAreReadBack) {
  for (Backend b : {Backend::Auto, Backend::Reference, Backend::Blas, Backend::OneDnn})
    EXPECT_EQ(parseBackend(backendName(b)), b);
}

TEST(Backend, UnknownNameListsTheKnownOnes) {
  expectError(errorOf([] { parseBackend("mkl"); }), TENON_ERR_TYPE,
              {"'mkl'", "'auto'", "'reference'", "'blas'", "'onednn'"});
}

TEST(Backend, AutoDependsOnTheDataType) {
  EXPECT_EQ(resolveBackend<float>(Backend::Auto), Backend::OneDnn);
  EXPECT_EQ(resolveBackend<double>(Backend::Auto), Backend::Blas);
  EXPECT_EQ(resolveBackend<float>(Backend::Blas), Backend::Blas);
  EXPECT_EQ(resolveBackend<double>(Backend::Reference), Backend::Reference);
}

TEST(Backend, OneDnnRefusesDouble) {
  expectError(errorOf([] { resolveBackend<double>(Backend::OneDnn); }), TENON_ERR_SUPPORT,
              {"'onednn'", "float64", "'blas'"});
}

} // namespace tenon::test
