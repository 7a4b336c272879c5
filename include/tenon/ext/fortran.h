/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Functions for the Fortran module, in addition to the calls for programs.
 *
 *  This header is experimental (doc/1.0.md).
 */
#ifndef TENON_EXT_FORTRAN_H
#define TENON_EXT_FORTRAN_H

#include <tenon/init.h>

/** @brief Returns the C handle of a Fortran communicator. Not collective.
 *  @param[in]  fcomm  INTEGER of `use mpi`, or MPI_VAL of `use mpi_f08`
 *  @param[out] comm   the same communicator
 *  @return TENON_ERR_STATE  MPI is not initialised, or already finalised */
TENON_EXTERN TenonErrorCode TenonCommFromFortran(int fcomm, MPI_Comm* comm) TENON_NOEXCEPT;

#endif
