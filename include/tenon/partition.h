/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPartition: ranks of a communicator arranged as a Cartesian process grid.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Positions in the grid are counted row-major, the last axis fastest. Ranks of the communicator
 *  outside the grid also hold the object and take part in all collective calls.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks.
 */
#ifndef TENON_PARTITION_H
#define TENON_PARTITION_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

#include <stddef.h>

/** @brief Creates a process grid of the ranks 0, 1, ... in order. Collective on comm.
 *
 *  The creation of the first object on a communicator duplicates the communicator, once for all
 *  objects. The duplicate, and the memory that its ranks share, are released when the program has
 *  freed the communicator and the last object on it is destroyed, and at the latest by
 *  TenonFinalize().
 *
 *  @param[in]  comm       communicator; any of the user's
 *  @param[in]  axes       number of grid axes; must be >= 1
 *  @param[in]  extents    [axes] number of processes along each axis; must be >= 1, with a product
 *                         of at most the number of ranks
 *  @param[out] partition  new process grid; destroy it with TenonPartitionDestroy()
 *  @return TENON_ERR_ARG         the process grid is out of range or larger than the communicator
 *  @return TENON_ERR_COLLECTIVE  ranks pass different process grids
 *  @return TENON_ERR_STATE       Tenon is not initialised
 *  @see    TenonPartitionCreateFromRanks(), TenonPartitionCreatePlaced()
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreate(MPI_Comm comm, int axes, const int extents[],
                                                 TenonPartition* partition) TENON_NOEXCEPT;

/** @brief Creates a process grid of given ranks in given order. Collective on comm.
 *
 *  See TenonPartitionCreate() for the errors.
 *
 *  @param[in]  comm       communicator; any of the user's
 *  @param[in]  axes       number of grid axes; must be >= 1
 *  @param[in]  extents    [axes] number of processes along each axis; must be >= 1
 *  @param[in]  ranks      [product of extents] ranks of comm in the order of grid positions, each
 *                         at most once
 *  @param[out] partition  new process grid; destroy it with TenonPartitionDestroy()
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreateFromRanks(MPI_Comm comm, int axes,
                                                          const int extents[], const int ranks[],
                                                          TenonPartition* partition) TENON_NOEXCEPT;

/** @brief Creates a process grid placed on the levels of a machine. Collective on comm.
 *
 *  The placement is given by a parallelism matrix, see tenon/ext/reduction.h. Rank r runs on
 *  device r of the machine, numbered level by level, and has the grid position that the placement
 *  gives this device. Ranks are therefore reordered. For data that are already distributed in
 *  another order, such as the fields of a solver, create a process grid in that order, and a
 *  repartition to this grid. See TenonPartitionCreate() for the errors.
 *
 *  @param[in]  comm       communicator; any of the user's
 *  @param[in]  axes       number of grid axes; must be >= 1
 *  @param[in]  levels     number of machine levels; must be >= 1
 *  @param[in]  matrix     [axes * levels] parallelism matrix, row by row: the number of parts into
 *                         which each level splits the axis of the row. The product of a row is the
 *                         extent of its axis.
 *  @param[out] partition  new process grid; destroy it with TenonPartitionDestroy()
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreatePlaced(MPI_Comm comm, int axes, int levels,
                                                       const TenonInt matrix[],
                                                       TenonPartition* partition) TENON_NOEXCEPT;

/** @brief Returns the number of grid axes. Not collective.
 *  @param[in]  partition  process grid
 *  @param[out] axes       number of grid axes */
TENON_EXTERN TenonErrorCode TenonPartitionGetAxes(TenonPartition partition,
                                                  int* axes) TENON_NOEXCEPT;

/** @brief Returns the number of processes along each axis. Not collective.
 *  @param[in]  partition  process grid
 *  @param[out] extents    [axes] number of processes along each axis */
TENON_EXTERN TenonErrorCode TenonPartitionGetExtents(TenonPartition partition,
                                                     int extents[]) TENON_NOEXCEPT;

/** @brief Returns the coordinates of this rank in the grid. Not collective.
 *  @param[in]  partition    process grid
 *  @param[out] coordinates  [axes] coordinate on each axis; -1 outside the grid */
TENON_EXTERN TenonErrorCode TenonPartitionGetCoordinates(TenonPartition partition,
                                                         int coordinates[]) TENON_NOEXCEPT;

/** @brief Returns the communicator along one axis. Collective on the partition.
 *
 *  It consists of the ranks whose coordinates on all other axes are those of this rank, ordered by
 *  the coordinate on this axis.
 *
 *  @param[in]  partition  process grid
 *  @param[in]  axis       grid axis, counted from 0; the same on all ranks
 *  @param[out] comm       communicator owned by the process grid, valid as long as the grid exists;
 *                         MPI_COMM_NULL outside the grid
 *  @return TENON_ERR_ARG         there is no such axis
 *  @return TENON_ERR_COLLECTIVE  ranks pass different axes
 *  @note   Do not free the communicator.
 */
TENON_EXTERN TenonErrorCode TenonPartitionGetAxisComm(TenonPartition partition, int axis,
                                                      MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief Lets other ranks of this node read user memory in place (for experts). Not collective.
 *
 *  Most programs do not need this call: arrays owned by Tenon are in shared memory, and user arrays
 *  are packed. The call is useful if the exchange of a large user array limits the performance, and
 *  the program satisfies the conditions below.
 *
 *  Without this call, data that are sent from a user array are copied twice: the sender packs them
 *  into a buffer in the shared memory of the node, and the receiver unpacks them. With this call
 *  receivers copy once, directly from the array, as from arrays owned by Tenon. It takes effect
 *  with the next operation, for tensors whose whole array is in the memory. Results are bitwise
 *  identical.
 *
 *  Address and values stay the same, but the pages that hold the memory are copied into shared
 *  memory (-tenon_shared_memory), which is then mapped in their place. Therefore:
 *  - Call it once, after the allocation, while no other thread allocates memory or writes nearby,
 *    and while no operator is between Begin and End.
 *  - Call TenonPartitionUnshareMemory() before the memory is freed or reallocated. Only memory that
 *    is allocated until the process ends can remain shared after TenonFinalize().
 *  - After fork(), parent and child share the pages: each of them sees what the other writes. Make
 *    the memory private before the fork, or copy the data.
 *  - Register page-locked memory (cudaHostRegister()) after this call, not before: memory that is
 *    registered already is refused.
 *
 *  Large blocks of malloc, `new` and Fortran's `allocate` have separate pages. Small blocks have
 *  pages in common with other data. These data are then shared too, and what another thread writes
 *  to them during the call is lost; prefer blocks with separate pages. Two blocks with a page in
 *  common cannot be shared by two calls. On a rank that is alone on its node the call has no
 *  effect.
 *
 *  @param[in] partition  process grid on the communicator of the tensors
 *  @param[in] memory     address of the memory. May be NULL, in which case bytes must be 0.
 *  @param[in] bytes      size in bytes; the call has no effect if it is 0
 *  @return TENON_ERR_ARG      some of the memory is already shared, or registered with CUDA
 *  @return TENON_ERR_SUPPORT  the memory is not private and writable (the stack, another shared
 *                             mapping, a constant), or the ranks of the node share no memory; the
 *                             message gives the reason
 *  @return TENON_ERR_MEMORY   there is not enough shared memory
 *  @return TENON_ERR_STATE    Tenon is not initialised
 */
TENON_EXTERN TenonErrorCode TenonPartitionShareMemory(TenonPartition partition, void* memory,
                                                      size_t bytes) TENON_NOEXCEPT;

/** @brief Makes shared memory private again (for experts). Not collective.
 *
 *  Address and values stay the same. The pages remain a separate mapping within the heap until they
 *  are unmapped, and the number of mappings is limited (/proc/sys/vm/max_map_count). A program that
 *  shares and unshares small blocks of the heap at many addresses should allocate these blocks with
 *  separate pages.
 *
 *  @param[in] partition  process grid passed to TenonPartitionShareMemory()
 *  @param[in] memory     address passed to TenonPartitionShareMemory(). May be NULL, in which case
 *                        the call has no effect.
 *  @return TENON_ERR_ARG      no shared memory begins at this address
 *  @return TENON_ERR_STATE    the memory was freed while it was shared, or Tenon is not initialised
 *  @return TENON_ERR_MEMORY   the process cannot allocate more memory
 *  @return TENON_ERR_SUPPORT  the ranks of the node share no memory
 */
TENON_EXTERN TenonErrorCode TenonPartitionUnshareMemory(TenonPartition partition,
                                                        void* memory) TENON_NOEXCEPT;

/** @brief Sets the CUDA stream on which kernels of the communicator run. Not collective.
 *
 *  All tensors, layers and operators on the device of this communicator work in order on the
 *  stream: after the work that the program has queued there, and before the work that it queues
 *  later. By default they share a stream of the library.
 *
 *  @param[in] partition  process grid on the communicator of the tensors
 *  @param[in] stream     a cudaStream_t of this process's device (-tenon_device). It must exist as
 *                        long as there are objects on the device. May be NULL, in which case it is
 *                        CUDA's default stream (also cudaStreamLegacy), on which kernels without an
 *                        argument for a stream run. Kokkos, OpenACC and OpenMP use other streams
 *                        (doc/interop.md). With cudaStreamPerThread, the stream of the calling
 *                        thread, all calls must be made by one thread.
 *  @return TENON_ERR_ARG      stream is of another device or CUDA context, or is a default stream,
 *                             and the device or context that the program has made current is
 *                             another one
 *  @return TENON_ERR_STATE    there are tensors, layers or operators on the device of the
 *                             communicator already, or Tenon is not initialised
 *  @return TENON_ERR_SUPPORT  there is no device
 *  @see    TenonPartitionResetStream(), TenonDTensorSetSpace(), TenonLayerSetSpace()
 */
TENON_EXTERN TenonErrorCode TenonPartitionSetStream(TenonPartition partition,
                                                    void* stream) TENON_NOEXCEPT;

/** @brief Lets kernels of the communicator run on a stream of the library again. Not collective.
 *
 *  Work on the stream of the library is not ordered with work on the program's streams. The program
 *  must wait for its own work before it calls Tenon, and waits for the library's work by
 *  TenonDTensorGetDeviceArrayRead().
 *
 *  @param[in] partition  process grid passed to TenonPartitionSetStream()
 *  @return TENON_ERR_STATE    there are tensors, layers or operators on the device of the
 *                             communicator, or Tenon is not initialised
 *  @return TENON_ERR_SUPPORT  there is no device
 */
TENON_EXTERN TenonErrorCode TenonPartitionResetStream(TenonPartition partition) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] partition  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonPartitionDestroy(TenonPartition* partition) TENON_NOEXCEPT;

#endif
