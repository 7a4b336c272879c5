/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonMachine: levels of devices, such as nodes, sockets and cores, and links between
 *         them.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  Level 0 is the outermost; a unit of the innermost level is a device. Devices are numbered with
 *  the innermost level fastest, so the devices of one node are consecutive.
 *
 *  All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and TENON_ERR_HANDLE if
 *  a handle is not valid or is of another class. TenonMachineCreateFromComm() and
 *  TenonMachineMeasure() are collective, as is TenonMachineSave() for their machines. The other
 *  calls need neither MPI nor TenonInitialize().
 */
#ifndef TENON_MACHINE_H
#define TENON_MACHINE_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Creates a machine from a description file. Not collective.
 *  @param[in]  nameOrPath  path, which contains a slash or ends with .json; or the name of a
 *                          description in the folder -tenon_machine_path or in Tenon's own folder:
 *                          a100x16, v100x8, cpu2s, cluster4
 *  @param[in]  nodes       size of the level 'node'; 0 for the size in the file
 *  @param[out] machine     new machine; destroy it with TenonMachineDestroy()
 *  @return TENON_ERR_FILE    there is no such file
 *  @return TENON_ERR_FORMAT  the file is not a description; the message names file, byte and key
 *  @return TENON_ERR_ARG     nodes is negative, or the file has no level 'node'
 */
TENON_EXTERN TenonErrorCode TenonMachineCreateFromFile(const char* nameOrPath, TenonInt nodes,
                                                       TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Creates a machine of this computer and its cores, without links. Not collective.
 *  @param[out] machine  new machine as found by hwloc; destroy it with TenonMachineDestroy()
 *  @return TENON_ERR_LIBRARY  hwloc fails */
TENON_EXTERN TenonErrorCode TenonMachineCreateLocal(TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Creates the machine of a job; its devices are the ranks. Collective on comm.
 *
 *  With -tenon_machine_file the result is the machine of the file, resized to the number of nodes
 *  that the ranks fill. Otherwise the levels are determined from the locations of the ranks: nodes,
 *  packages, NUMA nodes, caches and cores. A level is left out if some rank is not bound to one
 *  unit of it, or its units have different numbers of ranks; TenonObjectView() prints the omitted
 *  levels. The links have the assumed rates -tenon_machine_latency and -tenon_machine_bandwidth.
 *  Errors are the same on all ranks.
 *
 *  @param[in]  comm     communicator; any of the user's
 *  @param[out] machine  new machine; destroy it with TenonMachineDestroy()
 *  @return TENON_ERR_ARG    the machine of the file does not match the number of ranks
 *  @return TENON_ERR_STATE  Tenon is not initialised
 *  @note   See TenonMachineCreateFromFile() for the errors of the file.
 */
TENON_EXTERN TenonErrorCode TenonMachineCreateFromComm(MPI_Comm comm,
                                                       TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Measures the machine of a job. Collective on comm.
 *
 *  The levels are those of TenonMachineCreateFromComm(). For each level with several units, latency
 *  and bandwidth are measured with Tenon's own redistribution, sums and gathers between pairs of
 *  ranks. Kernels of the common types of layers are measured on all ranks at once, in float32 and
 *  float64. TenonPlanSetMachine() uses these rates for networks in the same memory space. Measure
 *  on an otherwise idle machine, with the number of ranks of later runs.
 *
 *  @param[in]  comm     communicator; any of the user's
 *  @param[in]  space    where arrays are: TENON_MEMORY_HOST, or TENON_MEMORY_DEVICE
 *  @param[in]  rounds   number of rounds, of which the fastest counts; must be >= 1; 15 is usually
 *                       enough
 *  @param[out] machine  new machine; destroy it with TenonMachineDestroy()
 *  @return TENON_ERR_ARG         rounds is below 1, or space is not a memory space
 *  @return TENON_ERR_SUPPORT     there is no device
 *  @return TENON_ERR_STATE       Tenon is not initialised
 *  @return TENON_ERR_COLLECTIVE  the ranks passed different numbers or spaces
 */
TENON_EXTERN TenonErrorCode TenonMachineMeasure(MPI_Comm comm, TenonMemorySpace space, int rounds,
                                                TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Writes a description file of the machine. Collective for a machine of
 *         TenonMachineCreateFromComm() or TenonMachineMeasure(), otherwise not collective.
 *
 *  TenonMachineCreateFromFile() reads the file. An existing file of this name is replaced when the
 *  new file is complete.
 *
 *  @param[in] machine  machine
 *  @param[in] path     path of the file
 *  @return TENON_ERR_FILE  the file cannot be written */
TENON_EXTERN TenonErrorCode TenonMachineSave(TenonMachine machine, const char* path) TENON_NOEXCEPT;

/** @brief Returns the numbers of levels, links and devices. Not collective.
 *  @param[in]  machine  machine
 *  @param[out] levels   number of levels. May be NULL, in which case it is not returned.
 *  @param[out] links    number of links. May be NULL, in which case it is not returned.
 *  @param[out] devices  number of devices. May be NULL, in which case it is not returned. */
TENON_EXTERN TenonErrorCode TenonMachineGetCounts(TenonMachine machine, int* levels, int* links,
                                                  TenonInt* devices) TENON_NOEXCEPT;

/** @brief Returns name and size of a level. Not collective.
 *  @param[in]  machine  machine
 *  @param[in]  level    index of the level, counted from 0, the outermost
 *  @param[out] name     [length] name. May be NULL, in which case only needed and size are
 *                       returned.
 *  @param[in]  length   size of the buffer in characters
 *  @param[out] needed   size that the name needs. May be NULL, in which case it is not returned.
 *  @param[out] size     number of units in one unit of the level above. May be NULL, in which case
 *                       it is not returned.
 *  @return TENON_ERR_ARG  there is no such level, or the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonMachineGetLevel(TenonMachine machine, int level, char name[],
                                                 TenonInt length, TenonInt* needed,
                                                 TenonInt* size) TENON_NOEXCEPT;

/** @brief Returns the ranks of the devices, or the cores of this computer. Not collective.
 *  @param[in]  machine  machine
 *  @param[out] ranks    [devices] rank or core of each device; i for device i if the machine was
 *                       described by a file or by calls */
TENON_EXTERN TenonErrorCode TenonMachineGetRanks(TenonMachine machine,
                                                 TenonInt ranks[]) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] machine  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonMachineDestroy(TenonMachine* machine) TENON_NOEXCEPT;

#endif
