/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Linkage of Tenon's public symbols, and the type of its enumerations.
 *
 *  The library is compiled with hidden symbols, and functions that are TENON_EXTERN are exported.
 */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

#ifdef __cplusplus
#define TENON_C_LINKAGE extern "C"
#define TENON_NOEXCEPT noexcept
/* Any int may arrive through C, so every int is a value of the enumeration in C++ too. In C the
   enumerator ..._MAX_ fixes the size. */
#define TENON_ENUM_INT : int
#else
#define TENON_C_LINKAGE extern
#define TENON_NOEXCEPT
#define TENON_ENUM_INT
#endif

#if defined(__GNUC__)
#define TENON_EXTERN TENON_C_LINKAGE __attribute__((visibility("default")))
#else
#define TENON_EXTERN TENON_C_LINKAGE
#endif

#endif
