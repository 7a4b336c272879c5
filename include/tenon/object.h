/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief What all objects have in common: class, name, options prefix, references.
 *
 *  A handle of any class may be passed here as a TenonObject: TenonObjectSetName((TenonObject)x,
 *  "velocity"). Handles are counted references: each Create, each Get of a handle and each Retain
 *  gives one, which a Destroy of the class gives back. Nothing here is collective.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone.
 */
#ifndef TENON_OBJECT_H
#define TENON_OBJECT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** Any handle. */
typedef struct TenonObject_s* TenonObject;

/** @brief Names an object, for messages, views and the report at TenonFinalize().
 *  @param[in] name  copied; NULL or "" for none */
TENON_EXTERN TenonErrorCode TenonObjectSetName(TenonObject object, const char* name) TENON_NOEXCEPT;

/** @brief The object's name; "" if it has none.
 *
 *  @param[out] name      ends with 0
 *  @param[in]  capacity  size of the buffer in characters
 *  @return also TENON_ERR_ARG if the name does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonObjectGetName(TenonObject object, char* name,
                                               int capacity) TENON_NOEXCEPT;

/** @brief Sets the prefix of the object's options: with "conv1_" it reads -tenon_conv1_backend
 *         before -tenon_backend.
 *  @param[in] prefix  copied; NULL or "" for none */
TENON_EXTERN TenonErrorCode TenonObjectSetOptionsPrefix(TenonObject object,
                                                        const char* prefix) TENON_NOEXCEPT;

/** @brief The prefix of the object's options. As TenonObjectGetName(). */
TENON_EXTERN TenonErrorCode TenonObjectGetOptionsPrefix(TenonObject object, char* prefix,
                                                        int capacity) TENON_NOEXCEPT;

/** @brief The object's class: "Partition", "Layout", "DTensor", ... As TenonObjectGetName(). */
TENON_EXTERN TenonErrorCode TenonObjectGetClass(TenonObject object, char* text,
                                                int capacity) TENON_NOEXCEPT;

/** @brief The communicator on which an object works.
 *
 *  It is the library's own duplicate of the communicator that the object was made with: it has the
 *  same ranks in the same order, and all objects made with one communicator have the same. It is
 *  valid while the object lives. Do not free it, and send no messages on it, which could meet those
 *  of the library: for messages of your own, duplicate it with MPI_Comm_dup().
 *
 *  @param[in]  object  partition, layout, tensor, operator, layer, optimizer, dataset or machine of a job
 *  @param[out] comm    the duplicate
 *  @return TENON_ERR_SUPPORT for an object without a communicator, such as a described machine or a
 *          placement list
 */
TENON_EXTERN TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief Adds a reference: the object then outlives one more Destroy. */
TENON_EXTERN TenonErrorCode TenonObjectRetain(TenonObject object) TENON_NOEXCEPT;

/** @brief How many references there are, the library's own included. */
TENON_EXTERN TenonErrorCode TenonObjectGetReferences(TenonObject object,
                                                     int* references) TENON_NOEXCEPT;

#endif
