/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the fine solver of truth.h from a random flow in geostrophic balance, and averages its flow
 * over the coarse cells. */
#include "truth.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Waves of the random flow: wave numbers from 2 to 6 around the domain. */
enum { kLowest = 2, kHighest = 6, kMaximumWaves = 128 };

static const double kPi = 3.14159265358979323846, kVelocity = 0.25;

const double kLength = 2 * 3.14159265358979323846 * 8 / 3;

typedef struct Wave {
  double kx, ky, amplitude, phase;
} Wave;

double TruthTimeStep(const Grid* grid) {
  return 0.25 * grid->spacing / sqrt(kGravity * kDepth);
}

TenonErrorCode TruthCreate(const Grid* coarse, int refinement, Truth* t) {
  t->coarse = coarse;
  t->refinement = refinement;
  TenonCall(GridCreate(coarse->comm, coarse->cells, refinement, kLength, &t->grid));
  TenonCall(SolverCreate(&t->grid, TruthTimeStep(&t->grid), &t->solver));
  t->q = GridCreateFields(&t->grid, 1);
  return TENON_SUCCESS;
}

TenonErrorCode TruthDestroy(Truth* t) {
  free(t->q);
  TenonCall(SolverDestroy(&t->solver));
  TenonCall(GridDestroy(&t->grid));
  return TENON_SUCCESS;
}

/* The next number in (0, 1) of Park and Miller (1988). */
static double Random(int64_t* state) {
  *state = *state * 16807 % 2147483647;
  return (double)*state / 2147483647.0;
}

/* A random stream function, scaled so that its flow has the velocity kVelocity: a wave of amplitude
 * a and wave number k has the mean square velocity (a k)^2 / 2. */
static int DrawWaves(int seed, Wave waves[kMaximumWaves]) {
  int64_t state = 1000003 * (int64_t)(seed + 1) % 2147483647;
  double square = 0;
  int k, l, n, count = 0;

  for (k = 1; k <= kHighest; ++k)
    for (l = -kHighest; l <= kHighest; ++l) {
      const double number = sqrt(k * k + l * l);

      if (number < kLowest || number > kHighest)
        continue;
      Wave* w = &waves[count++];
      w->kx = 2 * kPi * k / kLength;
      w->ky = 2 * kPi * l / kLength;
      w->amplitude = (2 * Random(&state) - 1) / pow(number, 1.5);
      w->phase = 2 * kPi * Random(&state);
      square += w->amplitude * w->amplitude * (w->kx * w->kx + w->ky * w->ky) / 2;
    }
  for (n = 0; n < count; ++n)
    waves[n].amplitude *= kVelocity / sqrt(square);
  return count;
}

static double StreamFunction(const Wave* waves, int count, double y, double x) {
  double sum = 0;
  int n;

  for (n = 0; n < count; ++n)
    sum += waves[n].amplitude * cos(waves[n].kx * x + waves[n].ky * y + waves[n].phase);
  return sum;
}

/* u = -dpsi/dy and v = dpsi/dx from psi at the corners of the cells; h = H + f psi / g at the
 * centres balances the Coriolis force. */
static void InitialState(const Grid* g, int seed, double* q) {
  Wave waves[kMaximumWaves];
  const int count = DrawWaves(seed, waves);
  const double dx = g->spacing;
  int j, i;

  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const double y = (g->low[0] + j) * dx, x = (g->low[1] + i) * dx;
      const double corner = StreamFunction(waves, count, y, x);
      const ptrdiff_t c = GridIndex(g, j, i);

      q[c] = -(StreamFunction(waves, count, y + dx, x) - corner) / dx;
      q[g->plane + c] = (StreamFunction(waves, count, y, x + dx) - corner) / dx;
      q[2 * g->plane + c] =
          kDepth + kCoriolis / kGravity * StreamFunction(waves, count, y + dx / 2, x + dx / 2);
    }
}

TenonErrorCode TruthStart(Truth* t, int seed, int spinup) {
  int step;

  InitialState(&t->grid, seed, t->q);
  for (step = 0; step < spinup; ++step)
    TenonCall(TruthStep(t));
  return TENON_SUCCESS;
}

TenonErrorCode TruthStep(Truth* t) {
  int k;

  for (k = 0; k < t->refinement; ++k)
    TenonCall(SolverStep(&t->solver, t->q, NULL));
  return TENON_SUCCESS;
}

/* Mean of rows x columns fine values, from the fine cell (j, i) on. */
static double Mean(const Grid* g, const double* component, int j, int i, int rows, int columns) {
  double sum = 0;
  int a, b;

  for (a = 0; a < rows; ++a)
    for (b = 0; b < columns; ++b)
      sum += component[GridIndex(g, j + a, i + b)];
  return sum / (rows * columns);
}

void TruthSample(const Truth* t, double* sample) {
  const Grid *g = t->coarse, *fine = &t->grid;
  const double *u = t->q, *v = t->q + fine->plane, *h = t->q + 2 * fine->plane;
  const int r = t->refinement;
  int j, i;

  for (j = 0; j < g->ny; ++j)
    for (i = 0; i < g->nx; ++i) {
      const ptrdiff_t c = GridIndex(g, j, i);

      sample[c] = Mean(fine, u, r * j, r * i, r, 1);
      sample[g->plane + c] = Mean(fine, v, r * j, r * i, 1, r);
      sample[2 * g->plane + c] = Mean(fine, h, r * j, r * i, r, r);
    }
}
