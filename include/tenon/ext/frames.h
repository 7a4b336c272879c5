/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The functions of the macros TenonCall() and TenonCallAbort(), which record the locations
 *         of calls for error reports.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  Programs use the macros; an interface for another language calls these functions itself.
 */
#ifndef TENON_EXT_FRAMES_H
#define TENON_EXT_FRAMES_H

#include <tenon/error.h>

/** @brief Adds the location of a caller to the record of an error. Not collective.
 *
 *  TenonCall() calls it; call it yourself if a macro cannot be used. It has no effect if code
 *  is TENON_SUCCESS or not the last error of this thread. The strings are copied.
 *
 *  @param[in] code      error code
 *  @param[in] function  name of the calling function
 *  @param[in] file      source file
 *  @param[in] line      line
 *  @return code
 */
TENON_EXTERN TenonErrorCode TenonAddFrame(TenonErrorCode code, const char* function,
                                          const char* file, int line) TENON_NOEXCEPT;

/** @brief Records the location of the next call of this thread. Not collective.
 *
 *  A fatal error in that call can then show the location. TenonCall() and TenonCallAbort() call it.
 *  Only the pointers are stored, so the strings must stay valid until the program ends.
 *
 *  @param[in] function  name of the calling function
 *  @param[in] file      source file
 *  @param[in] line      line
 */
TENON_EXTERN void TenonNoteCaller(const char* function, const char* file, int line) TENON_NOEXCEPT;

#endif
