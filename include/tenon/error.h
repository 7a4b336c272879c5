/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Error codes of Tenon.
 */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include <tenon/export.h>

/** X(name, number, sentence): every error code once. 1-63 are mistakes in a call, after which the
 *  object is as it was; 64-126 are failing resources; 127 is a fault of Tenon itself. */
#define TENON_ERROR_TABLE(X)                                                                       \
  X(SUCCESS, 0, "no error")                                                                        \
  X(ERR_NULL, 1, "a required pointer or handle is NULL")                                           \
  X(ERR_HANDLE, 2, "not a live handle of the expected class")                                      \
  X(ERR_ARG, 3, "an argument is out of range")                                                     \
  X(ERR_STATE, 4, "the call comes too early or too late in the object's life")                     \
  X(ERR_SHAPE, 5, "shapes do not fit")                                                             \
  X(ERR_LAYOUT, 6, "layouts do not fit")                                                           \
  X(ERR_DATATYPE, 7, "data types do not fit")                                                      \
  X(ERR_TYPE, 8, "unknown type name")                                                              \
  X(ERR_SUPPORT, 9, "not supported in this combination")                                           \
  X(ERR_OPTION, 10, "unknown or malformed option")                                                 \
  X(ERR_COLLECTIVE, 11, "ranks disagree in a collective call")                                     \
  X(ERR_MEMORY, 64, "out of memory")                                                               \
  X(ERR_MPI, 65, "an MPI call failed")                                                             \
  X(ERR_FILE, 66, "a file cannot be opened, read or written")                                      \
  X(ERR_FORMAT, 67, "a file is truncated or of a foreign format")                                  \
  X(ERR_TIMEOUT, 68, "ranks did not arrive at a collective call")                                  \
  X(ERR_LIBRARY, 69, "a library that Tenon uses reported a failure")                               \
  X(ERR_INTERNAL, 127, "a fault inside Tenon; please report it")

/** What every call returns: TENON_SUCCESS or the kind of the failure. */
typedef enum TenonErrorCode {
#define TENON_ERROR_ENUM(name, number, sentence) TENON_##name = number,
  TENON_ERROR_TABLE(TENON_ERROR_ENUM)
#undef TENON_ERROR_ENUM
  TENON_ERROR_CODE_MAX_ = 0x7fff
} TenonErrorCode;

#endif
