/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Machines that a program describes by calls, and the links of any machine.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  The calls of tenon/machine.h make machines from a description file or from the processes of a
 *  job.
 *
 *  A machine consists of nested levels, such as node and core. The parts of a level are its units;
 *  a unit of the innermost level is a device. A link is a resource through which devices
 *  communicate, such as a network adapter. It has one instance for each group of neighbouring units
 *  of a level. The devices of these units are below the instance and share its bandwidth. When a
 *  group of devices communicates, the rule of the link decides which instances the group loads,
 *  that is, which bandwidths limit it. For example, 2 nodes of 4 cores with one network adapter per
 *  node, which a group loads if it has devices on both nodes:
 *
 *      const char* names[2] = {"node", "core"};
 *      const TenonInt sizes[2] = {2, 4};
 *      TenonMachineCreate("cluster", 2, names, sizes, &machine);
 *      TenonMachineAddLink(machine, "adapter", 0, 1, 25e9, 2e-6, TENON_LINK_LEAVING);
 */
#ifndef TENON_EXT_MACHINE_H
#define TENON_EXT_MACHINE_H

#include <tenon/machine.h>

/** @brief The groups of communicating devices that load an instance of a link.
 *
 *  Some devices are below the instance: those of the neighbouring units that share it.
 */
typedef enum TenonLinkRule TENON_ENUM_INT {
  TENON_LINK_TOUCHING = 0, /**< groups with a device below it, as for a bus */
  TENON_LINK_FILLING = 1,  /**< groups with all devices below it, as for a switch */
  TENON_LINK_LEAVING = 2,  /**< groups with devices below it and elsewhere */
  TENON_LINK_RULE_MAX_ = 0x7fff
} TenonLinkRule;

/** @brief Creates a machine of given levels, without links. Not collective.
 *  @param[in]  name     name for messages and TenonObjectView()
 *  @param[in]  levels   number of levels; must be >= 1
 *  @param[in]  names    [levels] names of the levels, the outermost first; each different
 *  @param[in]  sizes    [levels] number of units in one unit of the level above; must be >= 1
 *  @param[out] machine  new machine; destroy it with TenonMachineDestroy()
 *  @return TENON_ERR_ARG  a size is below 1, there are more than 2^40 devices, or a name is empty
 *                         or repeated
 */
TENON_EXTERN TenonErrorCode TenonMachineCreate(const char* name, int levels,
                                               const char* const names[], const TenonInt sizes[],
                                               TenonMachine* machine) TENON_NOEXCEPT;

/** @brief Adds a link to the machine. Not collective.
 *
 *  The link has one instance for each group of neighbouring units of a level. If the call fails,
 *  the machine is unchanged.
 *
 *  @param[in] machine    machine
 *  @param[in] name       name, different from those of the other links
 *  @param[in] level      level of the units, counted from 0
 *  @param[in] units      number of neighbouring units that share an instance; must divide the size
 *                        of the level
 *  @param[in] bandwidth  bandwidth in bytes per second and direction; must be > 0
 *  @param[in] latency    latency in seconds of each step that uses the link; must be >= 0
 *  @param[in] rule       groups of devices that load an instance of the link; description files
 *                        have more rules (doc/machines.md)
 *  @return TENON_ERR_ARG  an argument is out of range
 */
TENON_EXTERN TenonErrorCode TenonMachineAddLink(TenonMachine machine, const char* name, int level,
                                                TenonInt units, double bandwidth, double latency,
                                                TenonLinkRule rule) TENON_NOEXCEPT;

/** @brief Returns name, level and rates of a link. Not collective.
 *  @param[in]  machine    machine
 *  @param[in]  link       index of the link, counted from 0
 *  @param[out] name       [length] name. May be NULL, in which case only the others are returned.
 *  @param[in]  length     size of the buffer in characters
 *  @param[out] needed     size that the name needs. May be NULL, in which case it is not returned.
 *  @param[out] level      level whose units share an instance. May be NULL, in which case it is not
 *                         returned.
 *  @param[out] units      number of units that share an instance. May be NULL, in which case it is
 *                         not returned.
 *  @param[out] bandwidth  bandwidth in bytes per second and direction. May be NULL, in which case
 *                         it is not returned.
 *  @param[out] latency    latency in seconds. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  there is no such link, or the name does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonMachineGetLink(TenonMachine machine, int link, char name[],
                                                TenonInt length, TenonInt* needed, int* level,
                                                TenonInt* units, double* bandwidth,
                                                double* latency) TENON_NOEXCEPT;

#endif
