// SPDX-License-Identifier: BSD-2-Clause
// Functions of shared libraries that are found at run time. All functions of one library have to
// come from one copy of it: a table that mixed the copy of the program with a second one would pass
// handles of one to the other.
#pragma once

#include "sys/errors/error.hpp"

#include <span>
#include <string>

namespace tenon::cuda {

// Whether a handle of dlopen() has all of these functions.
bool hasAll(void* handle, std::span<const char* const> names);

// A shared library. All its functions come from one place: from what the process has loaded already
// if that has them all, so that the copy of the program is shared, or else from the library, which
// is opened.
class Library {
public:
  // `soname` has the version of the headers that Tenon was built with. Where the loader does not
  // find that library, an older one will do that has all these functions.
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
