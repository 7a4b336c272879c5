/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the fine solver of truth.h from a current with hills of water, and averages its flow over
 * the coarse cells. */
#include "truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { kHills = 4 };

static const double kPi = 3.14159265358979323846;
static const double kCurrent = 0.1, kBalance = 0.205; /* at the equator; depth that balances it */
static const double kHeight = 0.08, kWidth = 0.3;

TenonErrorCode TruthCreate(const Mesh* coarse, const int owner[], int refinement, double dt,
                           Truth* t) {
  t->coarse = coarse;
  t->refinement = refinement;
  TenonCall(MeshCreate(coarse->comm, coarse->level + refinement, coarse->level, owner, &t->mesh));
  SolverCreate(&t->mesh, dt / (1 << refinement), &t->solver);
  t->q = MeshCreateFields(&t->mesh, 1);
  return TENON_SUCCESS;
}

TenonErrorCode TruthDestroy(Truth* t) {
  free(t->q);
  SolverDestroy(&t->solver);
  TenonCall(MeshDestroy(&t->mesh));
  return TENON_SUCCESS;
}

/* Places of hills: multiples of the golden ratio and of another irrational number fill the sphere
 * evenly. */
static void PlaceOfHill(int number, double place[3]) {
  const double height = 2 * fmod(0.6180339887498949 * number + 0.3, 1) - 1;
  const double longitude = 2 * kPi * fmod(0.7548776662466927 * number, 1);

  place[0] = sqrt(1 - height * height) * cos(longitude);
  place[1] = sqrt(1 - height * height) * sin(longitude);
  place[2] = height;
}

/* The current is u = kCurrent (axis x r), and h = 1 + kBalance (1/3 - r[2]^2) balances it, as in
 * the second test of Williamson et al. (1992). */
void TruthStart(Truth* t, int number) {
  double hills[kHills][3];
  TenonInt i;
  int k, d;

  for (k = 0; k < kHills; ++k)
    PlaceOfHill(kHills * number + k, hills[k]);
  for (i = 0; i < t->mesh.owned; ++i) {
    const double* r = t->mesh.up + i * 3;
    double* q = t->q + i * kFields;
    double depth = 1 + kBalance * (1.0 / 3 - r[2] * r[2]);

    q[1] = -depth * kCurrent * r[1];
    q[2] = depth * kCurrent * r[0];
    q[3] = 0;
    for (k = 0; k < kHills; ++k) {
      double square = 0;

      for (d = 0; d < 3; ++d)
        square += (r[d] - hills[k][d]) * (r[d] - hills[k][d]);
      depth += (k % 2 ? -kHeight : kHeight) * exp(-square / (2 * kWidth * kWidth));
    }
    q[0] = depth;
  }
}

TenonErrorCode TruthStep(Truth* t) {
  int n;

  for (n = 0; n < 1 << t->refinement; ++n)
    TenonCall(SolverStep(&t->solver, t->q, NULL));
  return TENON_SUCCESS;
}

void TruthSample(const Truth* t, double* q) {
  const TenonInt children = (TenonInt)1 << (2 * t->refinement);
  TenonInt i, n;
  int c;

  memset(q, 0, (size_t)MeshSize(t->coarse) * sizeof(double));
  for (i = 0; i < t->coarse->owned; ++i) {
    double *mean = q + i * kFields, area = 0, off;
    const double* up = t->coarse->up + i * 3;

    for (n = i * children; n < (i + 1) * children; ++n) { /* the cells within, in the same order */
      for (c = 0; c < kFields; ++c)
        mean[c] += t->mesh.areas[n] * t->q[n * kFields + c];
      area += t->mesh.areas[n];
    }
    for (c = 0; c < kFields; ++c)
      mean[c] /= area;
    off = Dot3(mean + 1, up);
    for (c = 0; c < 3; ++c)
      mean[1 + c] -= off * up[c];
  }
}
