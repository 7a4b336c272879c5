// SPDX-License-Identifier: BSD-2-Clause
// The header of MPI without its C++ bindings, and the check of return codes.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <source_location>

namespace tenon {

// Throws TENON_ERR_MPI with the text of MPI unless the call succeeded.
void checkMpi(int code, const char* call,
              std::source_location where = std::source_location::current());

} // namespace tenon
