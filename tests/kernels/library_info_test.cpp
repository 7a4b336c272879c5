// SPDX-License-Identifier: BSD-2-Clause
// Versions of the loaded libraries, and the advice about OpenBLAS's kernel, for given names of
// kernels and given flags of processors in the format of /proc/cpuinfo.
#include "kernels/base/library_info.hpp"

#include "kernels/base/backend.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr const char* kAvx512 = " sse avx avx2 fma avx512f avx512bw avx512dq avx512vl avx512cd ";
constexpr const char* kAvx2 = " sse avx avx2 fma ";

TEST(BlasAdvice, NamesTheKernelThatTheProcessorAllows) {
  const std::string advice = blasAdvice("Prescott", kAvx512);
  EXPECT_NE(advice.find("Prescott"), std::string::npos);
  EXPECT_NE(advice.find("OPENBLAS_CORETYPE=SkylakeX"), std::string::npos);
  EXPECT_NE(blasAdvice("Nehalem", kAvx2).find("OPENBLAS_CORETYPE=Haswell"), std::string::npos);
  EXPECT_NE(blasAdvice("Zen", kAvx512).find("OPENBLAS_CORETYPE=SkylakeX"), std::string::npos);
}

TEST(BlasAdvice, IsSilentWhereNothingIsKnownToBeWrong) {
  EXPECT_EQ(blasAdvice("SkylakeX", kAvx512), "");
  EXPECT_EQ(blasAdvice("Cooperlake", kAvx512), "");
  EXPECT_EQ(blasAdvice("Haswell", kAvx2), "");
  EXPECT_EQ(blasAdvice("Prescott", " sse "), "");
  EXPECT_EQ(blasAdvice("", kAvx512), "");                     // no OpenBLAS
  EXPECT_EQ(blasAdvice("Zen9", kAvx512), "");                 // a kernel that is not in the list
  EXPECT_EQ(blasAdvice("Haswell", " avx512f avx2 fma "), ""); // only a part of AVX-512
}

TEST(ProcessorFlags, AreThoseOfTheFirstProcessor) {
  EXPECT_EQ(processorFlags("processor : 0\nflags\t\t: a b\n\nprocessor : 1\nflags : c\n"),
            "  a b ");
  EXPECT_EQ(processorFlags("no such line\n"), " ");
}

TEST(Libraries, SayWhichTheyAre) {
  if (hasOneDnn())
    EXPECT_NE(oneDnnVersion().find('.'), std::string::npos);
  else
    EXPECT_EQ(oneDnnVersion(), "none");
  EXPECT_GE(computeThreads(), 1);
}

} // namespace
} // namespace tenon
