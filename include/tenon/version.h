/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The version of these headers; TenonGetVersion() tells that of the library.
 */
#ifndef TENON_VERSION_H
#define TENON_VERSION_H

#define TENON_VERSION_MAJOR 0 /**< of the headers */
#define TENON_VERSION_MINOR 1 /**< of the headers */
#define TENON_VERSION_PATCH 0 /**< of the headers */

#endif
