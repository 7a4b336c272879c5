// SPDX-License-Identifier: BSD-2-Clause
// The vendors' libraries that do the arithmetic, and whether BLAS uses what the processor can do.
// OpenBLAS picks its kernel by the processor's name at load time and falls back to a very old one
// for a processor that is younger than itself; OPENBLAS_CORETYPE in the environment overrules it.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// The version of the loaded oneDNN, such as "2.6.3"; "none" in a build without it.
std::string oneDnnVersion();

// The version of the loaded FFTW, such as "fftw-3.3.10-sse2"; "none" in a build without it.
std::string fftwVersion();

struct BlasInfo {
  std::string config; // what the library says of itself; "" if it says nothing
  std::string kernel; // "SkylakeX"; "" if unknown
};
BlasInfo blasInfo();

// The number of threads that a parallel region of oneDNN or BLAS would get, 1 without OpenMP. For
// Tenon's own loops see parallel.hpp.
int computeThreads();

// The flags of the first processor in a text of /proc/cpuinfo's form, with a blank at both ends.
std::string processorFlags(std::string_view cpuinfo);
// The flags of this machine's processor; " " where they are not known.
std::string processorFlags();

// Advice for a machine on which OpenBLAS's kernel is below what the flags allow; "" where nothing
// is known to be wrong.
std::string blasAdvice(std::string_view kernel, std::string_view flags);

} // namespace tenon
