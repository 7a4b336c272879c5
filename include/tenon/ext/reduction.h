/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlacementList and TenonReductionPrograms: the placement of a job on a hierarchical
 *         system, and multi-step reductions across it.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A system has levels, the outermost first: {4, 16} is four nodes of sixteen devices. A job has
 *  axes of parallelism: {8, 2, 4} is eight replicas of two by four. A placement is a matrix of
 *  integers, one row per axis and one column per level. Each entry is the number of parts into
 *  which the level splits the axis, so the product of a row is the size of its axis, and the
 *  product of a column is the size of its level. Devices are numbered level by level, the outermost
 *  slowest, and within a level axis by axis, axis 0 slowest.
 *
 *  A reduction program sums over some axes in several steps, each a collective of groups of
 *  devices, for example
 *
 *      (1, InsideGroup, ReduceScatter), (1, Parallel(0), AllReduce), (1, InsideGroup, AllGather)
 *
 *  A program refers to the levels of the reduction, not of the system: on each level of the system
 *  the factors of the reduced axes are multiplied, and levels of size 1 are left out. Level 0 is
 *  the whole system, and levels 1, 2, ... are these levels, the outermost first.
 *
 *  | form             | groups of the step                                                   |
 *  | ---------------- | -------------------------------------------------------------------- |
 *  | (i, InsideGroup) | all devices within one instance of level i                           |
 *  | (i, Parallel(e)) | devices with equal positions in their instances of level i, for all  |
 *  |                  | such instances within one instance of level e                        |
 *  | (i, Master(e))   | of the groups of (i, Parallel(e)), only that of the first positions  |
 *
 *  All calls can be made before TenonInitialize(). They return TENON_ERR_NULL if a required handle
 *  or pointer is NULL, and TENON_ERR_HANDLE if a handle is not valid or is of another class.
 *  tenon.h does not include this header.
 */
#ifndef TENON_EXT_REDUCTION_H
#define TENON_EXT_REDUCTION_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Collective of a step of a reduction program. */
typedef enum TenonCollective TENON_ENUM_INT {
  TENON_COLLECTIVE_ALL_GATHER = 0,     /**< all devices get the blocks of all devices */
  TENON_COLLECTIVE_REDUCE_SCATTER = 1, /**< each device gets one block of the sum */
  TENON_COLLECTIVE_ALL_REDUCE = 2,     /**< all devices get the sum */
  TENON_COLLECTIVE_BROADCAST = 3,      /**< all devices get the data of the first */
  TENON_COLLECTIVE_REDUCE = 4,         /**< the first device gets the sum */
  TENON_COLLECTIVE_MAX_ = 0x7fff
} TenonCollective;

/** @brief How the groups of a step communicate: by an algorithm of other libraries (ring, tree), or
 *         as Tenon executes programs (direct). */
typedef enum TenonReductionAlgorithm TENON_ENUM_INT {
  TENON_REDUCTION_RING = 0,   /**< ring of the devices */
  TENON_REDUCTION_TREE = 1,   /**< double binary tree, up and down */
  TENON_REDUCTION_DIRECT = 2, /**< each device sends to each other device, as in conversions */
  TENON_REDUCTION_ALGORITHM_MAX_ = 0x7fff
} TenonReductionAlgorithm;

/** @brief Lists all placements of the axes on the system. Not collective.
 *
 *  Placements are in lexicographic order of their matrices, row by row.
 *
 *  @param[in]  levels  number of levels; must be >= 1
 *  @param[in]  system  [levels] size of each level: number of its units in one unit of the level
 *                      above; must be >= 1
 *  @param[in]  axes    number of axes; must be >= 1
 *  @param[in]  sizes   [axes] number of processes along each axis; must be >= 1
 *  @param[out] list    new list; destroy it with TenonPlacementListDestroy()
 *  @return TENON_ERR_ARG    a number is out of range, the number of devices exceeds the range of
 *                           int, or there are more than 100000 placements
 *  @return TENON_ERR_SHAPE  the product of the axes is not the number of devices, so there is no
 *                           placement
 */
TENON_EXTERN TenonErrorCode TenonPlacementListCreate(int levels, const TenonInt system[], int axes,
                                                     const TenonInt sizes[],
                                                     TenonPlacementList* list) TENON_NOEXCEPT;

/** @brief Returns the number of placements. Not collective.
 *  @param[in]  list   list of placements
 *  @param[out] count  number of placements, >= 1 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetCount(TenonPlacementList list,
                                                       TenonInt* count) TENON_NOEXCEPT;

/** @brief Returns the matrix of a placement. Not collective.
 *  @param[in]  list    list of placements
 *  @param[in]  index   index of the placement, counted from 0
 *  @param[out] matrix  [axes * levels] matrix, row by row
 *  @return TENON_ERR_ARG  there is no such placement */
TENON_EXTERN TenonErrorCode TenonPlacementListGetMatrix(TenonPlacementList list, TenonInt index,
                                                        TenonInt matrix[]) TENON_NOEXCEPT;

/** @brief Returns the levels of a reduction over some axes. Not collective.
 *  @param[in]  list       list of placements
 *  @param[in]  index      index of the placement, counted from 0
 *  @param[in]  axes       number of axes to reduce over
 *  @param[in]  reduce     [axes] axes to reduce over, each once, in any order
 *  @param[out] levels     number of levels, at most the number of levels of the system; 0 if all
 *                         axes have size 1
 *  @param[out] hierarchy  [levels of the system] sizes of the levels, each > 1; only the first
 *                         `levels` entries are set
 *  @return TENON_ERR_ARG  there is no such placement or axis, or an axis is repeated
 */
TENON_EXTERN TenonErrorCode TenonPlacementListGetHierarchy(TenonPlacementList list, TenonInt index,
                                                           int axes, const int reduce[],
                                                           int* levels,
                                                           TenonInt hierarchy[]) TENON_NOEXCEPT;

/** @brief Adds a reduction of one step of the job, for which a placement is to be chosen. Not
 *         collective.
 *
 *  The placement that is fastest for reductions over one axis is often the slowest for reductions
 *  over another axis. Therefore the choice of a placement depends on all reductions and their
 *  bytes.
 *
 *  @param[in] list    list of placements
 *  @param[in] axes    number of axes to reduce over
 *  @param[in] reduce  [axes] axes to reduce over, each once, in any order
 *  @param[in] bytes   size in bytes of the data summed on each device; must be >= 0
 *  @return TENON_ERR_ARG  there is no such axis, an axis is repeated, or bytes is negative or not
 *                         finite
 */
TENON_EXTERN TenonErrorCode TenonPlacementListAddReduction(TenonPlacementList list, int axes,
                                                           const int reduce[],
                                                           double bytes) TENON_NOEXCEPT;

/** @brief Predicts how long all reductions that were added take on a machine, one after the other,
 *         for each placement, and returns the fastest placement. Not collective.
 *
 *  Each reduction uses the fastest of its programs. The command `tenon plan placements -reductions`
 *  prints the same times.
 *
 *  @param[in]  list       list of placements
 *  @param[in]  machine    machine with the levels of the system
 *  @param[in]  algorithm  how the groups of a step communicate
 *  @param[in]  sizeLimit  largest number of steps of a program; must be >= 1
 *  @param[out] seconds    [number of placements] time of each placement in seconds. May be NULL, in
 *                         which case only the fastest is returned.
 *  @param[out] best       index of the fastest placement; of equally fast ones the first
 *  @return TENON_ERR_STATE  no reductions were added
 *  @return TENON_ERR_SHAPE  the machine has other levels
 *  @return TENON_ERR_ARG    there is no such algorithm, or the limit is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlacementListPredict(TenonPlacementList list, TenonMachine machine,
                                                      TenonReductionAlgorithm algorithm,
                                                      int sizeLimit, double seconds[],
                                                      TenonInt* best) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] list  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonPlacementListDestroy(TenonPlacementList* list) TENON_NOEXCEPT;

/** @brief Lists all programs of limited size that reduce over some axes. Not collective.
 *
 *  Programs are ordered by size; of programs that form the same groups in each step only one is
 *  listed. The first program is the single AllReduce. The number of programs depends only on the
 *  number of levels of the reduction: with up to 5 steps it is 0, 3, 47, 825 and 3967 for 0 to 4
 *  levels.
 *
 *  @param[in]  list       list of placements; can be destroyed afterwards
 *  @param[in]  index      index of the placement, counted from 0
 *  @param[in]  axes       number of axes to reduce over
 *  @param[in]  reduce     [axes] axes to reduce over, each once, in any order
 *  @param[in]  sizeLimit  largest number of steps; must be >= 1; twice the number of levels gives
 *                         all programs
 *  @param[out] programs   new list; destroy it with TenonReductionProgramsDestroy()
 *  @return TENON_ERR_ARG  there is no such placement or axis, an axis is repeated, the limit is
 *                         below 1, or the search is too large, as the message says
 */
TENON_EXTERN TenonErrorCode
TenonReductionProgramsCreate(TenonPlacementList list, TenonInt index, int axes, const int reduce[],
                             int sizeLimit, TenonReductionPrograms* programs) TENON_NOEXCEPT;

/** @brief Returns the number of programs. Not collective.
 *  @param[in]  programs  list of programs
 *  @param[out] count     number of programs */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetCount(TenonReductionPrograms programs,
                                                           TenonInt* count) TENON_NOEXCEPT;

/** @brief Returns the number of steps of a program. Not collective.
 *  @param[in]  programs  list of programs
 *  @param[in]  index     index of the program, counted from 0
 *  @param[out] steps     number of steps, >= 1
 *  @return TENON_ERR_ARG  there is no such program */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetSize(TenonReductionPrograms programs,
                                                          TenonInt index,
                                                          int* steps) TENON_NOEXCEPT;

/** @brief Returns a program in the notation at the top of this file. Not collective.
 *  @param[in]  programs  list of programs
 *  @param[in]  index     index of the program, counted from 0
 *  @param[out] text      [length] program. May be NULL, in which case only needed is returned.
 *  @param[in]  length    size of the buffer in characters
 *  @param[out] needed    size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  there is no such program, or the text does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonReductionProgramsGetText(TenonReductionPrograms programs,
                                                          TenonInt index, char text[],
                                                          TenonInt length,
                                                          TenonInt* needed) TENON_NOEXCEPT;

/** @brief Predicts the time of each program on a machine. Not collective.
 *
 *  With a ring or a tree a step takes as long as its most loaded link, plus the latency of its
 *  rounds. TENON_REDUCTION_DIRECT is the price by which a conversion chooses its program, and
 *  TenonPlan its placements.
 *
 *  @param[in]  programs   list of programs
 *  @param[in]  machine    machine with the levels of the system of the placement
 *  @param[in]  algorithm  how the groups of a step communicate
 *  @param[in]  bytes      size in bytes of the data summed on each device; must be >= 0
 *  @param[out] seconds    [number of programs] time of each program in seconds
 *  @return TENON_ERR_SHAPE  the machine has other levels
 *  @return TENON_ERR_ARG    there is no such algorithm, or bytes is negative or not finite
 */
TENON_EXTERN TenonErrorCode TenonReductionProgramsPredict(TenonReductionPrograms programs,
                                                          TenonMachine machine,
                                                          TenonReductionAlgorithm algorithm,
                                                          double bytes,
                                                          double seconds[]) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] programs  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonReductionProgramsDestroy(TenonReductionPrograms* programs)
    TENON_NOEXCEPT;

#endif
