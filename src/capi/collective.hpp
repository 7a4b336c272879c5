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

// How many processes take part in an Apply of the object behind a handle. A handle that is not valid names no
// communicator; then all processes of the program may be waiting.
template <class Handle>
int processesOf(Handle handle) {
  int size = 1;
  if (!isInitialized())
    return size;
  if (isLiveObject(handle))
    return deref(handle, "handle").comm()->size();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// The body of a call in which other ranks wait, such as an Apply: an error is returned only if there is one process, since
// then all that there are know it. processes() counts them, and is called after an error alone.
template <class Processes, class Body>
void returnIfOne(Processes&& processes, Body&& body) {
  try {
    body();
  } catch (Error& error) {
    if (processes() == 1)
      error.agreed(true);
    throw;
  } catch (...) {
    if (processes() > 1)
      throw;
    throw caughtError().agreed(true);
  }
}

// The same for the object behind a handle. It also checks that the library is initialised.
template <class Handle, class Body>
void returnIfAlone(Handle handle, Body&& body) {
  returnIfOne([=] { return processesOf(handle); },
              [&] {
                checkInitialized();
                body();
              });
}

// The text of a view as it is printed: whole lines that are not too long.
inline std::string viewText(const std::string& text) {
  return wrapped(text) + (text.ends_with('\n') ? "" : "\n");
}

} // namespace tenon
