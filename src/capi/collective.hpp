// SPDX-License-Identifier: BSD-2-Clause
// The bodies of collective calls of the C API. Each rank checks its arguments and creates its
// object locally. Then an agreement, a small collective message, exchanges whether any rank failed:
// all ranks succeed, or all return the same error. The user gets the handle only after the
// agreement, so no rank has an object whose creation failed on another rank. Which function a call
// uses:
//   createCollectively(...)   the call creates an object and returns its handle
//   runCollectively(...)      the call does something else, and its body returns nothing
//   collectively(...)         (comm/agreement/agreement.hpp) the body returns a value, with which
//                             the call continues after the agreement
//   guardApply(...)           (sys/errors/guard.hpp) calls of a time step (Apply), which have no
//                             agreement because of its cost: an error ends the program, or is
//                             returned if isAlone(), that is, if there is one rank. Their bodies get
//                             the object by derefToApply()
#pragma once

#include "capi/arguments.hpp"
#include "comm/agreement/agreement.hpp"
#include "comm/session/session.hpp"
#include "sys/text/output.hpp"
#include "sys/text/view.hpp"

namespace tenon {

// The body of a call that creates an object. make() creates it and returns a reference;
// describe(object) returns a text that must be the same on all ranks, for example the layout. If
// the texts differ, all ranks throw an error that says that `what` differs. `name` is the name of
// the argument `handle` in error messages. Example:
//   createCollectively(comm, partition, "partition", "the process grid",
//                      [&] { return makeRef<Partition>(...); },
//                      [](const Ref<Partition>& object) { return object->grid().describe(); });
template <class Handle, class Make, class Describe>
void createCollectively(Communicator& comm, Handle* handle, const char* name, const char* what,
                        Make&& make, Describe&& describe) {
  auto object = collectively(
      comm, what,
      [&] {
        required(handle, name);
        return make();
      },
      describe);
  giveHandle(handle, std::move(object));
}

// Runs the body of a collective call, which can contain agreements itself. A rank that fails
// between two of them reports its error in the next one, or in the one at the end.
template <class Body>
void runCollectively(Communicator& comm, Body&& body) {
  collectively(comm, [&] {
    body();
    return true;
  });
}

// Returns the argument isAlone of guardApply(), a function that says whether no other rank can be
// waiting: the object's communicator has one rank. For an invalid handle, whose communicator is
// unknown, MPI_COMM_WORLD must have one rank.
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

// deref() after a check that the library is initialised, which guardApply() does not make.
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
