// SPDX-License-Identifier: BSD-2-Clause
// Functions of shared libraries that are looked up at run time. All functions of a library must
// come from one copy of it: a table that mixed two copies would pass handles of one to the other.
#pragma once

#include "sys/errors/error.hpp"

#include <span>
#include <string>

namespace tenon::cuda {

// Whether a handle of dlopen() has all of these functions.
bool hasAll(void* handle, std::span<const char* const> names);

// A shared library. If the libraries that the process has loaded provide all functions, they are
// used, which shares the program's copy; otherwise the library is opened.
class Library {
public:
  // `soname` includes the version of the headers that Tenon was built with. If the loader does not
  // find it, the `older` library is accepted if it has all these functions.
  Library(const char* title, std::string soname, std::span<const char* const> names,
          const std::string& older = {});

  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(address(name));
  }

private:
  void* address(const char* name) const;

  const char* title_;
  std::string soname_;
  void* handle_;
};

} // namespace tenon::cuda
