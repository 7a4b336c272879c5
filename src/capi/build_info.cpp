// SPDX-License-Identifier: BSD-2-Clause
#include "capi/arguments.hpp"
#include "io/hdf5_file.hpp"
#include "kernels/backend.hpp"
#include "kernels/library_info.hpp"
#include "kernels/parallel.hpp"
#include "machine/local_topology.hpp"
#include "sys/guard.hpp"

#include <tenon/init.h>
#include <tenon/version.h>

using namespace tenon;

namespace {

std::string version() {
  return fmt::format("{}.{}.{}", TENON_VERSION_MAJOR, TENON_VERSION_MINOR, TENON_VERSION_PATCH);
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

// The first line of what MPI says of itself.
std::string mpiLibrary() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text);
  return line.substr(0, line.find_first_of("\n\r"));
}

std::string mpiStandard() {
  int major = 0, minor = 0;
  MPI_Get_version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

std::string orUnknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string oneDnn() {
  return hasOneDnn() ? oneDnnVersion()
                     : "none; build with oneDNN 2.6 or 3 (Debian: libdnnl-dev; -DTENON_ONEDNN=ON) "
                       "for faster "
                       "convolutions of more than some 32 channels in float32";
}

std::string buildInfo() {
  const BlasInfo blas = blasInfo();
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{}: {}\n", name, value);
  };
  line("version", version());
  line("compiler", compiler());
  line("build type", orUnknown(TENON_BUILD_TYPE));
  line("needs", TENON_NEEDS);
  line("MPI library", mpiLibrary());
  line("MPI standard", mpiStandard());
  line("oneDNN", oneDnn());
  line("BLAS", orUnknown(blas.config));
  line("BLAS kernel", orUnknown(blas.kernel));
  line("FFTW", fftwVersion());
  line("hwloc", LocalTopology::library());
  line("HDF5", hdf5Library());
  line("CUDA", Device::toolkitVersion());
  line("threads", fmt::format("{}", computeThreads()));
  line("threads of own loops",
       hasThreads() ? fmt::format("{}", kernelThreads()) : "1, compiled without OpenMP");
  return text;
}

} // namespace

TenonErrorCode TenonGetVersionString(char text[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] { copyText(version(), {text, length, needed}, "text"); });
}

TenonErrorCode TenonGetBuildInfo(char text[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] { copyText(buildInfo(), {text, length, needed}, "text"); });
}

TenonErrorCode TenonGetDeviceInfo(char text[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] { copyText(Device::list(), {text, length, needed}, "text"); });
}

TenonErrorCode TenonGetPerformanceAdvice(char text[], TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(blasAdvice(blasInfo().kernel, processorFlags()), {text, length, needed}, "text");
  });
}
