/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Linkage of Tenon's public symbols.
 */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

#ifdef __cplusplus
#define TENON_C_LINKAGE extern "C"
#define TENON_NOEXCEPT noexcept
#else
#define TENON_C_LINKAGE extern
#define TENON_NOEXCEPT
#endif

#if defined(__GNUC__)
#define TENON_EXTERN TENON_C_LINKAGE __attribute__((visibility("default")))
#else
#define TENON_EXTERN TENON_C_LINKAGE
#endif

#endif
