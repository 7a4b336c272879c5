/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Beginning and end of the library's life in a process, and what it was built from.
 */
#ifndef TENON_INIT_H
#define TENON_INIT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Initialises Tenon, and MPI (MPI_THREAD_FUNNELED) if nobody has.
 *         Collective on MPI_COMM_WORLD.
 *
 *  Counted: every call needs its TenonFinalize(), and only the first does something. It reads the
 *  options of the options file, of TENON_OPTIONS and of the command line, as <tenon/options.h>
 *  says. The command line is not changed.
 *
 *  @param[in,out] argc  address of main's argc, handed to MPI_Init_thread(); NULL: no command line
 *  @param[in,out] argv  address of main's argv; NULL: no command line
 *  @param[in]     help  printed above the options by -tenon_help; NULL for none
 *  @return TENON_ERR_OPTION, on all ranks, for an unknown or malformed option; TENON_ERR_FILE if
 *          the options file cannot be read or the trace's file not be written; TENON_ERR_STATE if
 *          MPI was finalised already. After an error Tenon is not initialised.
 *
 *  Options: -tenon_help [word], -tenon_options_file PATH, -tenon_log_view, -tenon_log_trace PATH,
 *           -tenon_log_trace_events COUNT; -tenon_agree_timeout SECONDS for collective calls that create
 *           or set up; for Apply and TenonFinalize(), which wait without limit by default,
 *           -tenon_wait_warning SECONDS (60), after which a waiting rank prints the call and the missing
 *           ranks, and -tenon_wait_limit SECONDS (0: none), after which it ends the program
 */
TENON_EXTERN TenonErrorCode TenonInitialize(int* argc, char*** argv,
                                            const char* help) TENON_NOEXCEPT;

/** @brief TenonInitialize() on the ranks of `comm` alone. Collective on `comm`.
 *
 *  The communicator serves set-up and final reports; objects live on the communicators that they
 *  are created with. It is duplicated, and may be freed after TenonFinalize() or before.
 *
 *  @param[in] comm  of MPI, which must be running
 *  @return also TENON_ERR_STATE if MPI is not running, TENON_ERR_NULL for MPI_COMM_NULL, TENON_ERR_ARG
 *          for an intercommunicator
 */
TENON_EXTERN TenonErrorCode TenonInitializeWithComm(MPI_Comm comm, int* argc, char*** argv,
                                                    const char* help) TENON_NOEXCEPT;

/** @brief Ends what one call of TenonInitialize() began. Collective on its communicator.
 *
 *  The last call prints the log (-tenon_log_view), options that nobody asked for and objects that
 *  were never destroyed, writes the trace (-tenon_log_trace), frees the library's communicators, and
 *  finalises MPI if Tenon initialised it. Objects that still live can then only be destroyed. Call it
 *  before MPI_Finalize(), and before PetscFinalize() where PETSc finalises MPI.
 *
 *  @return TENON_ERR_STATE if Tenon is not initialised, or if MPI was finalised before: then the log and
 *          the trace are lost, and memory is released all the same; on all ranks, after all else is
 *          done, TENON_ERR_FILE if the trace could not be written
 */
TENON_EXTERN TenonErrorCode TenonFinalize(void) TENON_NOEXCEPT;

/** @brief Whether Tenon is initialised. Not collective; may be called at any time.
 *  @param[out] initialized  TENON_TRUE or TENON_FALSE */
TENON_EXTERN TenonErrorCode TenonInitialized(TenonBool* initialized) TENON_NOEXCEPT;

/** @brief The C handle of a Fortran communicator. Not collective.
 *
 *  @param[in]  fcomm  an INTEGER of `use mpi`, or the MPI_VAL of `use mpi_f08`
 *  @param[out] comm   the same communicator
 */
TENON_EXTERN TenonErrorCode TenonCommFromFortran(int fcomm, MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief The library's version. Not collective; may be called at any time.
 *         Each of the addresses may be NULL. */
TENON_EXTERN TenonErrorCode TenonGetVersion(int* major, int* minor, int* patch) TENON_NOEXCEPT;

/** @brief The version as text ("0.1.0"). Not collective; may be called at any time.
 *
 *  @param[out] text      ends with 0
 *  @param[in]  capacity  size of the buffer in characters
 *  @return TENON_ERR_ARG if the text does not fit
 */
TENON_EXTERN TenonErrorCode TenonGetVersionString(char* text, int capacity) TENON_NOEXCEPT;

/** @brief What the library was built with and runs on: lines "name: value" of version, compiler,
 *         build type, MPI, oneDNN, BLAS and its kernel, threads of these and of the library's own loops.
 *         Not collective; may be called at any time.
 *
 *  @param[out] text      ends with 0; 2048 characters are enough
 *  @param[in]  capacity  size of the buffer in characters
 *  @return TENON_ERR_ARG if the text does not fit
 */
TENON_EXTERN TenonErrorCode TenonGetBuildInfo(char* text, int capacity) TENON_NOEXCEPT;

/** @brief What keeps this machine's arithmetic slow, and the cure: "" if nothing is known to.
 *
 *  OpenBLAS picks its kernel by the processor's name, and for a processor younger than itself one
 *  that leaves most of the machine idle; this compares the kernel with what the processor can do.
 *  Not collective; may be called at any time. Parameters and errors as in TenonGetBuildInfo().
 */
TENON_EXTERN TenonErrorCode TenonGetPerformanceAdvice(char* text, int capacity) TENON_NOEXCEPT;

#endif
