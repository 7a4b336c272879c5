/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Redirection of the text that Tenon prints. */
#ifndef TENON_OUTPUT_H
#define TENON_OUTPUT_H

#include <tenon/error.h>

/** @brief User function that receives a piece of text, line ends included.
 *  @param[in] text     [length] text, not NUL-terminated; valid during the call
 *  @param[in] length   length in characters
 *  @param[in] context  context passed with the handler. May be NULL, in which case none was passed.
 */
typedef void (*TenonTextHandler)(const char* text, int length, void* context);

/** @brief Sets the receiver of views, logs and help. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in] handler  function that receives the text. May be NULL, in which case text goes to
 *                      standard output, the default.
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 */
TENON_EXTERN TenonErrorCode TenonSetOutputHandler(TenonTextHandler handler,
                                                  void* context) TENON_NOEXCEPT;

/** @brief Sets the receiver of errors and warnings. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in] handler  function that receives the text. May be NULL, in which case text goes to
 *                      standard error, the default.
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 */
TENON_EXTERN TenonErrorCode TenonSetErrorOutputHandler(TenonTextHandler handler,
                                                       void* context) TENON_NOEXCEPT;

#endif
