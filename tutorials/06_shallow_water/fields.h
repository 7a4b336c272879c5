/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that need a whole field on one process: the spectrum, and the files for picture.py. */
#ifndef TUTORIAL_FIELDS_H
#define TUTORIAL_FIELDS_H

#include "experiment.h"

/* whole <- the field [3][cells][cells] on process 0, which the caller frees; NULL elsewhere.
 * Collective. */
TenonErrorCode FieldsGather(const Grid* grid, double* q, double** whole);

/* The kinetic energy per cell in bands of wave numbers, 1 to 2, 3 to 4, 5 to 8 and so on. */
void FieldsSpectrum(int cells, const double* whole, int bands, double* energy);

/* Writes two files: NAME.fields.txt with the vorticity of the truth, of the coarse grid without a
 * closure and of the coarse grid with the closure, and NAME.errors.txt with the errors over time.
 * To be called on process 0. */
TenonErrorCode FieldsWrite(const char* name, const Grid* grid, double* const whole[3], int steps,
                           double* const errors[kModels]);

#endif
