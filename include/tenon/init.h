/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Initialisation and finalisation of Tenon, version and build information.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  **Threads.** Objects on distinct communicators can be used in distinct threads at the same time:
 *  created, set up, applied, viewed and destroyed, and their communicators freed. The program must
 *  then initialise MPI itself, with MPI_THREAD_MULTIPLE. With MPI_THREAD_SERIALIZED threads can
 *  take turns. With lower levels all calls must be made by the thread that initialised MPI; another
 *  thread that creates an object gets TENON_ERR_STATE. If Tenon initialises MPI, the level is
 *  MPI_THREAD_FUNNELED. Objects on one communicator belong to one thread at a time.
 *
 *  TenonInitialize() and TenonFinalize() are called by one thread while no other thread is inside
 *  Tenon. Options, the stack of error handlers, registered types, the log and its stages belong to
 *  the process: calls about them can run in any thread and apply to all. The record of the last
 *  error and the open log events belong to each thread.
 */
#ifndef TENON_INIT_H
#define TENON_INIT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Initialises Tenon, and MPI (MPI_THREAD_FUNNELED) if needed. Collective on MPI_COMM_WORLD.
 *
 *  Calls are counted: each call needs a TenonFinalize(), and only the first call has an effect. It
 *  reads the options file, TENON_OPTIONS and the command line, see tenon/options.h. The command
 *  line is not modified. After an error Tenon is not initialised.
 *
 *  If the program owns the command line and -help is on it, the call prints the help and may end
 *  the process: see TenonOptionsOwnCommandLine(). Rank 0 prints a warning on standard error if the
 *  ranks on its node would start more threads than there are CPUs for them. It also warns if the
 *  number of ranks of MPI_COMM_WORLD differs from that requested from mpiexec or srun, which
 *  happens if the program and the launcher use different MPI libraries. With -tenon_ranks N, any
 *  other number of ranks is an error.
 *
 *  Options: -tenon_help [word], -tenon_options_file PATH, -tenon_ranks N, -tenon_log_view,
 *  -tenon_log_trace PATH, -tenon_log_trace_events COUNT. -tenon_agree_timeout SECONDS (300) limits
 *  the wait in calls that create or set up objects. Apply and TenonFinalize() wait without limit by
 *  default: after -tenon_wait_warning SECONDS (60; 10 in this call) a waiting rank prints the call
 *  and the missing ranks, and after -tenon_wait_limit SECONDS (0: none) it ends the program.
 *
 *  Where several programs share MPI_COMM_WORLD, as in a coupled job, or only some ranks use Tenon,
 *  call TenonInitializeWithComm() instead: this call would wait for the others.
 *
 *  If the command line belongs to another program, for example an interpreter, pass NULL for argc
 *  and argv, and set options by the variable TENON_OPTIONS, which can name an options file
 *  ("-tenon_options_file run.opt").
 *
 *  @param[in,out] argc  address of main's argc, passed to MPI_Init_thread(). May be NULL, in which
 *                       case there is no command line.
 *  @param[in,out] argv  address of main's argv. May be NULL, in which case there is no command
 *                       line.
 *  @param[in]     help  text that -help and -tenon_help print above the options. May be NULL, in
 *                       which case there is none.
 *  @return TENON_ERR_OPTION  an option is unknown or malformed, on all ranks
 *  @return TENON_ERR_FILE    the options file cannot be read, or the trace file cannot be written
 *  @return TENON_ERR_MPI     the number of ranks of MPI_COMM_WORLD is not that of -tenon_ranks
 *  @return TENON_ERR_STATE   MPI is already finalised
 */
TENON_EXTERN TenonErrorCode TenonInitialize(int* argc, char*** argv,
                                            const char* help) TENON_NOEXCEPT;

/** @brief Initialises Tenon on the ranks of a communicator. Collective on comm.
 *
 *  For programs that share MPI_COMM_WORLD with others, such as the model of a coupled job, and for
 *  jobs in which only some ranks use Tenon. See TenonInitialize(). The communicator is used for
 *  initialisation and final reports; each object has the communicator that it is created with.
 *  Tenon duplicates comm, which can be freed at any time after this call.
 *
 *  @param[in]     comm  intracommunicator; MPI must be initialised
 *  @param[in,out] argc  address of main's argc. May be NULL, in which case there is no command
 *                       line.
 *  @param[in,out] argv  address of main's argv. May be NULL, in which case there is no command
 *                       line.
 *  @param[in]     help  text that -help and -tenon_help print above the options. May be NULL, in
 *                       which case there is none.
 *  @return TENON_ERR_STATE  MPI is not initialised, or already finalised
 *  @return TENON_ERR_NULL   comm is MPI_COMM_NULL
 *  @return TENON_ERR_ARG    comm is an intercommunicator
 */
TENON_EXTERN TenonErrorCode TenonInitializeWithComm(MPI_Comm comm, int* argc, char*** argv,
                                                    const char* help) TENON_NOEXCEPT;

/** @brief Finalises Tenon. Collective on the communicator of the initialisation.
 *
 *  The last call prints the log (-tenon_log_view), unused options and objects whose handles were
 *  not destroyed, writes the trace (-tenon_log_trace), frees Tenon's communicators, and finalises
 *  MPI if Tenon initialised it. Remaining objects can then only be destroyed. Call it before
 *  MPI_Finalize(), and before PetscFinalize() if PETSc finalises MPI.
 *
 *  @return TENON_ERR_STATE  Tenon is not initialised, or MPI is already finalised. In this case the
 *                           log and the trace are lost, but memory is released.
 *  @return TENON_ERR_FILE   the trace could not be written, on all ranks; everything else is done
 */
TENON_EXTERN TenonErrorCode TenonFinalize(void) TENON_NOEXCEPT;

/** @brief Returns whether Tenon is initialised. Not collective; can be called at any time.
 *  @param[out] initialized  TENON_TRUE or TENON_FALSE */
TENON_EXTERN TenonErrorCode TenonInitialized(TenonBool* initialized) TENON_NOEXCEPT;

/** @brief Returns the version of the library. Not collective; can be called at any time.
 *  @param[out] major  major version. May be NULL, in which case it is not returned.
 *  @param[out] minor  minor version. May be NULL, in which case it is not returned.
 *  @param[out] patch  patch version. May be NULL, in which case it is not returned. */
TENON_EXTERN TenonErrorCode TenonGetVersion(int* major, int* minor, int* patch) TENON_NOEXCEPT;

/** @brief Returns what is known of the library and of this computer. Not collective; can be called
 *         at any time.
 *
 *  | what    | text                                                                              |
 *  | ------- | --------------------------------------------------------------------------------- |
 *  | version | version of the library ("0.1.0")                                                  |
 *  | build   | lines "name: value" for version, compiler, build type, MPI, oneDNN, BLAS and its  |
 *  |         | kernel, the CUDA that Tenon was built with, and the threads of these and of       |
 *  |         | Tenon's own loops                                                                 |
 *  | devices | a line for each CUDA device that this process sees, with its number, name,        |
 *  |         | compute capability and memory, or one line that says why there is none; no device |
 *  |         | is opened, but the driver is asked                                                |
 *  | advice  | reason and remedy if arithmetic is known to be slow here, otherwise "": OpenBLAS  |
 *  |         | selects its kernel by the name of the processor, and for a processor that it does |
 *  |         | not know one that leaves most of the machine unused                               |
 *
 *  @param[in]  what    name in the table
 *  @param[out] text    [length] text. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  there is no such name, or the text does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonGetInfo(const char* what, char text[], TenonInt length,
                                         TenonInt* needed) TENON_NOEXCEPT;

#endif
