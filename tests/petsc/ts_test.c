/* SPDX-License-Identifier: BSD-2-Clause */
/* TS with a network as right-hand side, u' = N(u), and TSAdjoint through it: the derivative of |u(T)|^2 / 2 with respect to u(0)
 * agrees with central differences. */
#include "run.h"

#include <petscts.h>

enum { kSteps = 6 };

typedef struct Problem {
  DM grid;
  TenonLayer network;
} Problem;

static PetscErrorCode Rate(TS ts, PetscReal time, Vec u, Vec f, void* context) {
  const Problem* p = (const Problem*)context;

  (void)ts;
  (void)time;
  PetscFunctionBegin;
  PetscCall(TenonPetscLayerApply(p->network, p->grid, u, p->grid, f));
  PetscFunctionReturn(0);
}

static PetscErrorCode Jacobian(TS ts, PetscReal time, Vec u, Mat J, Mat B, void* context) {
  (void)ts;
  (void)time;
  (void)B;
  (void)context;
  PetscFunctionBegin;
  PetscCall(TenonPetscMatSetPoint(J, u));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Problem* p, Vec u, Mat* J, TS* ts) {
  PetscFunctionBegin;
  PetscCall(TenonPetscMatFromLayer(p->network, p->grid, p->grid, u, J));
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetProblemType(*ts, TS_NONLINEAR));
  PetscCall(TSSetType(*ts, TSRK));
  PetscCall(TSSetRHSFunction(*ts, NULL, Rate, p));
  PetscCall(TSSetRHSJacobian(*ts, *J, *J, Jacobian, p));
  PetscCall(TSSetTimeStep(*ts, 0.05));
  PetscCall(TSSetMaxSteps(*ts, kSteps));
  PetscCall(TSSetMaxTime(*ts, 100));
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_STEPOVER));
  PetscFunctionReturn(0);
}

/* |u(T)|^2 / 2, and its derivative with respect to u(0) if it is asked for. */
static PetscErrorCode Run(Problem* p, Vec start, PetscReal* value, Vec gradient) {
  TS ts;
  TSAdapt adapt;
  Mat J;
  Vec u;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(start, &u));
  PetscCall(VecCopy(start, u));
  PetscCall(CreateSolver(p, u, &J, &ts));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  if (gradient)
    PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecNorm(u, NORM_2, value));
  *value *= *value / 2;
  if (gradient) {
    PetscCall(VecCopy(u, gradient));
    PetscCall(TSSetCostGradients(ts, 1, &gradient, NULL));
    PetscCall(TSAdjointSolve(ts));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckGradient(Problem* p, Vec u) {
  const PetscReal h = 1e-5;
  Vec gradient, direction, at;
  PetscReal value, sides[2];
  PetscScalar slope;
  int side;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(u, &gradient));
  PetscCall(VecDuplicate(u, &direction));
  PetscCall(VecDuplicate(u, &at));
  PetscCall(VecSetRandom(direction, NULL));
  PetscCall(Run(p, u, &value, gradient));
  for (side = 0; side < 2; ++side) {
    PetscCall(VecWAXPY(at, side == 0 ? -h : h, direction, u));
    PetscCall(Run(p, at, &sides[side], NULL));
  }
  PetscCall(VecDot(gradient, direction, &slope));
  CHECK(PetscAbs((sides[1] - sides[0]) / (2 * h) - slope) < 1e-7 * PetscAbs(slope));
  PetscCall(VecDestroy(&gradient));
  PetscCall(VecDestroy(&direction));
  PetscCall(VecDestroy(&at));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  Problem p = {NULL, NULL};
  TenonLayout layout = NULL;
  Vec u;

  PetscFunctionBegin;
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 24, 2, 1, NULL, &p.grid));
  PetscCall(DMSetUp(p.grid));
  PetscCall(TenonPetscLayoutFromDM(p.grid, &layout));
  PetscCall(CreateNetwork(PETSC_COMM_WORLD, 1, 2, TENON_BOUNDARY_PERIODIC, &p.network));
  TenonPetscCall(TenonLayerSetUp(p.network, layout));
  TenonPetscCall(
      TenonLayerSetTraining(p.network, TENON_FALSE)); /* the Jacobian evaluates for itself */
  PetscCall(DMCreateGlobalVector(p.grid, &u));
  PetscCall(VecSetRandom(u, NULL));
  PetscCall(CheckGradient(&p, u));
  PetscCall(VecDestroy(&u));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(TenonLayerDestroy(&p.network));
  PetscCall(DMDestroy(&p.grid));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
