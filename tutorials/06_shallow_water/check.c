/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the derivatives (check.h), printed by process 0. The dot test compares a tangent with
 * its adjoint. The Taylor test halves the step h in a random direction: the remainder of the linear
 * approximation then falls to a quarter, so its order is 2. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMassSteps = 20, kHalvings = 4, kMaximumParameters = 16 };

static const double kFlow = 1e-2; /* size of a direction of the flow, in units of its velocity */

static int IsFirst(const Grid* g) {
  int rank;

  MPI_Comm_rank(g->comm, &rank);
  return rank == 0;
}

/* A random field, the same on any number of processes. */
static TenonErrorCode Random(const Grid* g, int stream, double size, double* q) {
  TenonCall(GridPlace(g, g->owned, q));
  TenonCall(TenonDTensorFillUniform(g->owned, 2, stream, -size, size));
  return TENON_SUCCESS;
}

/* Prints the orders that follow from remainders, each for half the step of the previous one. */
static void PrintOrders(const char* of, const double remainders[kHalvings + 1]) {
  int n;

  printf("Taylor orders of %s:", of);
  for (n = 1; n <= kHalvings; ++n)
    printf(" %.2f", log2(remainders[n - 1] / remainders[n]));
  printf("\n");
}

static TenonErrorCode CheckMass(Solver* s, const double* q, double* moved) {
  const double before = GridMass(s->grid, q);
  double change;
  int n;

  GridAdd(s->grid, 1, q, 0, moved);
  for (n = 0; n < kMassSteps; ++n)
    TenonCall(SolverStep(s, moved, NULL));
  change = fabs(GridMass(s->grid, moved) / before - 1);
  if (IsFirst(s->grid))
    printf("mass after %d steps: relative change %s 1e-13\n", kMassSteps,
           change < 1e-13 ? "below" : "above");
  return TENON_SUCCESS;
}

TenonErrorCode CheckSolver(Solver* s, const double* q) {
  const Grid* g = s->grid;
  double* fields = GridCreateFields(g, 5 + kStages);
  double *stepped = fields, *e = stepped + g->size, *tangent = e + g->size, *w = tangent + g->size;
  double *moved = w + g->size, *stages = moved + g->size;
  double remainders[kHalvings + 1], forward, adjoint, h = 1;
  int n;

  TenonCall(CheckMass(s, q, moved));
  GridAdd(g, 1, q, 0, stepped);
  TenonCall(SolverStep(s, stepped, stages));
  TenonCall(Random(g, 0, kFlow, e));
  TenonCall(Random(g, 1, 1, w));
  GridAdd(g, 1, e, 0, tangent);
  TenonCall(SolverTangent(s, stages, tangent));
  forward = GridDot(g, tangent, w);
  TenonCall(SolverAdjoint(s, stages, w));
  adjoint = GridDot(g, e, w);
  if (IsFirst(g))
    printf("dot test of the step: <S' e, w> = %.10f, <e, S'* w> = %.10f\n", forward, adjoint);

  for (n = 0; n <= kHalvings; ++n, h /= 2) {
    GridAdd(g, 1, q, 0, moved);
    GridAdd(g, h, e, 1, moved);
    TenonCall(SolverStep(s, moved, NULL));
    GridAdd(g, -1, stepped, 1, moved);
    GridAdd(g, -h, tangent, 1, moved);
    remainders[n] = sqrt(GridDot(g, moved, moved));
  }
  if (IsFirst(g))
    PrintOrders("the step", remainders);
  free(fields);
  return TENON_SUCCESS;
}

/* The weights of a network: their current and first values, and a random direction. */
typedef struct Weights {
  int count;
  TenonDTensor now[kMaximumParameters], start[kMaximumParameters], direction[kMaximumParameters];
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
    if (n >= 2) /* the scaling is not trained */
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

TenonErrorCode CheckWindow(Window* w, Closure* closure, const double* start, const double* truth) {
  const Grid* g = w->solver->grid;
  double *e = GridCreateFields(g, 1), *moved = GridCreateFields(g, 1);
  double remainders[kHalvings + 1], loss, slope, shifted, h = 1e-3;
  Weights weights;
  int n;

  TenonCall(WeightsCreate(closure->network, &weights));
  TenonCall(Random(g, 0, kFlow, e));
  TenonCall(WindowForward(w, closure, kWindow, start, truth, &loss));
  TenonCall(WindowBackward(w, closure, kWindow, 1));
  TenonCall(WeightsSlope(closure->network, &weights, &slope));
  slope += GridDot(g, w->w, e);
  for (n = 0; n <= kHalvings; ++n, h /= 2) {
    GridAdd(g, 1, start, 0, moved);
    GridAdd(g, h, e, 1, moved);
    TenonCall(WeightsMove(&weights, h));
    TenonCall(WindowForward(w, closure, kWindow, moved, truth, &shifted));
    TenonCall(TenonLayerClearStack(closure->network));
    remainders[n] = fabs(shifted - loss - h * slope);
  }
  if (IsFirst(g)) {
    printf("loss of %d steps with the closure %.6f, its slope by the adjoints %.6f\n", kWindow,
           loss, slope);
    PrintOrders("the loss", remainders);
  }
  TenonCall(WeightsMove(&weights, 0));
  TenonCall(TenonLayerZeroGradients(closure->network));
  TenonCall(WeightsDestroy(&weights));
  free(moved);
  free(e);
  return TENON_SUCCESS;
}
