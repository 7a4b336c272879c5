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

// `make` returns the new object's reference, `describe` the text that must agree.
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

// How many processes wait for this one in an Apply of this object.
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

// For Apply of an object, where other ranks wait: an error of the only process is known to all there
// are, so it may be returned. `processes()` counts them.
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

template <class Handle, class Body>
void returnIfAlone(Handle handle, Body&& body) {
  returnIfOne([=] { return processesOf(handle); },
              [&] {
                checkInitialized();
                body();
              });
}

// What a View prints: one rank speaks for all.
inline void printOnce(const Communicator& comm, const std::string& line) {
  if (comm.rank() == 0)
    print(wrapped(line) + (line.ends_with('\n') ? "" : "\n"));
}

} // namespace tenon
