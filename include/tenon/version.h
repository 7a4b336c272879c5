/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Version of these headers; TenonGetVersion() returns that of the library.
 *
 *  This header is stable (doc/1.0.md).
 */
#ifndef TENON_VERSION_H
#define TENON_VERSION_H

#define TENON_VERSION_MAJOR 0 /**< major version */
#define TENON_VERSION_MINOR 1 /**< minor version */
#define TENON_VERSION_PATCH 0 /**< patch version */

/** @brief Whether these headers are of the given version or a later one; for conditions of the
 *  preprocessor, such as `#if TENON_VERSION_AT_LEAST(0, 2, 0)`. */
#define TENON_VERSION_AT_LEAST(major, minor, patch)                                                \
  (TENON_VERSION_MAJOR > (major) ||                                                                \
   (TENON_VERSION_MAJOR == (major) &&                                                              \
    (TENON_VERSION_MINOR > (minor) ||                                                              \
     (TENON_VERSION_MINOR == (minor) && TENON_VERSION_PATCH >= (patch)))))

#endif
