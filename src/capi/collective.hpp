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

// The body of a collective call that agrees in several steps: what one rank alone cannot do between them becomes an error
// of all ranks, which meet in the next step or at the end.
template <class Body>
void together(Communicator& comm, Body&& body) {
  collectively(comm, [&] {
    body();
    return true;
  });
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

// Prints the text of a View, which is the same on all ranks, on one of them.
inline void printOnce(const Communicator& comm, const std::string& line) {
  if (comm.rank() == 0)
    print(wrapped(line) + (line.ends_with('\n') ? "" : "\n"));
}

} // namespace tenon
