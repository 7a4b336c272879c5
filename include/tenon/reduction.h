/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlacementList and TenonReductionPrograms: where the processes of a job may stand on a
 *         hierarchical system, and in which steps they may sum.
 *
 *  A system has levels, the outermost first: {4, 16} is four nodes of sixteen devices. A job has axes
 *  of parallelism: {8, 2, 4} is eight replicas of two by four. A placement is a matrix of integers,
 *  one row for each axis and one column for each level, that says into how many parts each level
 *  splits each axis: rows multiply to the axes, columns to the levels. Devices are numbered level by
 *  level, the outermost slowest, and within a level axis by axis, axis 0 slowest.
 *
 *  A reduction program sums over some axes in several steps, each a collective of groups of devices:
 *  "(1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1, InsideGroup, AllGather)". Levels
 *  are those of the reduction: on each level of the system the factors of the axes that are summed
 *  over are multiplied, and levels of 1 are left out; level 0 is all of them together. (i,
 *  InsideGroup) forms groups within each instance of level i; (i, Parallel(e)) groups of those that
 *  have the same place in their instances of level i, within each instance of level e; (i, Master(e))
 *  of these only the first.
 *
 *  All calls may be made before TenonInitialize(), and none is collective. They return
 *  TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle whose object is gone
 *  or of another class.
 */
#ifndef TENON_REDUCTION_H
#define TENON_REDUCTION_H

#include <tenon/error.h>
#include <tenon/types.h>

/** The collective of a step. */
typedef enum TenonCollective TENON_ENUM_INT {
  TENON_COLLECTIVE_ALL_GATHER = 0,     /**< all get the chunks of all */
  TENON_COLLECTIVE_REDUCE_SCATTER = 1, /**< each gets a share of the sum */
  TENON_COLLECTIVE_ALL_REDUCE = 2,     /**< all get the sum */
  TENON_COLLECTIVE_BROADCAST = 3,      /**< all get what the first has */
  TENON_COLLECTIVE_REDUCE = 4,         /**< the first gets the sum */
  TENON_COLLECTIVE_MAX_ = 0x7fff
} TenonCollective;

/** How an AllReduce travels. */
typedef enum TenonReductionAlgorithm TENON_ENUM_INT {
  TENON_REDUCTION_RING = 0, /**< around a ring of its devices */
  TENON_REDUCTION_TREE = 1, /**< up and down a double binary tree */
  TENON_REDUCTION_ALGORITHM_MAX_ = 0x7fff
} TenonReductionAlgorithm;

/** @brief All placements of the axes on the system, in lexicographic order of their matrices, row by
 *         row. Not collective.
 *
 *  @param[in]  levels  number of levels, at least 1
 *  @param[in]  system  [levels] devices, or groups of them, of each level in one of the level above
 *  @param[in]  axes    number of axes, at least 1
 *  @param[in]  sizes   [axes] processes along each axis
 *  @param[out] list    to be given back with TenonPlacementListDestroy()
 *  @return TENON_ERR_ARG if a size is below 1, the devices are more than an int can count or the
 *          placements more than 100000; TENON_ERR_SHAPE if there is no placement, which is so if and
 *          only if the axes' product is not the number of devices
 */
TENON_EXTERN TenonErrorCode TenonPlacementListCreate(int levels, const TenonInt system[], int axes,
                                                     const TenonInt sizes[],
                                                     TenonPlacementList* list) TENON_NOEXCEPT;

/** @brief The number of placements, at least 1. Not collective. */
TENON_EXTERN TenonErrorCode TenonPlacementListGetCount(TenonPlacementList list,
                                                       TenonInt* count) TENON_NOEXCEPT;

/** @brief The matrix of a placement. Not collective.
 *
 *  @param[in]  list    list
 *  @param[in]  index   of the placement, from 0
 *  @param[out] matrix  [axes * levels] factors, axis by axis
 *  @return TENON_ERR_ARG if there is no such placement
 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetMatrix(TenonPlacementList list, TenonInt index,
                                                        TenonInt matrix[]) TENON_NOEXCEPT;

/** @brief The coordinates of a device's process. Not collective.
 *
 *  @param[in]  list         list
 *  @param[in]  index        of the placement, from 0
 *  @param[in]  device       from 0
 *  @param[out] coordinates  [axes] from 0
 *  @return TENON_ERR_ARG if there is no such placement or device
 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetCoordinates(TenonPlacementList list,
                                                             TenonInt index, TenonInt device,
                                                             TenonInt coordinates[]) TENON_NOEXCEPT;

/** @brief The device of the process with the given coordinates. Not collective.
 *
 *  @param[in]  list         list
 *  @param[in]  index        of the placement, from 0
 *  @param[in]  coordinates  [axes] from 0
 *  @param[out] device       from 0
 *  @return TENON_ERR_ARG if there is no such placement or process
 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetDevice(TenonPlacementList list, TenonInt index,
                                                        const TenonInt coordinates[],
                                                        TenonInt* device) TENON_NOEXCEPT;

/** @brief The levels of a reduction over some axes of a placement. Not collective.
 *
 *  @param[in]  list       list
 *  @param[in]  index      of the placement, from 0
 *  @param[in]  axes       number of axes to reduce over
 *  @param[in]  reduce     [axes] each once, in any order
 *  @param[out] levels     number of levels, at most those of the system; 0: there is nothing to do
 *  @param[out] hierarchy  [levels of the system] of which the first `levels` are set; each above 1
 *  @return TENON_ERR_ARG if there is no such placement or axis, or an axis is named twice
 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetHierarchy(TenonPlacementList list, TenonInt index,
                                                           int axes, const int reduce[],
                                                           int* levels,
                                                           TenonInt hierarchy[]) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonPlacementListDestroy(TenonPlacementList* list) TENON_NOEXCEPT;

/** @brief All programs of up to `sizeLimit` steps that sum over some axes of a placement.
 *         Not collective.
 *
 *  They are counted from 0, the shorter before the longer; programs that form the same groups step
 *  by step are one. The first is the single AllReduce. Their number depends on the number of levels
 *  of the reduction alone: with up to 5 steps 0, 3, 47, 825 and 3967 for 0 to 4 levels.
 *
 *  @param[in]  list       whose reference may be given back afterwards
 *  @param[in]  index      of the placement, from 0
 *  @param[in]  axes       number of axes to reduce over
 *  @param[in]  reduce     [axes] each once, in any order
 *  @param[in]  sizeLimit  at least 1; twice the number of levels gives all programs there are
 *  @param[out] programs   to be given back with TenonReductionProgramsDestroy()
 *  @return TENON_ERR_ARG if there is no such placement or axis, an axis is named twice, the limit is
 *          below 1, or there is too much to look at, which is said
 */
TENON_EXTERN TenonErrorCode
TenonReductionProgramsCreate(TenonPlacementList list, TenonInt index, int axes, const int reduce[],
                             int sizeLimit, TenonReductionPrograms* programs) TENON_NOEXCEPT;

/** @brief The number of programs. Not collective. */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetCount(TenonReductionPrograms programs,
                                                           TenonInt* count) TENON_NOEXCEPT;

/** @brief The number of programs of exactly `size` steps; 0 outside 1 to the limit.
 *         Not collective. */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetCountOfSize(TenonReductionPrograms programs,
                                                                 int size,
                                                                 TenonInt* count) TENON_NOEXCEPT;

/** @brief The number of steps of a program. Not collective.
 *
 *  @param[in]  programs  programs
 *  @param[in]  index     from 0
 *  @param[out] steps     at least 1
 *  @return TENON_ERR_ARG if there is no such program
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetSize(TenonReductionPrograms programs,
                                                          TenonInt index,
                                                          int* steps) TENON_NOEXCEPT;

/** @brief A program in the notation shown at the top. Not collective.
 *
 *  @param[in]  programs  programs
 *  @param[in]  index     from 0
 *  @param[out] text      ends with 0
 *  @param[in]  capacity  size of the buffer in characters; 64 for each step are enough
 *  @return TENON_ERR_ARG if there is no such program, or the text does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetText(TenonReductionPrograms programs,
                                                          TenonInt index, char* text,
                                                          int capacity) TENON_NOEXCEPT;

/** @brief What a step does. Not collective.
 *
 *  @param[in]  programs    programs
 *  @param[in]  index       of the program, from 0
 *  @param[in]  step        from 0
 *  @param[out] collective  that all groups carry out
 *  @param[out] groups      number of groups
 *  @param[out] members     number of devices in each, at least 2
 *  @return TENON_ERR_ARG if there is no such program or step
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetStep(TenonReductionPrograms programs,
                                                          TenonInt index, int step,
                                                          TenonCollective* collective, int* groups,
                                                          int* members) TENON_NOEXCEPT;

/** @brief The devices of a step's groups, as the placement numbers them. Not collective.
 *
 *  @param[in]  programs  programs
 *  @param[in]  index     of the program, from 0
 *  @param[in]  step      from 0
 *  @param[out] devices   [groups * members] group by group; the first of each is its root
 *  @return TENON_ERR_ARG if there is no such program or step
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetGroups(TenonReductionPrograms programs,
                                                            TenonInt index, int step,
                                                            int devices[]) TENON_NOEXCEPT;

/** @brief How long each program takes on a machine, by the model of links: a step takes as long as
 *         its busiest link, and its rounds of latency. Not collective.
 *
 *  @param[in]  programs   programs
 *  @param[in]  machine    of the same levels as the system that the placement is on
 *  @param[in]  algorithm  of every AllReduce
 *  @param[in]  bytes      that are summed on each device, 0 or more
 *  @param[out] seconds    [number of programs] by program
 *  @return TENON_ERR_SHAPE if the machine has other levels; TENON_ERR_ARG if there is no such
 *          algorithm, or bytes is below 0 or not finite
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsPredict(TenonReductionPrograms programs,
                                                          TenonMachine machine,
                                                          TenonReductionAlgorithm algorithm,
                                                          double bytes,
                                                          double seconds[]) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonReductionProgramsDestroy(TenonReductionPrograms* programs)
    TENON_NOEXCEPT;

#endif
