// SPDX-License-Identifier: BSD-2-Clause
// Queries the loaded libraries for their versions with dlsym() at run time, since a program can run
// with another BLAS than the one it was linked with. blasAdvice() compares the instruction sets of
// OpenBLAS's kernel, known by its name, and of the processor, known by its flags. It covers only
// the cases in which OpenBLAS is known to use an older kernel than the processor allows.
#include "kernels/base/library_info.hpp"

#include "kernels/base/backend.hpp"
#include "sys/threads.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

namespace tenon {

namespace {

// The function of that name in any loaded library, or null: a BLAS other than OpenBLAS is not an
// error.
template <class Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// The text that a function without arguments of a loaded library returns, or "".
std::string textOf(const char* function) {
  auto* call = loaded<char*()>(function);
  const char* text = call ? call() : nullptr;
  return text ? text : "";
}

// Whether the processor has all these flags.
bool hasFlags(std::string_view flags, std::initializer_list<const char*> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const char* flag) {
    return flags.find(fmt::format(" {} ", flag)) != std::string_view::npos;
  });
}

// Widest vector instructions of a kernel or a processor, as far as they matter to BLAS.
enum Level { kOld, kAvx2, kAvx512, kUnknown };

Level levelOfKernel(std::string_view kernel) {
  // A name that a future OpenBLAS adds is kUnknown, which results in no advice instead of a wrong
  // one.
  static constexpr std::array kAvx512Kernels{"skylakex", "cooperlake", "sapphirerapids"};
  static constexpr std::array kAvx2Kernels{"haswell", "zen"};
  static constexpr std::array kOldKernels{
      "generic",   "prescott",    "core2",       "penryn",    "dunnington",   "nehalem",
      "atom",      "sandybridge", "opteron",     "barcelona", "opteron_sse3", "bobcat",
      "bulldozer", "piledriver",  "steamroller", "excavator", "nano",         "athlon"};
  std::string name(kernel);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const auto among = [&](const auto& kernels) {
    return std::find(kernels.begin(), kernels.end(), name) != kernels.end();
  };
  if (among(kAvx512Kernels))
    return kAvx512;
  if (among(kAvx2Kernels))
    return kAvx2;
  return among(kOldKernels) ? kOld : kUnknown;
}

// The sets of flags are those for which OpenBLAS has kernels.
Level levelOfProcessor(std::string_view flags) {
  if (hasFlags(flags, {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"}))
    return kAvx512;
  return hasFlags(flags, {"avx2", "fma"}) ? kAvx2 : kOld;
}

} // namespace

// Some libraries with FFTW's interface lack the symbol fftw_version.
std::string fftwVersion() {
  const void* text = hasFftw() ? dlsym(RTLD_DEFAULT, "fftw_version") : nullptr;
  return text ? static_cast<const char*>(text) : hasFftw() ? "unknown" : "none";
}

BlasInfo blasInfo() {
  return {textOf("openblas_get_config"), textOf("openblas_get_corename")};
}

int computeThreads() {
  return openMpThreads();
}

std::string processorFlags(std::string_view cpuinfo) {
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("flags") && line.find(':') != std::string::npos)
      return fmt::format(" {} ", line.substr(line.find(':') + 1));
  return " ";
}

std::string processorFlags() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  return processorFlags(text.str());
}

std::string blasAdvice(std::string_view kernel, std::string_view flags) {
  const Level used = levelOfKernel(kernel), possible = levelOfProcessor(flags);
  if (used == kUnknown || used >= possible)
    return "";
  return fmt::format("OpenBLAS runs its {} kernel, but this processor has {}: set "
                     "OPENBLAS_CORETYPE={} in the environment before the program starts",
                     kernel, possible == kAvx512 ? "AVX-512" : "AVX2 and FMA",
                     possible == kAvx512 ? "SkylakeX" : "Haswell");
}

} // namespace tenon
