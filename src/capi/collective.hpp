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

// The body of a call that creates an object: make() returns the reference to it, describe(object) the text on which the
// ranks must agree.
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

// Prints the text of a View, which is the same on all ranks, on one of them.
inline void printOnce(const Communicator& comm, const std::string& line) {
  if (comm.rank() == 0)
    print(wrapped(line) + (line.ends_with('\n') ? "" : "\n"));
}

} // namespace tenon
