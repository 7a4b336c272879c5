/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Version of these headers; TenonGetVersion() returns that of the library. */
#ifndef TENON_VERSION_H
#define TENON_VERSION_H

#define TENON_VERSION_MAJOR 0 /**< major version */
#define TENON_VERSION_MINOR 1 /**< minor version */
#define TENON_VERSION_PATCH 0 /**< patch version */

#endif
