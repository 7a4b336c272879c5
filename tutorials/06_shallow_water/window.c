/* SPDX-License-Identifier: BSD-2-Clause */
/* The loss of window.h and its gradient. WindowForward() saves the stages and the error of each
 * step; WindowBackward() reads them from the last step to the first. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

/* The size of the errors of a step, so that losses and gradients are of order 1. */
static const double kLossUnit = 1e-3;

TenonErrorCode WindowCreate(Solver* solver, Window* w) {
  const Grid* g = solver->grid;

  w->solver = solver;
  w->q = GridCreateFields(g, 1);
  w->w = GridCreateFields(g, 1);
  w->change = GridCreateFields(g, 1);
  w->stages = GridCreateFields(g, kStages * kWindow);
  w->errors = GridCreateFields(g, kWindow);
  return TENON_SUCCESS;
}

void WindowDestroy(Window* w) {
  free(w->errors);
  free(w->stages);
  free(w->change);
  free(w->w);
  free(w->q);
}

/* The factor of the sum of squares in the loss. */
static double LossFactor(const Grid* g, int steps) {
  return 1 / (kLossUnit * kLossUnit * steps * kFields * (double)g->cells * g->cells);
}

TenonErrorCode WindowForward(Window* w, Closure* closure, int steps, const double* start,
                             const double* truth, double* loss) {
  const Grid* g = w->solver->grid;
  int n;

  *loss = 0;
  GridAdd(g, 1, start, 0, w->q);
  for (n = 0; n < steps; ++n) {
    double* error = w->errors + n * g->size;

    TenonCall(ClosureApply(closure, TENON_TRUE, w->q, w->change));
    TenonCall(SolverStep(w->solver, w->q, w->stages + n * kStages * g->size));
    GridAdd(g, 1, w->change, 1, w->q);
    GridAdd(g, 1, w->q, 0, error);
    GridAdd(g, -1, truth + n * g->size, 1, error);
    *loss += LossFactor(g, steps) * GridDot(g, error, error);
  }
  return TENON_SUCCESS;
}

TenonErrorCode WindowBackward(Window* w, Closure* closure, int steps, int toStart) {
  const Grid* g = w->solver->grid;
  int n;

  memset(w->w, 0, (size_t)g->size * sizeof(double));
  for (n = steps; n-- > 0;) {
    GridAdd(g, 2 * LossFactor(g, steps), w->errors + n * g->size, 1, w->w);
    TenonCall(ClosureAdjoint(closure, w->w, w->change));
    if (n > 0 || toStart)
      TenonCall(SolverAdjoint(w->solver, w->stages + n * kStages * g->size, w->w));
    GridAdd(g, 1, w->change, 1, w->w);
  }
  return TENON_SUCCESS;
}

double WindowError(const Window* w, int steps) {
  return GridVelocity(w->solver->grid, w->errors + (steps - 1) * w->solver->grid->size);
}
