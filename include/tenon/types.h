/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Integer types, data types, memory spaces and handles.
 *
 *  This header is stable (doc/1.0.md).
 */
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include <tenon/export.h>

#include <stdint.h>

/** @brief Integer type of sizes and global indices. */
typedef int64_t TenonInt;

/** @brief Boolean: TENON_FALSE or TENON_TRUE. */
typedef int TenonBool;
enum { TENON_FALSE = 0, TENON_TRUE = 1 };

/** @brief Element type of a tensor. Integer tensors hold data (labels) and are not differentiated.
 *
 *  The last enumerator of each enumeration, ..._MAX_, only fixes its size; never pass it.
 */
typedef enum TenonDataType TENON_ENUM_INT {
  TENON_FLOAT32 = 0,
  TENON_FLOAT64 = 1,
  TENON_INT64 = 2,
  TENON_INT32 = 3, /**< Fortran's default integer, C's int */
  TENON_DATATYPE_MAX_ = 0x7fff
} TenonDataType;

/** @brief Memory space of a tensor's local array. */
typedef enum TenonMemorySpace TENON_ENUM_INT {
  TENON_MEMORY_HOST = 0,   /**< of the processor */
  TENON_MEMORY_DEVICE = 1, /**< of the CUDA device of this process */
  TENON_MEMORY_SPACE_MAX_ = 0x7fff
} TenonMemorySpace;

/** @name Handles: opaque and reference-counted */
/**@{*/
typedef struct TenonPartition_s* TenonPartition; /**< Cartesian process grid */
typedef struct TenonLayout_s* TenonLayout;       /**< distribution of a tensor */
typedef struct TenonIndexMap_s* TenonIndexMap;   /**< ids of nodes, and which nodes ghosts copy */
typedef struct TenonEdges_s* TenonEdges;         /**< edges of a mesh, between two sets of nodes */
typedef struct TenonLinks_s* TenonLinks;         /**< how the patches of a field are joined */
typedef struct TenonDTensor_s* TenonDTensor;     /**< distributed tensor */
typedef struct TenonLinearOp_s* TenonLinearOp;   /**< linear map between distributed tensors */
typedef struct TenonLayer_s* TenonLayer;         /**< differentiable map with parameters */
typedef struct TenonMachine_s* TenonMachine;     /**< levels of devices, and links between them */
typedef struct TenonOptimizer_s* TenonOptimizer; /**< updates the parameters of a layer */
typedef struct TenonDataset_s* TenonDataset;     /**< labelled samples in batches */
typedef struct TenonCheckpoint_s* TenonCheckpoint;       /**< state of a run in a file */
typedef struct TenonFieldSeries_s* TenonFieldSeries;     /**< fields over time, for ParaView */
typedef struct TenonPlacementList_s* TenonPlacementList; /**< placements of a job on a system */
typedef struct TenonReductionPrograms_s* TenonReductionPrograms; /**< multi-step reductions */
typedef struct TenonPlan_s* TenonPlan; /**< parallelisation of a network, layer by layer */
/**@}*/

#endif
