/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Properties common to all objects: class, name, options prefix and references.
 *
 *  A handle of any class can be passed as a TenonObject: TenonObjectSetName((TenonObject)x,
 *  "velocity"). Handles are counted references: each call that creates or returns a handle, and
 *  TenonObjectRetain(), adds a reference, which the destroy call of the class releases. No call in
 *  this file is collective.
 *
 *  All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and TENON_ERR_HANDLE if
 *  the handle is not valid.
 */
#ifndef TENON_OBJECT_H
#define TENON_OBJECT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Handle of any class. */
typedef struct TenonObject_s* TenonObject;

/** @brief Sets the name of an object, used in messages, views and reports. Not collective.
 *  @param[in] object  object of any class
 *  @param[in] name    name, in UTF-8 and without control characters; copied. May be NULL, in which
 *                     case the object has no name.
 *  @return TENON_ERR_ARG  the name has a control character or is not UTF-8 */
TENON_EXTERN TenonErrorCode TenonObjectSetName(TenonObject object, const char* name) TENON_NOEXCEPT;

/** @brief Returns the name of an object. Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] name    [length] name; "" if there is none. May be NULL, in which case only needed
 *                      is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetName(TenonObject object, char name[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Sets the prefix of the object's options. Not collective.
 *
 *  With prefix "conv1_" the object reads -tenon_conv1_backend before -tenon_backend.
 *
 *  @param[in] object  object of any class
 *  @param[in] prefix  prefix; copied. May be NULL, in which case there is none.
 *  @return TENON_ERR_ARG  the prefix has a control character or is not UTF-8
 */
TENON_EXTERN TenonErrorCode TenonObjectSetOptionsPrefix(TenonObject object,
                                                        const char* prefix) TENON_NOEXCEPT;

/** @brief Returns the prefix of the object's options. Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] prefix  [length] prefix; "" if there is none. May be NULL, in which case only needed
 *                      is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the prefix needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the prefix does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetOptionsPrefix(TenonObject object, char prefix[],
                                                        TenonInt length,
                                                        TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] name    [length] class name. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetClass(TenonObject object, char name[], TenonInt length,
                                                TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the communicator of an object. Not collective.
 *
 *  It is Tenon's duplicate of the communicator with which the object was created: it has the same
 *  ranks in the same order, and all objects created with one communicator share it. It is valid
 *  while the object exists.
 *
 *  @note Do not free it, and do not send messages on it, which could match those of Tenon:
 *        duplicate it with MPI_Comm_dup() for that.
 *
 *  @param[in]  object  process grid, layout, tensor, operator, layer, optimizer, dataset, or
 *                      machine of a job
 *  @param[out] comm    communicator
 *  @return TENON_ERR_SUPPORT  the object has no communicator, such as a described machine or a list
 *                             of placements
 */
TENON_EXTERN TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief Adds a reference, so that one more destroy call is needed. Not collective.
 *  @param[in] object  object of any class */
TENON_EXTERN TenonErrorCode TenonObjectRetain(TenonObject object) TENON_NOEXCEPT;

/** @brief Returns the number of references, Tenon's own included. Not collective.
 *  @param[in]  object      object of any class
 *  @param[out] references  number of references */
TENON_EXTERN TenonErrorCode TenonObjectGetReferences(TenonObject object,
                                                     int* references) TENON_NOEXCEPT;

#endif
