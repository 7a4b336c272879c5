/* SPDX-License-Identifier: BSD-2-Clause */
/* The loss of window.h, its gradient, and a check of it. WindowForward() saves the stages and the
 * error of each step; WindowBackward() reads them from the last step to the first. */
#include "window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHalvings = 4, kParameters = 8 };

/* The size of the errors of a step, so that losses and gradients are of order 1. */
static const double kLossUnit = 1e-3;

void WindowCreate(Solver* solver, Window* w) {
  const Mesh* m = solver->mesh;

  w->solver = solver;
  w->q = MeshCreateFields(m, 1);
  w->w = MeshCreateFields(m, 1);
  w->work = MeshCreateFields(m, 1);
  w->stages = MeshCreateFields(m, kStages * kWindow);
  w->errors = MeshCreateFields(m, kWindow);
}

void WindowDestroy(Window* w) {
  free(w->errors);
  free(w->stages);
  free(w->work);
  free(w->w);
  free(w->q);
}

/* The factor of the sum of squares in the loss. */
static double LossFactor(const Mesh* m) {
  return 1 / (kLossUnit * kLossUnit * kWindow * kFields * (double)m->cells);
}

static double* StagesOf(const Window* w, int step) {
  return w->stages + step * kStages * MeshSize(w->solver->mesh);
}

TenonErrorCode WindowForward(Window* w, Closure* closure, const double* start, const double* truth,
                             double* loss) {
  const Mesh* m = w->solver->mesh;
  int n;

  *loss = 0;
  MeshAdd(m, 1, start, 0, w->q);
  for (n = 0; n < kWindow; ++n) {
    double* error = w->errors + n * MeshSize(m);

    TenonCall(SolverStep(w->solver, w->q, StagesOf(w, n)));
    TenonCall(
        ClosureApply(closure, TENON_TRUE, StagesOf(w, n), w->q)); /* the first stage is q[n] */
    MeshAdd(m, 1, w->q, 0, error);
    MeshAdd(m, -1, truth + n * MeshSize(m), 1, error);
    *loss += LossFactor(m) * MeshDot(m, error, error);
  }
  return TENON_SUCCESS;
}

TenonErrorCode WindowBackward(Window* w, Closure* closure) {
  const Mesh* m = w->solver->mesh;
  int n;

  MeshAdd(m, 0, w->q, 0, w->w);
  for (n = kWindow; n-- > 0;) {
    MeshAdd(m, 2 * LossFactor(m), w->errors + n * MeshSize(m), 1, w->w);
    MeshAdd(m, 1, w->w, 0, w->work);
    TenonCall(SolverAdjoint(w->solver, StagesOf(w, n), w->w));
    TenonCall(ClosureAdjoint(closure, w->work, w->w));
  }
  return TENON_SUCCESS;
}

/* The weights of a network: their current and first values, and a random direction. */
typedef struct Weights {
  int count;
  TenonDTensor now[kParameters], start[kParameters], direction[kParameters];
} Weights;

static TenonErrorCode WeightsCreate(TenonLayer network, Weights* p) {
  TenonLayout layout;
  int n;

  TenonCall(TenonLayerGetParameterCount(network, &p->count));
  for (n = 0; n < p->count; ++n) {
    TenonCall(TenonLayerGetParameter(network, n, &p->now[n]));
    TenonCall(TenonDTensorGetLayout(p->now[n], &layout));
    TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &p->start[n]));
    TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &p->direction[n]));
    TenonCall(TenonDTensorCopy(p->now[n], p->start[n]));
    TenonCall(TenonDTensorFillUniform(p->direction[n], 3, n, -1, 1));
    TenonCall(TenonLayoutDestroy(&layout));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode WeightsDestroy(Weights* p) {
  int n;

  for (n = 0; n < p->count; ++n) {
    TenonCall(TenonDTensorDestroy(&p->direction[n]));
    TenonCall(TenonDTensorDestroy(&p->start[n]));
    TenonCall(TenonDTensorDestroy(&p->now[n]));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode WeightsMove(const Weights* p, double h) {
  int n;

  for (n = 0; n < p->count; ++n) {
    TenonCall(TenonDTensorCopy(p->start[n], p->now[n]));
    TenonCall(TenonDTensorAXPBY(h, p->direction[n], 1, p->now[n]));
  }
  return TENON_SUCCESS;
}

/* Sum of <gradient, direction>. */
static TenonErrorCode WeightsSlope(TenonLayer network, const Weights* p, double* slope) {
  TenonDTensor gradient;
  double part;
  int n;

  *slope = 0;
  for (n = 0; n < p->count; ++n) {
    TenonCall(TenonLayerGetParameterGradient(network, n, &gradient));
    TenonCall(TenonDTensorPairing(p->direction[n], gradient, &part));
    TenonCall(TenonDTensorDestroy(&gradient));
    *slope += part;
  }
  return TENON_SUCCESS;
}

/* A smooth direction of the flow, by the ids of cells: the same on any number of processes. */
static void FillDirection(const Mesh* m, double* e) {
  TenonInt n;

  for (n = 0; n < m->owned * kFields; ++n)
    e[n] = 0.01 * sin(0.1 * (double)(m->ids[n / kFields] * kFields + n % kFields));
}

TenonErrorCode WindowCheck(Window* w, Closure* closure, const double* start, const double* truth) {
  const Mesh* m = w->solver->mesh;
  double *e = MeshCreateFields(m, 1), *moved = MeshCreateFields(m, 1);
  double remainders[kHalvings + 1], loss, slope, shifted, h = 0.02;
  Weights weights;
  int rank, n;

  MPI_Comm_rank(m->comm, &rank);
  TenonCall(WeightsCreate(closure->network, &weights));
  FillDirection(m, e);
  TenonCall(WindowForward(w, closure, start, truth, &loss));
  TenonCall(WindowBackward(w, closure));
  TenonCall(WeightsSlope(closure->network, &weights, &slope));
  slope += MeshDot(m, w->w, e);
  for (n = 0; n <= kHalvings; ++n, h /= 2) {
    MeshAdd(m, 1, start, 0, moved);
    MeshAdd(m, h, e, 1, moved);
    TenonCall(WeightsMove(&weights, h));
    TenonCall(WindowForward(w, closure, moved, truth, &shifted));
    TenonCall(TenonLayerClearStack(closure->network));
    remainders[n] = fabs(shifted - loss - h * slope);
  }
  if (rank == 0) {
    printf("loss of %d steps with the closure %.6f, its slope by the adjoints %.6f\n", kWindow,
           loss, slope);
    printf("orders of its remainders:");
    for (n = 1; n <= kHalvings; ++n)
      printf(" %.2f", log2(remainders[n - 1] / remainders[n]));
    printf("\n");
  }
  TenonCall(WeightsMove(&weights, 0));
  TenonCall(TenonLayerZeroGradients(closure->network));
  TenonCall(WeightsDestroy(&weights));
  free(moved);
  free(e);
  return TENON_SUCCESS;
}
