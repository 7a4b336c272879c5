/* SPDX-License-Identifier: BSD-2-Clause */
/* Gathers fields on process 0, computes their spectrum and vorticity, and writes the files for
 * picture.py (fields.h). */
#include "fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLine = 100 };

static const double kPi = 3.14159265358979323846;

/* One conversion to a layout that has everything on the root. */
TenonErrorCode FieldsGather(const Grid* g, double* q, double** whole) {
  TenonLayout root = NULL;
  TenonLinearOp toRoot = NULL;
  TenonDTensor all = NULL;
  const void* values;
  TenonInt count;

  *whole = NULL;
  TenonCall(TenonLayoutCreateLike(g->plain, &root));
  TenonCall(TenonLayoutSetProperties(root, "R,R,R,R"));
  TenonCall(TenonLayoutSetUp(root));
  TenonCall(TenonLinearOpCreateConversion(g->plain, root, TENON_FLOAT64, &toRoot));
  TenonCall(TenonDTensorCreate(root, TENON_FLOAT64, &all));
  TenonCall(GridPlace(g, g->owned, q));
  TenonCall(TenonLinearOpApply(toRoot, g->owned, all));
  TenonCall(TenonDTensorGetLocalSize(all, &count));
  if (count > 0) {
    *whole = (double*)malloc((size_t)count * sizeof(double));
    TenonCall(TenonDTensorGetArrayRead(all, TENON_FLOAT64, &values));
    memcpy(*whole, values, (size_t)count * sizeof(double));
    TenonCall(TenonDTensorRestoreArrayRead(all, &values));
  }
  TenonCall(TenonDTensorDestroy(&all));
  TenonCall(TenonLinearOpDestroy(&toRoot));
  TenonCall(TenonLayoutDestroy(&root));
  return TENON_SUCCESS;
}

/* |Fourier coefficient|^2 of a component for the wave (k, l), by its definition. */
static double Power(int cells, const double* component, int k, int l, const double* cosine,
                    const double* sine) {
  double real = 0, imaginary = 0;
  int j, i;

  for (j = 0; j < cells; ++j)
    for (i = 0; i < cells; ++i) {
      const int angle = (k * i + l * j) % cells;

      real += component[j * cells + i] * cosine[angle];
      imaginary += component[j * cells + i] * sine[angle];
    }
  return (real * real + imaginary * imaginary) / pow(cells, 4);
}

/* The band of a wave number: 0 for up to 2, 1 for up to 4, ... */
static int BandOf(double number) {
  int band = 0;
  double high = 2;

  for (; number > high; high *= 2)
    ++band;
  return band;
}

void FieldsSpectrum(int cells, const double* whole, int bands, double* energy) {
  double* cosine = (double*)malloc(2 * (size_t)cells * sizeof(double));
  double* sine = cosine + cells;
  int k, l, n;

  for (n = 0; n < cells; ++n) {
    cosine[n] = cos(2 * kPi * n / cells);
    sine[n] = sin(2 * kPi * n / cells);
  }
  memset(energy, 0, (size_t)bands * sizeof(double));
  for (k = 0; k < cells; ++k)
    for (l = 0; l < cells; ++l) {
      const int kx = k <= cells / 2 ? k : k - cells, ky = l <= cells / 2 ? l : l - cells;
      const int band = BandOf(sqrt(kx * kx + ky * ky));

      if ((kx || ky) && band < bands)
        energy[band] += (Power(cells, whole, k, l, cosine, sine) +
                         Power(cells, whole + cells * cells, k, l, cosine, sine)) /
                        2;
    }
  free(cosine);
}

/* dv/dx - du/dy at the lower left corner of cell (j, i). */
static double Vorticity(const Grid* g, const double* whole, int j, int i) {
  const int n = g->cells, below = (j + n - 1) % n, left = (i + n - 1) % n;
  const double *u = whole, *v = whole + n * n;

  return (v[j * n + i] - v[j * n + left] - u[j * n + i] + u[below * n + i]) / g->spacing;
}

static TenonErrorCode WriteFields(const char* path, const Grid* g, double* const whole[3]) {
  const int n = g->cells;
  char* text = (char*)malloc((size_t)(n * n + 1) * kLine);
  int length = snprintf(text, kLine, "# x y vorticity of truth, bare, closed; units of f\n");
  int j, i;

  for (j = 0; j < n; ++j)
    for (i = 0; i < n; ++i)
      length += snprintf(text + length, kLine, "%.5f %.5f %.6e %.6e %.6e\n", i * g->spacing,
                         j * g->spacing, Vorticity(g, whole[0], j, i), Vorticity(g, whole[1], j, i),
                         Vorticity(g, whole[2], j, i));
  TenonCall(TenonWriteFile(path, text, length));
  free(text);
  return TENON_SUCCESS;
}

static TenonErrorCode WriteErrors(const char* path, double dt, int steps,
                                  double* const errors[kModels]) {
  char* text = (char*)malloc((size_t)(steps + 2) * kLine);
  int length = snprintf(text, kLine, "# time, velocity error: bare, offline, one step, in loop\n");
  int step;

  for (step = 0; step <= steps; ++step)
    length +=
        snprintf(text + length, kLine, "%.5f %.6e %.6e %.6e %.6e\n", step * dt, errors[kBare][step],
                 errors[kOffline][step], errors[kOneStep][step], errors[kInLoop][step]);
  TenonCall(TenonWriteFile(path, text, length));
  free(text);
  return TENON_SUCCESS;
}

TenonErrorCode FieldsWrite(const char* name, const Grid* g, double* const whole[3], int steps,
                           double* const errors[kModels]) {
  char path[kText + 20];

  snprintf(path, sizeof path, "%s.fields.txt", name);
  TenonCall(WriteFields(path, g, whole));
  snprintf(path, sizeof path, "%s.errors.txt", name);
  TenonCall(WriteErrors(path, TruthTimeStep(g), steps, errors));
  return TENON_SUCCESS;
}
