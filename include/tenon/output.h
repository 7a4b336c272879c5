/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Where the library's text goes: everything that Tenon prints passes through here.
 */
#ifndef TENON_OUTPUT_H
#define TENON_OUTPUT_H

#include <tenon/error.h>

/** Takes a piece of text, which holds its own line ends.
 *
 *  @param[in] text     not ended by 0; valid during the call
 *  @param[in] length   in characters
 *  @param[in] context  what was given with the handler
 */
typedef void (*TenonTextHandler)(const char* text, int length, void* context);

/** @brief Sends what Tenon prints (views, logs, help) to `handler` instead of standard output.
 *         Not collective; may be called at any time.
 *
 *  @param[in] handler  NULL restores standard output
 *  @param[in] context  handed to the handler
 */
TENON_EXTERN TenonErrorCode TenonSetOutputHandler(TenonTextHandler handler,
                                                  void* context) TENON_NOEXCEPT;

/** @brief The same for what Tenon writes to standard error: errors and warnings. */
TENON_EXTERN TenonErrorCode TenonSetErrorOutputHandler(TenonTextHandler handler,
                                                       void* context) TENON_NOEXCEPT;

#endif
