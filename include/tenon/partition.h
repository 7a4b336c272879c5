/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPartition: ranks of a communicator arranged as a Cartesian mesh.
 *
 *  Positions of the mesh are counted row-major, the last axis fastest. Ranks of the communicator
 *  outside the mesh hold the object too, and take part in every collective call.
 *
 *  All calls return TENON_ERR_NULL or TENON_ERR_HANDLE for a NULL or dead handle.
 */
#ifndef TENON_PARTITION_H
#define TENON_PARTITION_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

#include <stddef.h>

/** @brief A mesh of the ranks 0, 1, ..., in order. Collective on `comm`.
 *
 *  The first object on a communicator duplicates it, once for all. The copy, with the memory that its ranks
 *  share, is freed when the caller frees the communicator, or with the last object on it if some still
 *  live then, and at TenonFinalize().
 *
 *  @param[in]  comm       any communicator of the caller's
 *  @param[in]  axes       number of mesh axes, at least 1
 *  @param[in]  extents    [axes] processes along each axis; their product must not exceed the
 *                         number of ranks
 *  @param[out] partition  to be given back with TenonPartitionDestroy()
 *  @return on all ranks TENON_ERR_ARG if the mesh does not fit the communicator,
 *          TENON_ERR_COLLECTIVE if ranks pass different meshes; TENON_ERR_STATE if Tenon is not
 *          initialised
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreate(MPI_Comm comm, int axes, const int extents[],
                                                 TenonPartition* partition) TENON_NOEXCEPT;

/** @brief A mesh of the given ranks in the given order. Collective on `comm`.
 *
 *  @param[in] ranks  [product of extents] ranks of `comm` by mesh position, each at most once
 *
 *  The other parameters and the errors are those of TenonPartitionCreate().
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreateFromRanks(MPI_Comm comm, int axes,
                                                          const int extents[], const int ranks[],
                                                          TenonPartition* partition) TENON_NOEXCEPT;

/** @brief A mesh placed on the levels of a machine by a parallelism matrix, see
 *         TenonPlacementListCreate(). Collective on `comm`.
 *
 *  Rank r is the device r of the machine, level by level, and stands where the placement has that
 *  device. So ranks are reordered: data that lie on the ranks in another order already, such as a
 *  solver's, want a mesh in that order, and a repartition to this one.
 *
 *  @param[in] axes    number of mesh axes, at least 1
 *  @param[in] levels  number of levels, at least 1
 *  @param[in] matrix  [axes * levels] axis by axis, into how many parts each level splits the axis;
 *                     the product of a row is the extent of its axis
 *
 *  The other parameters and the errors are those of TenonPartitionCreate().
 */
TENON_EXTERN TenonErrorCode TenonPartitionCreatePlaced(MPI_Comm comm, int axes, int levels,
                                                       const TenonInt matrix[],
                                                       TenonPartition* partition) TENON_NOEXCEPT;

/** @brief The number of mesh axes. Not collective. */
TENON_EXTERN TenonErrorCode TenonPartitionGetAxes(TenonPartition partition,
                                                  int* axes) TENON_NOEXCEPT;

/** @brief The processes along each axis. Not collective.
 *  @param[out] extents  [axes] */
TENON_EXTERN TenonErrorCode TenonPartitionGetExtents(TenonPartition partition,
                                                     int extents[]) TENON_NOEXCEPT;

/** @brief This rank's position in the mesh, -1 outside it. Not collective. */
TENON_EXTERN TenonErrorCode TenonPartitionGetPosition(TenonPartition partition,
                                                      int* position) TENON_NOEXCEPT;

/** @brief This rank's coordinate on each axis, -1 outside the mesh. Not collective.
 *  @param[out] coordinates  [axes] */
TENON_EXTERN TenonErrorCode TenonPartitionGetCoordinates(TenonPartition partition,
                                                         int coordinates[]) TENON_NOEXCEPT;

/** @brief The communicator of the ranks that differ from this one along one axis alone, ordered by
 *         their coordinate. Collective on the partition.
 *
 *  @param[in]  axis  from 0
 *  @param[out] comm  the partition's, as long as it lives: not to be freed by the caller;
 *                    MPI_COMM_NULL outside the mesh
 *  @return on all ranks TENON_ERR_ARG if there is no such axis, TENON_ERR_COLLECTIVE if ranks pass
 *          different axes
 */
TENON_EXTERN TenonErrorCode TenonPartitionGetAxisComm(TenonPartition partition, int axis,
                                                      MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief Lets the other ranks of this node read memory of the caller's where it lies, as they read
 *         the library's own arrays. Not collective.
 *
 *  Without this, what leaves an array of the caller's is copied twice: packed by its rank into a
 *  buffer that the node shares, and unpacked by the receiver. With it, receivers copy once, from the
 *  array. Tensors whose whole array lies in the memory gain from it from their next operation on;
 *  results are the same bit by bit.
 *
 *  The address and the values stay. What changes is where the pages come from: those that hold the
 *  memory are copied into shared memory (`-tenon_shared_memory`), which is then mapped in their
 *  place. Therefore:
 *  - call it once, after the allocation, while no other thread allocates memory or writes nearby, and
 *    while no operator is between Begin and End;
 *  - take it back with TenonPartitionUnshareMemory() before the memory is freed or reallocated. Only
 *    memory that lives as long as the process may stay shared beyond TenonFinalize();
 *  - a child made by fork() shares the pages instead of getting a copy: each of the two sees what the
 *    other writes. A program that forks to write data unshares them before, or copies the data first;
 *  - page-locked memory (cudaHostRegister()) is registered after it, not before.
 *
 *  Large blocks of malloc, `new` and Fortran's `allocate` have pages of their own. Small ones share
 *  theirs with other data, which is then shared along: a write of another thread to it during the
 *  call is lost, so prefer pages of their own. Two blocks with a page in common cannot be shared by
 *  two calls.
 *
 *  @param[in] partition  any whose communicator is that of the tensors
 *  @param[in] memory     may be NULL if `bytes` is 0
 *  @param[in] bytes      of the memory; 0: nothing is done
 *  @return TENON_ERR_ARG if some of it is shared already; TENON_ERR_SUPPORT if the memory is not this
 *          process's own and writable (the stack, another shared mapping, a constant), or if the
 *          node's ranks share no memory, with the reason; TENON_ERR_MEMORY if there is no room. On a
 *          rank that is alone on its node nothing is done
 */
TENON_EXTERN TenonErrorCode TenonPartitionShareMemory(TenonPartition partition, void* memory,
                                                      size_t bytes) TENON_NOEXCEPT;

/** @brief Makes memory that was shared private again; address and values stay. Not collective.
 *
 *  @param[in] memory  as it was given to TenonPartitionShareMemory(); NULL: nothing is done
 *  @return TENON_ERR_ARG if no memory is shared that begins there; TENON_ERR_STATE if it was freed
 *          while it was shared, TENON_ERR_MEMORY if the process may have no more memory
 */
TENON_EXTERN TenonErrorCode TenonPartitionUnshareMemory(TenonPartition partition,
                                                        void* memory) TENON_NOEXCEPT;

/** @brief Prints the mesh, on rank 0 of its communicator. Not collective. */
TENON_EXTERN TenonErrorCode TenonPartitionView(TenonPartition partition) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonPartitionDestroy(TenonPartition* partition) TENON_NOEXCEPT;

#endif
