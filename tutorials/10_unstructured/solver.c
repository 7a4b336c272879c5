/* SPDX-License-Identifier: BSD-2-Clause */
/* A time step of the solver (solver.h), its adjoint, and the fluxes of the closure. The sums over
 * the sides of a cell read the neighbours, so ghosts are filled before them. The adjoint adds
 * contributions to neighbours, whose owners then receive them. */
#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double kRotation = 2; /* rate of the sphere's rotation */
static const double kSpeed = 1.2;  /* must be at least the speed of waves plus current */

void SolverCreate(const Mesh* mesh, double dt, Solver* s) {
  s->mesh = mesh;
  s->dt = dt;
  s->stages = MeshCreateFields(mesh, kStages);
  s->rate = MeshCreateFields(mesh, 1);
  s->work = MeshCreateFields(mesh, 1);
}

void SolverDestroy(Solver* s) {
  free(s->work);
  free(s->rate);
  free(s->stages);
}

/* m <- m - (m . up) up */
static void Project(const double up[3], double m[3]) {
  const double off = Dot3(m, up);
  int d;

  for (d = 0; d < 3; ++d)
    m[d] -= off * up[d];
}

/* f <- f + F(q) n / 2 */
static void AddFlux(const double* q, const double n[3], double f[kFields]) {
  const double through = Dot3(q + 1, n), current = through / q[0], pressure = q[0] * q[0] / 2;
  int d;

  f[0] += through / 2;
  for (d = 0; d < 3; ++d)
    f[1 + d] += (q[1 + d] * current + pressure * n[d]) / 2;
}

/* z <- z + (F'(q) n / 2)* g */
static void AddFluxAdjoint(const double* q, const double n[3], const double g[kFields],
                           double z[kFields]) {
  const double current = Dot3(q + 1, n) / q[0], along = Dot3(q + 1, g + 1) / q[0];
  int d;

  z[0] += (q[0] * Dot3(n, g + 1) - current * along) / 2;
  for (d = 0; d < 3; ++d)
    z[1 + d] += (g[0] * n[d] + current * g[1 + d] + along * n[d]) / 2;
}

static double Coriolis(const double up[3]) {
  return 2 * kRotation * up[2];
}

/* rate <- R(q), whose ghosts are filled. */
static void Rate(const Mesh* m, const double* q, double* rate) {
  TenonInt i;
  int k, c;

  for (i = 0; i < m->owned; ++i) {
    const double *mine = q + i * kFields, *up = m->up + i * 3;
    double turned[3], *r = rate + i * kFields;

    memset(r, 0, kFields * sizeof(double));
    for (k = 0; k < kSides; ++k) {
      const double* behind = q + m->neighbours[i * kSides + k] * kFields;
      const double* n = m->normals + (i * kSides + k) * 3;
      const double speed = kSpeed * sqrt(Dot3(n, n));
      double f[kFields] = {0};

      AddFlux(mine, n, f);
      AddFlux(behind, n, f);
      for (c = 0; c < kFields; ++c)
        r[c] -= (f[c] - speed * (behind[c] - mine[c]) / 2) / m->areas[i];
    }
    Cross3(up, mine + 1, turned);
    for (c = 0; c < 3; ++c)
      r[1 + c] -= Coriolis(up) * turned[c];
    Project(up, r + 1);
  }
}

/* z <- R'(q)* w. The ghosts receive the contributions to cells of other processes. */
static void RateAdjoint(const Mesh* m, const double* q, const double* w, double* z) {
  TenonInt i;
  int k, c;

  memset(z, 0, (size_t)MeshSize(m) * sizeof(double));
  for (i = 0; i < m->owned; ++i) {
    const double *mine = q + i * kFields, *up = m->up + i * 3;
    double turned[3], v[kFields], g[kFields], *own = z + i * kFields;

    memcpy(v, w + i * kFields, sizeof v);
    Project(up, v + 1);
    Cross3(up, v + 1, turned);
    for (c = 0; c < 3; ++c)
      own[1 + c] += Coriolis(up) * turned[c];
    for (c = 0; c < kFields; ++c)
      g[c] = -v[c] / m->areas[i];
    for (k = 0; k < kSides; ++k) {
      const TenonInt j = m->neighbours[i * kSides + k];
      const double* n = m->normals + (i * kSides + k) * 3;
      const double speed = kSpeed * sqrt(Dot3(n, n));

      AddFluxAdjoint(mine, n, g, own);
      AddFluxAdjoint(q + j * kFields, n, g, z + j * kFields);
      for (c = 0; c < kFields; ++c) {
        own[c] += speed * g[c] / 2;
        z[j * kFields + c] -= speed * g[c] / 2;
      }
    }
  }
}

TenonErrorCode SolverStep(Solver* s, double* q, double* stages) {
  const Mesh* m = s->mesh;
  double* second;

  stages = stages ? stages : s->stages;
  second = stages + MeshSize(m);
  MeshAdd(m, 1, q, 0, stages);
  TenonCall(MeshExchange(m, stages));
  Rate(m, stages, s->rate);
  MeshAdd(m, 1, q, 0, second);
  MeshAdd(m, s->dt, s->rate, 1, second);
  TenonCall(MeshExchange(m, second));
  Rate(m, second, s->rate);
  MeshAdd(m, 0.5, second, 0.5, q);
  MeshAdd(m, s->dt / 2, s->rate, 1, q);
  return TENON_SUCCESS;
}

TenonErrorCode SolverAdjoint(Solver* s, const double* stages, double* w) {
  const Mesh* m = s->mesh;

  RateAdjoint(m, stages + MeshSize(m), w, s->work);
  TenonCall(MeshExchangeAdjoint(m, s->work));
  MeshAdd(m, 0.5, w, s->dt / 2, s->work); /* dL/dq1 */
  RateAdjoint(m, stages, s->work, s->rate);
  TenonCall(MeshExchangeAdjoint(m, s->rate));
  MeshAdd(m, 1, s->work, 0.5, w);
  MeshAdd(m, s->dt, s->rate, 1, w);
  return TENON_SUCCESS;
}

TenonErrorCode SolverDiffuse(const Solver* s, double a, double* p, double* q) {
  const Mesh* m = s->mesh;
  TenonInt i;
  int k, c;

  TenonCall(MeshExchange(m, p));
  for (i = 0; i < m->owned; ++i) {
    double sum[kFields] = {0};

    for (k = 0; k < kSides; ++k) {
      const double* n = m->normals + (i * kSides + k) * 3;
      const double length = sqrt(Dot3(n, n));

      for (c = 0; c < kFields; ++c)
        sum[c] += length * (p[m->neighbours[i * kSides + k] * kFields + c] - p[i * kFields + c]);
    }
    Project(m->up + i * 3, sum + 1);
    for (c = 0; c < kFields; ++c)
      q[i * kFields + c] += a * sum[c] / m->areas[i];
  }
  return TENON_SUCCESS;
}

TenonErrorCode SolverDiffuseAdjoint(const Solver* s, double a, const double* w, double* p) {
  const Mesh* m = s->mesh;
  TenonInt i;
  int k, c;

  memset(p, 0, (size_t)MeshSize(m) * sizeof(double));
  for (i = 0; i < m->owned; ++i) {
    double v[kFields];

    memcpy(v, w + i * kFields, sizeof v);
    Project(m->up + i * 3, v + 1);
    for (k = 0; k < kSides; ++k) {
      const double* n = m->normals + (i * kSides + k) * 3;
      const double length = sqrt(Dot3(n, n));

      for (c = 0; c < kFields; ++c) {
        const double flux = a * length * v[c] / m->areas[i];

        p[m->neighbours[i * kSides + k] * kFields + c] += flux;
        p[i * kFields + c] -= flux;
      }
    }
  }
  TenonCall(MeshExchangeAdjoint(m, p));
  return TENON_SUCCESS;
}
