// SPDX-License-Identifier: BSD-2-Clause
// Start and end of the library, and information about its build:
//   TenonInitialize, TenonInitializeWithComm, TenonFinalize   see comm/session/session.hpp
//   TenonInitialized, TenonCommFromFortran                    queries, without communication
//   TenonGetVersion, TenonGetInfo                             texts about the build and the machine
// A communicator that is passed before MPI_Init() or after MPI_Finalize() is an error: MPI itself
// would abort the program. TENON_BUILD_TYPE and TENON_NEEDS are macros that CMakeLists.txt defines
// for this file only, so a change of them recompiles no other file.
#include "capi/arguments.hpp"
#include "comm/session/session.hpp"
#include "io/dataset/sample_file.hpp"
#include "io/hdf5_file.hpp"
#include "kernels/base/backend.hpp"
#include "kernels/base/library_info.hpp"
#include "kernels/base/parallel.hpp"
#include "machine/local_topology.hpp"
#include "sys/device.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/fortran.h>
#include <tenon/init.h>
#include <tenon/version.h>

#include <fmt/format.h>

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

// The first line of MPI's version text, which fills a page in some libraries.
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

// The text of TenonGetInfo("build"): one line "name: value" per fact.
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
  line("NetCDF", netcdfLibrary());
  line("CUDA", Device::toolkitVersion());
  line("threads", fmt::format("{}", computeThreads()));
  line("threads of own loops",
       hasThreads() ? fmt::format("{}", kernelThreads()) : "1, compiled without OpenMP");
  return text;
}

// Throws unless MPI is running. MPI allows MPI_Initialized() and MPI_Finalized() at any time.
void checkRunning() {
  int isStarted = 0, isFinalized = 0;
  MPI_Initialized(&isStarted);
  MPI_Finalized(&isFinalized);
  if (!isStarted || isFinalized)
    throw Error(TENON_ERR_STATE,
                fmt::format("a communicator is passed, but MPI {}; {}",
                            isFinalized ? "is finalised" : "is not initialised",
                            isFinalized ? "call this before MPI_Finalize()"
                                        : "call MPI_Init() first, or use TenonInitialize()"));
}

// Throws unless a communicator of the program can be used.
void checkComm(MPI_Comm comm) {
  checkRunning();
  if (comm == MPI_COMM_NULL)
    throw Error(TENON_ERR_NULL,
                "comm is MPI_COMM_NULL; pass a valid communicator such as MPI_COMM_WORLD");
}

// Returns the text of TenonGetInfo().
std::string infoOf(const std::string& what) {
  if (what == "version")
    return version();
  if (what == "build")
    return buildInfo();
  if (what == "devices")
    return Device::list();
  if (what == "advice")
    return blasAdvice(blasInfo().kernel, processorFlags());
  throw Error(TENON_ERR_ARG,
              fmt::format("what is '{}'; use version, build, devices or advice", what));
}

} // namespace

TenonErrorCode TenonInitialize(int* argc, char*** argv, const char* help) noexcept {
  return guard(__func__, [&] { initialize(argc, argv, MPI_COMM_NULL, textOrEmpty(help)); });
}

TenonErrorCode TenonInitializeWithComm(MPI_Comm comm, int* argc, char*** argv,
                                       const char* help) noexcept {
  return guard(__func__, [&] {
    checkComm(comm);
    initialize(argc, argv, comm, textOrEmpty(help));
  });
}

TenonErrorCode TenonFinalize(void) noexcept {
  return guard(__func__, [] { finalize(); });
}

TenonErrorCode TenonInitialized(TenonBool* initialized) noexcept {
  return guard(__func__, [&] { required(initialized, "initialized") = isInitialized(); });
}

TenonErrorCode TenonCommFromFortran(int fcomm, MPI_Comm* comm) noexcept {
  return guard(__func__, [&] {
    MPI_Comm& converted = required(comm, "comm");
    checkRunning(); // MPI_Comm_f2c() is undefined before MPI_Init()
    converted = MPI_Comm_f2c(static_cast<MPI_Fint>(fcomm));
  });
}

TenonErrorCode TenonGetVersion(int* major, int* minor, int* patch) noexcept {
  return guard(__func__, [&] {
    if (major)
      *major = TENON_VERSION_MAJOR;
    if (minor)
      *minor = TENON_VERSION_MINOR;
    if (patch)
      *patch = TENON_VERSION_PATCH;
  });
}

TenonErrorCode TenonGetInfo(const char* what, char text[], TenonInt length,
                            TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(infoOf(textOf(what, "what")), {text, length, needed}, "text");
  });
}
