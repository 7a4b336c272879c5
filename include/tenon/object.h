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

/** @brief Adds a reference: the object then outlives one more Destroy. */
TENON_EXTERN TenonErrorCode TenonObjectRetain(TenonObject object) TENON_NOEXCEPT;

/** @brief How many references there are, the library's own included. */
TENON_EXTERN TenonErrorCode TenonObjectGetReferences(TenonObject object,
                                                     int* references) TENON_NOEXCEPT;

#endif
