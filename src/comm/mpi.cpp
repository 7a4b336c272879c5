// SPDX-License-Identifier: BSD-2-Clause
// Converts return codes of MPI into errors. Calls on the library's communicators return them, since
// those have MPI_ERRORS_RETURN; on a user's communicator the user's error handler is called first.
#include "comm/mpi.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

void checkMpi(int code, const char* call, std::source_location where) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(TENON_ERR_MPI, fmt::format("{} failed: {}", call, text), where);
}

} // namespace tenon
