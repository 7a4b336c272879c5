/* SPDX-License-Identifier: BSD-2-Clause */
/* What arrays.c and pointers.c share: errors, the names of types, and which dimensions an array or
 * a pointer of lower rank than the tensor's omits. */
#ifndef TENON_FORTRAN_ARRAYS_H
#define TENON_FORTRAN_ARRAYS_H

#include <ISO_Fortran_binding.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tenon.h>
#include <tenon/ext/error.h>

enum { kMaxDims = 8, kMaxText = 400 };

/* Sets ierr; without ierr an error ends the program, as with TenonCallAbort(). */
static inline void Finish(TenonErrorCode code, int* ierr) {
  if (ierr)
    *ierr = code;
  else if (code != TENON_SUCCESS)
    TenonAbort(code);
}

static inline TenonErrorCode Fail(TenonErrorCode code, const char* call, const char* format, ...) {
  char message[kMaxText];
  va_list values;

  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  return TenonRaiseError(code, message, call, "", 0);
}

static inline const char* NameOfType(const CFI_cdesc_t* array) {
  if (array->type == CFI_type_double)
    return "real(real64)";
  if (array->type == CFI_type_float)
    return "real(real32)";
  if (array->type == CFI_type_int64_t)
    return "integer(int64)";
  return array->type == CFI_type_int32_t ? "integer(int32)" : "another type";
}

static inline const char* NameOfDataType(TenonDataType type) {
  if (type == TENON_FLOAT64)
    return "real(real64)";
  if (type == TENON_FLOAT32)
    return "real(real32)";
  return type == TENON_INT64 ? "integer(int64)" : "integer(int32)";
}

/* Selects the dimensions of one element that an array of lower rank omits, such as u(nx, ny) for a
 * tensor [1, ny, nx]. First the channel dimension, if the array is a single channel; then
 * dimensions with one element on all ranks, which gives the same choice on all ranks; then others;
 * in each group the last ones first. If there are not enough, CheckExtents() rejects the last
 * dimensions. */
static inline void LeaveOut(int dims, int rank, const TenonInt shape[], const TenonInt extent[],
                            int channels, int isLeftOut[]) {
  int missing = dims - rank, preference, f;

  for (f = 0; f < dims; ++f)
    isLeftOut[f] = 0;
  for (preference = 0; preference < 4; ++preference)
    for (f = dims - 1; f >= 0; --f) {
      const int fits = preference == 0   ? f == channels
                       : preference == 1 ? shape[f] == 1 && extent[f] == 1
                       : preference == 2 ? extent[f] == 1
                                         : 1;

      if (missing > 0 && fits && !isLeftOut[f]) {
        isLeftOut[f] = 1;
        --missing;
      }
    }
}

#endif
