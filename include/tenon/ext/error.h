/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Errors of user-defined operators and layers, and of interfaces for other languages.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  tenon.h does not include this header.
 */
#ifndef TENON_EXT_ERROR_H
#define TENON_EXT_ERROR_H

#include <tenon/error.h>

/** @brief Records an error and passes it to the error handler, as Tenon's calls do. Not collective.
 *
 *  For a function that Tenon calls, or one that wraps calls of Tenon: its error then has a
 *  message, and TenonCall() adds the callers. A code without this call is reported as "user
 *  function returned an error".
 *
 *  @param[in] code      error code other than TENON_SUCCESS
 *  @param[in] message   what was passed, what was expected and what to change; copied
 *  @param[in] function  name of the function that found the error
 *  @param[in] file      source file
 *  @param[in] line      line
 *  @return code
 *  @return TENON_ERR_ARG   code is TENON_SUCCESS
 *  @return TENON_ERR_NULL  message or function is NULL
 */
TENON_EXTERN TenonErrorCode TenonRaiseError(TenonErrorCode code, const char* message,
                                            const char* function, const char* file,
                                            int line) TENON_NOEXCEPT;

/** @brief Sets a line that printed errors about dimensions have below their text. Not collective.
 *
 *  For an interface of a language that counts dimensions and indices otherwise than C, in which
 *  Tenon's messages are. Errors of TenonRaiseError() without a file, the interface's own, are
 *  printed without the line.
 *
 *  @param[in] note  the line; copied. May be NULL, in which case there is none.
 */
TENON_EXTERN TenonErrorCode TenonSetDimensionNote(const char* note) TENON_NOEXCEPT;

#endif
