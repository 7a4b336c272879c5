// SPDX-License-Identifier: BSD-2-Clause
// The bodies of collective calls. Each rank checks its arguments and creates its object locally.
// Then the ranks agree: all succeed, or all return the same error. The user gets the handle only
// after that, so no rank holds an object that failed elsewhere.
//   createTogether(...)   a call that creates an object
//   together(...)         any other collective call
//   derefToApply(...)     calls of a time step, which do not agree, see guardApply()
#pragma once

#include "capi/arguments.hpp"
#include "comm/agreement/agreement.hpp"
#include "comm/session/session.hpp"
#include "sys/text/output.hpp"
#include "sys/text/view.hpp"

namespace tenon {

// The body of a call that creates an object: make() returns a reference to it, and describe(object)
// a text that must be the same on all ranks, called `what` in the error text.
template <class Handle, class Make, class Describe>
void createTogether(Communicator& comm, Handle* handle, const char* name, const char* what,
                    Make&& make, Describe&& describe) {
  auto object = collectively(
      comm, what,
      [&] {
        required(handle, name);
        return make();
      },
      describe);
  give(handle, std::move(object));
}

// Runs the body of a collective call, which can contain agreements itself. A rank that fails
// between two of them reports its error in the next one, or in the one at the end.
template <class Body>
void together(Communicator& comm, Body&& body) {
  collectively(comm, [&] {
    body();
    return true;
  });
}

// The argument isAlone of guardApply(): whether the communicator of the object has one rank. An
// invalid handle has no communicator; then all ranks of the program count, since any of them could
// be waiting.
template <class Handle>
auto isAlone(Handle handle) {
  return [handle]() noexcept {
    int size = 1;
    if (!isInitialized())
      return true;
    if (isLiveObject(handle))
      if (const auto* object = dynamic_cast<const typename ClassOf<Handle>::type*>(
              reinterpret_cast<const Object*>(handle)))
        return object->comm()->size() == 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size == 1;
  };
}

// deref() for calls during which other ranks wait, such as Apply. It also checks that the library
// is initialised.
template <class Handle>
auto& derefToApply(Handle handle, const char* name) {
  checkInitialized();
  return deref(handle, name);
}

// Prepares the text of a view for printing: wraps long lines and ends the last one.
inline std::string viewText(const std::string& text) {
  return wrapped(text) + (text.ends_with('\n') ? "" : "\n");
}

} // namespace tenon
