/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Where the library's text goes: everything that Tenon prints passes through here; and files
 *         that are written as a whole or not at all.
 */
#ifndef TENON_OUTPUT_H
#define TENON_OUTPUT_H

#include <tenon/error.h>
#include <tenon/types.h>

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

/** @brief Writes a file as a whole, or leaves what was there. Not collective; may be called at any
 *         time.
 *
 *  As all files of Tenon, it is written under a random name in the same folder, with the permissions
 *  that umask gives, and renamed when it is on the disk.
 *
 *  @param[in] path    of a regular file, which is replaced, or free
 *  @param[in] text    content of the file; may be NULL if it has no bytes
 *  @param[in] length  in bytes
 *  @return TENON_ERR_FILE if the file cannot be written, or if a folder, a device, a pipe or a
 *          symbolic link is at its place; TENON_ERR_ARG if length is negative
 */
TENON_EXTERN TenonErrorCode TenonWriteFile(const char* path, const char* text,
                                           TenonInt length) TENON_NOEXCEPT;

#endif
