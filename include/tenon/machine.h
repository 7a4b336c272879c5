/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonMachine: levels of devices, as nodes of sockets of cores, and the links between them.
 *
 *  Level 0 is the outermost; a unit of the innermost level is a device. Devices are numbered with
 *  the innermost level fastest, so those of one node follow each other.
 *
 *  All calls return TENON_ERR_NULL or TENON_ERR_HANDLE for a NULL or dead handle. Only
 *  TenonMachineCreateFromComm() is collective; the others need neither MPI nor TenonInitialize().
 */
#ifndef TENON_MACHINE_H
#define TENON_MACHINE_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** Which groups of devices load a link when they communicate. */
typedef enum TenonLinkRule TENON_ENUM_INT {
  TENON_LINK_TOUCHING = 0, /**< those with some device below it */
  TENON_LINK_FILLING = 1,  /**< those that have all devices below it */
  TENON_LINK_LEAVING = 2,  /**< those with devices below it and elsewhere */
  TENON_LINK_RULE_MAX_ = 0x7fff
} TenonLinkRule;

/** @brief A machine of given levels, without links. Not collective.
 *
 *  @param[in]  name     what messages and TenonMachineView() call it
 *  @param[in]  levels   number of levels, at least 1
 *  @param[in]  names    [levels] from the outermost, each once
 *  @param[in]  sizes    [levels] units within one unit of the level above, each at least 1
 *  @param[out] machine  to be given back with TenonMachineDestroy()
 *  @return TENON_ERR_ARG if a size is below 1, the devices are more than 2^40, or a name is empty or
 *          stands twice
 */
TENON_EXTERN TenonErrorCode TenonMachineCreate(const char* name, int levels,
                                               const char* const names[], const TenonInt sizes[],
                                               TenonMachine* machine) TENON_NOEXCEPT;

/** @brief A machine as a file describes it. Not collective.
 *
 *  @param[in]  nameOrPath  a path, which has a slash or ends with .json; or the name of a description
 *                          in the folder -tenon_machine_path or in the library's own: a100x16,
 *                          v100x8, cpu2s, cluster4
 *  @param[in]  nodes       size of the level 'node'; 0 for that of the file
 *  @param[out] machine     to be given back with TenonMachineDestroy()
 *  @return TENON_ERR_FILE if there is no such file; TENON_ERR_FORMAT, naming file, byte and key, if
 *          it is not a description; TENON_ERR_ARG if nodes is below 0, or the file has no such level
 */
TENON_EXTERN TenonErrorCode TenonMachineCreateFromFile(const char* nameOrPath, TenonInt nodes,
                                                       TenonMachine* machine) TENON_NOEXCEPT;

/** @brief This computer and its cores, as hwloc sees them, without links. Not collective.
 *  @param[out] machine  to be given back with TenonMachineDestroy()
 *  @return TENON_ERR_LIBRARY if hwloc fails */
TENON_EXTERN TenonErrorCode TenonMachineCreateLocal(TenonMachine* machine) TENON_NOEXCEPT;

/** @brief The machine that a job runs on; its devices are the ranks. Collective on `comm`.
 *
 *  With -tenon_machine_file it is that of the file, resized to as many nodes as the ranks fill.
 *  Otherwise the levels are where the ranks stand: nodes, packages, NUMA nodes, caches and cores, as
 *  far as each rank is bound to one and all units hold equally many ranks; what is left out is said
 *  by TenonMachineView(). Its links have assumed rates: -tenon_machine_latency and
 *  -tenon_machine_bandwidth.
 *
 *  @param[in]  comm     any communicator of the caller's
 *  @param[out] machine  to be given back with TenonMachineDestroy()
 *  @return on all ranks the errors of TenonMachineCreateFromFile(); TENON_ERR_ARG if the file's
 *          machine does not fit the number of ranks; TENON_ERR_STATE if Tenon is not initialised
 */
TENON_EXTERN TenonErrorCode TenonMachineCreateFromComm(MPI_Comm comm,
                                                       TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Adds a link, one instance of it for every few neighbouring units of a level.
 *         Not collective.
 *
 *  @param[in] name       of its own
 *  @param[in] level      from 0
 *  @param[in] units      how many neighbouring units share an instance: a divisor of the level's size
 *  @param[in] bandwidth  bytes a second in each direction, above 0
 *  @param[in] latency    seconds for each step that uses it, 0 or more
 *  @param[in] rule       which groups load it; descriptions in files have more rules
 *  @return TENON_ERR_ARG for anything else; the machine is then as before
 */
TENON_EXTERN TenonErrorCode TenonMachineAddLink(TenonMachine machine, const char* name, int level,
                                                TenonInt units, double bandwidth, double latency,
                                                TenonLinkRule rule) TENON_NOEXCEPT;

/** @brief The number of levels, links and devices. Not collective. Each address may be NULL. */
TENON_EXTERN TenonErrorCode TenonMachineGetCounts(TenonMachine machine, int* levels, int* links,
                                                  TenonInt* devices) TENON_NOEXCEPT;

/** @brief A level. Not collective. Each address may be NULL.
 *
 *  @param[in]  level  from 0, the outermost
 *  @param[out] name   lives as long as the machine
 *  @param[out] size   units within one unit of the level above
 *  @return TENON_ERR_ARG if there is no such level
 */
TENON_EXTERN TenonErrorCode TenonMachineGetLevel(TenonMachine machine, int level, const char** name,
                                                 TenonInt* size) TENON_NOEXCEPT;

/** @brief A link, as TenonMachineAddLink() takes it. Not collective. Each address may be NULL.
 *
 *  @param[in]  link       from 0
 *  @param[out] name       lives until a link is added
 *  @param[out] level      whose units share an instance
 *  @param[out] units      how many of them share one
 *  @param[out] bandwidth  bytes a second in each direction
 *  @param[out] latency    seconds
 *  @return TENON_ERR_ARG if there is no such link
 */
TENON_EXTERN TenonErrorCode TenonMachineGetLink(TenonMachine machine, int link, const char** name,
                                                int* level, TenonInt* units, double* bandwidth,
                                                double* latency) TENON_NOEXCEPT;

/** @brief Which ranks, or which cores of this computer, the devices are. Not collective.
 *  @param[out] ranks  [devices] by device; that of device i is i where a file or the caller says what
 *                     the machine is */
TENON_EXTERN TenonErrorCode TenonMachineGetRanks(TenonMachine machine,
                                                 TenonInt ranks[]) TENON_NOEXCEPT;

/** @brief Draws the machine: levels, links, and what discovery left out. Not collective; prints on
 *         rank 0 of the job's communicator, or wherever it is called if the machine has none. */
TENON_EXTERN TenonErrorCode TenonMachineView(TenonMachine machine) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonMachineDestroy(TenonMachine* machine) TENON_NOEXCEPT;

#endif
