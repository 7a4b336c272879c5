// SPDX-License-Identifier: BSD-2-Clause
// Turns return codes of MPI into errors. They are returned at all only because the library's copies
// of communicators have MPI_ERRORS_RETURN; on a communicator of the caller the caller's handler
// comes first.
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
