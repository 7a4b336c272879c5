/* SPDX-License-Identifier: BSD-2-Clause */
/* The loss of window.h, its gradient, and a check of it. WindowForward() saves the stages and the
 * error of each step; WindowBackward() reads them from the last step to the first. */
#include "window.h"

#include <math.h>
#include <stdio.h>

enum { kHalvings = 4 };

/* The size of the errors of a step, so that losses and gradients are of order 1. */
static const double kLossUnit = 0.1;

TenonErrorCode WindowCreate(Solver* solver, Window* w) {
  int n, i;

  w->solver = solver;
  TenonCall(SolverCreateField(solver, &w->z));
  TenonCall(SolverCreateField(solver, &w->w));
  TenonCall(SolverCreateField(solver, &w->work));
  for (n = 0; n < kWindow; ++n) {
    TenonCall(SolverCreateField(solver, &w->errors[n]));
    for (i = 0; i < kStages; ++i)
      TenonCall(SolverCreateField(solver, &w->stages[n][i]));
  }
  return TENON_SUCCESS;
}

TenonErrorCode WindowDestroy(Window* w) {
  int n, i;

  for (n = 0; n < kWindow; ++n) {
    for (i = 0; i < kStages; ++i)
      TenonCall(TenonDTensorDestroy(&w->stages[n][i]));
    TenonCall(TenonDTensorDestroy(&w->errors[n]));
  }
  TenonCall(TenonDTensorDestroy(&w->work));
  TenonCall(TenonDTensorDestroy(&w->w));
  TenonCall(TenonDTensorDestroy(&w->z));
  return TENON_SUCCESS;
}

static double LossFactor(void) {
  return 1 / (kLossUnit * kLossUnit * kWindow);
}

TenonErrorCode WindowForward(Window* w, Closure* closure, const TenonDTensor truth[],
                             double* loss) {
  double norm;
  int n;

  *loss = 0;
  TenonCall(TenonDTensorCopy(truth[0], w->z));
  for (n = 0; n < kWindow; ++n) {
    TenonCall(SolverStep(w->solver, w->z, w->stages[n]));
    TenonCall(ClosureApply(closure, TENON_TRUE, w->stages[n][0], w->z)); /* the first is z[n] */
    TenonCall(TenonDTensorCopy(w->z, w->errors[n]));
    TenonCall(TenonDTensorAXPBY(-1, truth[n + 1], 1, w->errors[n]));
    TenonCall(TenonDTensorNorm(w->errors[n], &norm));
    *loss += LossFactor() * norm * norm;
  }
  return TENON_SUCCESS;
}

TenonErrorCode WindowBackward(Window* w, Closure* closure) {
  int n;

  TenonCall(TenonDTensorFillConstant(w->w, 0));
  for (n = kWindow; n-- > 0;) {
    TenonCall(TenonDTensorAXPBY(2 * LossFactor(), w->errors[n], 1, w->w));
    TenonCall(TenonDTensorCopy(w->w, w->work));
    TenonCall(SolverAdjoint(w->solver, w->stages[n], w->w));
    TenonCall(ClosureAdjoint(closure, w->work, w->w));
  }
  return TENON_SUCCESS;
}

TenonErrorCode WindowCheck(Window* w, Closure* closure, const TenonDTensor truth[],
                           TenonDTensor direction) {
  TenonDTensor moved[kWindow + 1];
  double remainders[kHalvings + 1], loss, slope, shifted, h = 0.02;
  int rank, n;

  MPI_Comm_rank(w->solver->comm, &rank);
  TenonCall(SolverCreateField(w->solver, &moved[0]));
  for (n = 1; n <= kWindow; ++n)
    moved[n] = truth[n];
  TenonCall(WindowForward(w, closure, truth, &loss));
  TenonCall(WindowBackward(w, closure));
  TenonCall(TenonDTensorPairing(direction, w->w, &slope));
  for (n = 0; n <= kHalvings; ++n, h /= 2) {
    TenonCall(TenonDTensorCopy(truth[0], moved[0]));
    TenonCall(TenonDTensorAXPBY(h, direction, 1, moved[0]));
    TenonCall(WindowForward(w, closure, moved, &shifted));
    TenonCall(TenonLayerClearStack(closure->network));
    remainders[n] = fabs(shifted - loss - h * slope);
  }
  if (rank == 0) {
    printf("loss of %d steps with the closure %.5f, its slope by the adjoints %.4f\n", kWindow,
           loss, slope);
    printf("orders of its remainders:");
    for (n = 1; n <= kHalvings; ++n)
      printf(" %.2f", log2(remainders[n - 1] / remainders[n]));
    printf("\n");
  }
  TenonCall(TenonLayerZeroGradients(closure->network));
  TenonCall(TenonDTensorDestroy(&moved[0]));
  return TENON_SUCCESS;
}
