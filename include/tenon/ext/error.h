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
 *  For user functions, and for functions that wrap calls of Tenon: the error then has a message,
 *  and TenonCall() adds the callers. If a user function returns an error code without this call,
 *  the message is "user function returned an error".
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

/** @brief Sets a line that is printed below errors about dimensions. Not collective.
 *
 *  For an interface to a language that counts dimensions and indices differently than C: the
 *  messages of Tenon count as in C. Errors that the interface raises itself, by TenonRaiseError()
 *  without a file, are printed without the line.
 *
 *  @param[in] note  the line; copied. May be NULL, in which case there is none.
 */
TENON_EXTERN TenonErrorCode TenonSetDimensionNote(const char* note) TENON_NOEXCEPT;

#endif
