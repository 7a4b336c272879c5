// SPDX-License-Identifier: BSD-2-Clause
// The pattern of collective calls: the arguments are checked and the object is made in one local
// body, its outcome and the text that describes the arguments are agreed on, and only then is the
// handle given away.
#pragma once

#include "capi/arguments.hpp"
#include "comm/agreement/agreement.hpp"
#include "comm/session/session.hpp"
#include "sys/text/output.hpp"
#include "sys/text/view.hpp"

namespace tenon {

// The body of a call that creates an object: make() returns the reference to it, describe(object)
// the text on which the ranks must agree.
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

// Runs the body of a collective call that agrees in several steps. What one rank alone cannot do
// between them becomes an error of all ranks, which meet in the next step or at the end.
template <class Body>
void together(Communicator& comm, Body&& body) {
  collectively(comm, [&] {
    body();
    return true;
  });
}

// For guardApply(): whether this process alone takes part in a call on the object behind a handle.
// A handle that is not valid, or of another class, names no communicator; then all processes of the
// program may be waiting.
template <class Handle>
auto isAlone(Handle handle) {
  return [handle]() noexcept {
    int size = 1;
    if (!isInitialized())
      return true;
    if (isLiveObject(handle))
      if (const auto* known = dynamic_cast<const typename ClassOf<Handle>::type*>(
              reinterpret_cast<const Object*>(handle)))
        return known->comm()->size() == 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size == 1;
  };
}

// The object behind the handle of a call in which other ranks wait, such as an Apply, which is
// looked up first.
template <class Handle>
auto& derefToApply(Handle handle, const char* name) {
  checkInitialized();
  return deref(handle, name);
}

// The text of a view as it is printed: whole lines that are not too long.
inline std::string viewText(const std::string& text) {
  return wrapped(text) + (text.ends_with('\n') ? "" : "\n");
}

} // namespace tenon
