// SPDX-License-Identifier: BSD-2-Clause
// Prevents a library from being unloaded. Parallel HDF5 registers a function that MPI_Finalize
// calls. If a host program unloaded a plugin and HDF5 with it, that call would crash, so HDF5, and
// NetCDF, which brings HDF5, stay loaded after their first use.
#pragma once

#include <dlfcn.h>

namespace tenon {

// Keeps the library that has this function. Returns whether it is a shared one.
template <class Function>
bool keepLoaded(Function* function) noexcept {
  Dl_info found;
  return dladdr(reinterpret_cast<const void*>(function), &found) != 0 &&
         dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

} // namespace tenon
