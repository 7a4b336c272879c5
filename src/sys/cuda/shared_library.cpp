// SPDX-License-Identifier: BSD-2-Clause
// Looks up functions of shared libraries at run time. The program's own copy of a library is
// preferred; a copy that is opened by Tenon stays invisible to the program.
#include "sys/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

namespace tenon::cuda {

bool hasAll(void* handle, std::span<const char* const> names) {
  return std::ranges::all_of(names,
                             [&](const char* name) { return dlsym(handle, name) != nullptr; });
}

Library::Library(const char* title, std::string soname, std::span<const char* const> names,
                 const std::string& older)
    : title_(title), soname_(std::move(soname)), handle_(RTLD_DEFAULT) {
  if (hasAll(handle_, names))
    return;
  // RTLD_LOCAL: libraries that the program loads later must not find this copy.
  handle_ = dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_)
    return;
  const std::string reason = dlerror();
  if (!older.empty())
    handle_ = dlopen(older.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ && hasAll(handle_, names))
    return;
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{} cannot be opened: {}{}; install it, or add its folder to "
                          "LD_LIBRARY_PATH",
                          title_, reason,
                          older.empty() ? ""
                          : handle_     ? ", and " + older + " has not all functions"
                                        : ", nor " + older));
}

void* Library::address(const char* name) const {
  void* const function = dlsym(handle_, name);
  if (!function)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has no function {}: {}; install the version that Tenon was built "
                            "with ({})",
                            title_, name, dlerror(), soname_));
  return function;
}

} // namespace tenon::cuda
