/* SPDX-License-Identifier: BSD-2-Clause */
/* For test programs in C: a condition that ends all processes where it does not hold. */
#ifndef TENON_TEST_CHECK_H
#define TENON_TEST_CHECK_H

#include <tenon/error.h>

#include <stdio.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      TenonAbort(TENON_ERR_INTERNAL);                                                              \
    }                                                                                              \
  } while (0)

#endif
