// SPDX-License-Identifier: BSD-2-Clause
// Versions of the vendor libraries that do the arithmetic, and advice if BLAS does not use the
// processor fully. OpenBLAS selects its kernel by the processor's name at load time and falls back
// to a very old kernel for processors newer than itself; the environment variable OPENBLAS_CORETYPE
// overrides the selection.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Version of the loaded oneDNN, such as "2.6.3", or "none" in a build without it.
std::string oneDnnVersion();

// Version of the loaded FFTW, such as "fftw-3.3.10-sse2", or "none" in a build without it.
std::string fftwVersion();

// What the BLAS library says of itself.
struct BlasInfo {
  std::string config; // the library's description of itself; "" if it has none
  std::string kernel; // such as "SkylakeX"; "" if unknown
};
BlasInfo blasInfo();

// Number of threads of a parallel region of oneDNN or BLAS; 1 without OpenMP. For Tenon's own loops
// see parallel.hpp.
int computeThreads();

// Flags of the first processor in a text in the format of /proc/cpuinfo, with a blank at both ends.
std::string processorFlags(std::string_view cpuinfo);
// Flags of this machine's processor, or " " if they are unknown.
std::string processorFlags();

// Advice for a machine on which OpenBLAS's kernel is older than the flags allow, or "" if no
// problem is known.
std::string blasAdvice(std::string_view kernel, std::string_view flags);

} // namespace tenon
