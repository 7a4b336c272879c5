/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief MPI's header without the C++ bindings that some implementations add to it.
 */
#ifndef TENON_MPI_H
#define TENON_MPI_H

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#endif
