// SPDX-License-Identifier: BSD-2-Clause
// Which vendors' libraries do the arithmetic, and whether BLAS uses what the processor can do.
// OpenBLAS picks its kernel by the processor's name at load time and falls back to a very old one
// for a processor that is younger than itself; OPENBLAS_CORETYPE in the environment overrules it.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// "2.6.3", of the library that is loaded; "none" in a build without it.
std::string oneDnnVersion();

// "fftw-3.3.10-sse2", of the library that is loaded; "none" in a build without it.
std::string fftwVersion();

struct BlasInfo {
  std::string config; // what the library says of itself; "" if it says nothing
  std::string kernel; // "SkylakeX"; "" if unknown
};
BlasInfo blasInfo();

// Threads that a parallel region of oneDNN or BLAS would get, 1 without OpenMP. The library's own are
// in parallel.hpp.
int computeThreads();

// The flags of the first processor in a text of /proc/cpuinfo's form, with a blank at both ends.
std::string processorFlags(std::string_view cpuinfo);
// The same of this machine; " " where it is not known.
std::string processorFlags();

// What to set where OpenBLAS's kernel is below what the flags allow; "" where nothing is known to
// be wrong.
std::string blasAdvice(std::string_view kernel, std::string_view flags);

} // namespace tenon
