/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Redirection of the text that Tenon prints, and files that are replaced only by complete
 *         ones.
 *
 *  This header is stable (doc/1.0.md).
 */
#ifndef TENON_OUTPUT_H
#define TENON_OUTPUT_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief User function that receives a piece of text, line ends included.
 *
 *  It must not throw. Tenon catches an exception of a function in C++, prints the text to the
 *  standard stream, and reports the exception in a line on standard error.
 *
 *  @param[in] text     [length] text, not NUL-terminated; valid during the call
 *  @param[in] length   length in characters
 *  @param[in] context  context passed with the handler. May be NULL, in which case none was passed.
 */
typedef void (*TenonTextHandler)(const char text[], int length, void* context);

/** @brief Sets the receiver of views, logs and help. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in] handler  function that receives the text. May be NULL, in which case text is
 *                      printed to standard output, the default.
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 */
TENON_EXTERN TenonErrorCode TenonSetOutputHandler(TenonTextHandler handler,
                                                  void* context) TENON_NOEXCEPT;

/** @brief Sets the receiver of errors and warnings. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in] handler  function that receives the text. May be NULL, in which case text is
 *                      printed to standard error, the default.
 *  @param[in] context  context passed to the handler. May be NULL, in which case NULL is passed.
 */
TENON_EXTERN TenonErrorCode TenonSetErrorOutputHandler(TenonTextHandler handler,
                                                       void* context) TENON_NOEXCEPT;

/** @brief Writes a complete file, or leaves the previous one. Not collective.
 *
 *  The call can be made at any time. Like all files of Tenon, the file is written under a random
 *  name in the same folder, with the permissions of the umask, and renamed when it is on the disk.
 *
 *  @param[in] path    path of the file, which is replaced if it exists
 *  @param[in] text    [length] content of the file. May be NULL, in which case length must be 0.
 *  @param[in] length  number of bytes
 *  @return TENON_ERR_FILE  the file cannot be written, or path is a folder, a device, a pipe or a
 *                          symbolic link
 *  @return TENON_ERR_ARG   length is negative
 */
TENON_EXTERN TenonErrorCode TenonWriteFile(const char* path, const char text[],
                                           TenonInt length) TENON_NOEXCEPT;

#endif
