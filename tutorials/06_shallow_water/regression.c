/* SPDX-License-Identifier: BSD-2-Clause */
/* Fits and evaluates the regression of regression.h by the normal equations. Each cell gives a list
 * of features (the values in its 5 x 5 neighbourhood, alone and times u and v of the cell) and two
 * targets (the errors of u and v). Their products are summed over cells and processes, and each
 * process solves the same small system by Cholesky's method. */
#include "regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* This fraction of the mean diagonal element is added to the diagonal of the system (a ridge). */
static const double kRidge = 1e-7;

/* The system: sums over cells of the products of two features, of a feature and a target, and of
 * squared targets. */
typedef struct Normal {
  double matrix[kFeatures][kFeatures], right[kTargets][kFeatures], square;
} Normal;

TenonErrorCode RegressionCreate(Solver* solver, Regression* r) {
  r->solver = solver;
  TenonCall(GridCreateHalo(solver->grid, kStencil / 2, &r->halo, &r->ghosted));
  return TENON_SUCCESS;
}

TenonErrorCode RegressionDestroy(Regression* r) {
  TenonCall(TenonDTensorDestroy(&r->ghosted));
  TenonCall(TenonLinearOpDestroy(&r->halo));
  return TENON_SUCCESS;
}

/* The features of the cell with index c. */
static void FeaturesAt(const Grid* g, const double* q, ptrdiff_t c, double* feature) {
  const double u = q[c], v = q[g->plane + c];
  int k, j, i, n = 0;

  for (k = 0; k < kFields; ++k)
    for (j = -kStencil / 2; j <= kStencil / 2; ++j)
      for (i = -kStencil / 2; i <= kStencil / 2; ++i) {
        const double value =
            q[k * g->plane + c + j * g->width + i] - (k == kFields - 1 ? kDepth : 0);

        feature[n++] = value;
        feature[n++] = value * u;
        feature[n++] = value * v;
      }
}

static void AddCell(Normal* sum, const double* feature, const double target[kTargets]) {
  int a, b, t;

  for (a = 0; a < kFeatures; ++a)
    for (b = 0; b <= a; ++b)
      sum->matrix[a][b] += feature[a] * feature[b];
  for (t = 0; t < kTargets; ++t) {
    for (a = 0; a < kFeatures; ++a)
      sum->right[t][a] += target[t] * feature[a];
    sum->square += target[t] * target[t];
  }
}

/* Adds the cells of one sample to the system. `next` is the truth one step later; `q` is scratch,
 * in which the sample takes this step. */
static TenonErrorCode AddSample(Regression* r, double* sample, const double* next, double* q,
                                Normal* sum) {
  const Grid* g = r->solver->grid;
  const double dt = r->solver->dt;
  double feature[kFeatures], target[kTargets];
  int j, i, t;

  GridAdd(g, 1, sample, 0, q);
  TenonCall(SolverStep(r->solver, q, NULL));
  TenonCall(GridFill(g, r->halo, r->ghosted, sample));
  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);

      FeaturesAt(g, sample, c, feature);
      for (t = 0; t < kTargets; ++t)
        target[t] = (next[t * g->plane + c] - q[t * g->plane + c]) / dt;
      AddCell(sum, feature, target);
    }
  return TENON_SUCCESS;
}

/* Adds the ridge, and replaces the lower triangle by its Cholesky factor. */
static void Factor(double m[kFeatures][kFeatures]) {
  double trace = 0;
  int a, b, k;

  for (a = 0; a < kFeatures; ++a)
    trace += m[a][a];
  for (a = 0; a < kFeatures; ++a) {
    m[a][a] += kRidge * trace / kFeatures;
    for (b = 0; b <= a; ++b) {
      for (k = 0; k < b; ++k)
        m[a][b] -= m[a][k] * m[b][k];
      m[a][b] = a == b ? sqrt(m[a][a]) : m[a][b] / m[b][b];
    }
  }
}

/* x <- the solution of the system with this factor and the right-hand side x. */
static void Solve(double m[kFeatures][kFeatures], double* x) {
  int a, b;

  for (a = 0; a < kFeatures; ++a) {
    for (b = 0; b < a; ++b)
      x[a] -= m[a][b] * x[b];
    x[a] /= m[a][a];
  }
  for (a = kFeatures; a-- > 0;) {
    for (b = a + 1; b < kFeatures; ++b)
      x[a] -= m[b][a] * x[b];
    x[a] /= m[a][a];
  }
}

/* Solves for the coefficients of each target. For the solution x of the system with right-hand side
 * b, the explained part of the squared targets is about <x, b>, since the ridge is small. */
static void SolveAll(Regression* r, Normal* sum) {
  int t, a;

  Factor(sum->matrix);
  r->explained = 0;
  for (t = 0; t < kTargets; ++t) {
    memcpy(r->coefficients[t], sum->right[t], sizeof sum->right[t]);
    Solve(sum->matrix, r->coefficients[t]);
    for (a = 0; a < kFeatures; ++a)
      r->explained += r->coefficients[t][a] * sum->right[t][a] / sum->square;
  }
}

TenonErrorCode RegressionFit(Regression* r, double* samples, int count, int stride) {
  const Grid* g = r->solver->grid;
  const int numbers = (int)(sizeof(Normal) / sizeof(double));
  Normal* sum = (Normal*)calloc(1, sizeof *sum);
  double* q = GridCreateFields(g, 1);
  int n;

  for (n = 0; n < count; n += stride)
    TenonCall(AddSample(r, samples + n * g->size, samples + (n + 1) * g->size, q, sum));
  MPI_Allreduce(MPI_IN_PLACE, sum, numbers, MPI_DOUBLE, MPI_SUM, g->comm);
  SolveAll(r, sum);
  free(q);
  free(sum);
  return TENON_SUCCESS;
}

TenonErrorCode RegressionApply(Regression* r, double* q, double* change) {
  const Grid* g = r->solver->grid;
  double feature[kFeatures];
  int j, i, t, n;

  TenonCall(GridFill(g, r->halo, r->ghosted, q));
  memset(change, 0, (size_t)g->size * sizeof(double));
  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);

      FeaturesAt(g, q, c, feature);
      for (t = 0; t < kTargets; ++t)
        for (n = 0; n < kFeatures; ++n)
          change[t * g->plane + c] += r->solver->dt * r->coefficients[t][n] * feature[n];
    }
  return TENON_SUCCESS;
}
