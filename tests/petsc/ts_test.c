/* SPDX-License-Identifier: BSD-2-Clause */
/* TS with a network as right-hand side, u' = N(u), and TSAdjoint through it: the derivative of
 * |u(T)|^2 / 2 with respect to u(0) and that with respect to the weights agree with central
 * differences. */
#include "run.h"

#include <petscts.h>

enum { kSteps = 6 };

typedef struct Problem {
  DM grid;
  TenonLayer network;
  Vec stage, rate; /* where the derivative with respect to the weights is taken */
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

/* weights = (dN/dp)^T lambda. The adjoint needs what the layer saves in training mode. */
static PetscErrorCode WeightsOf(Mat P, Vec lambda, Vec weights) {
  Problem* p;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(P, &p));
  TenonPetscCall(TenonLayerSetTraining(p->network, TENON_TRUE));
  TenonPetscCall(TenonLayerZeroGradients(p->network));
  PetscCall(TenonPetscLayerApply(p->network, p->grid, p->stage, p->grid, p->rate));
  PetscCall(TenonPetscLayerApplyAdjoint(p->network, p->grid, lambda, p->grid, NULL));
  PetscCall(TenonPetscGradientsToVec(p->network, weights));
  TenonPetscCall(TenonLayerSetTraining(p->network, TENON_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode JacobianP(TS ts, PetscReal time, Vec u, Mat P, void* context) {
  (void)ts;
  (void)time;
  (void)P;
  PetscFunctionBegin;
  PetscCall(VecCopy(u, ((Problem*)context)->stage));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateJacobianP(Problem* p, Vec weights, Mat* P) {
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(p->stage, &m));
  PetscCall(VecGetLocalSize(weights, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, p, P));
  PetscCall(MatShellSetOperation(*P, MATOP_MULT_TRANSPOSE, (void (*)(void))WeightsOf));
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
  PetscCall(TSSetMaxTime(*ts, 100)); /* not reached: the number of steps ends the run */
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_STEPOVER));
  PetscFunctionReturn(0);
}

/* |u(T)|^2 / 2, and its derivatives with respect to u(0) and the weights if they are asked for. */
static PetscErrorCode Run(Problem* p, Vec start, PetscReal* value, Vec gradient, Vec weights) {
  TS ts;
  TSAdapt adapt;
  Mat J, P = NULL;
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
    PetscCall(CreateJacobianP(p, weights, &P));
    PetscCall(TSSetRHSJacobianP(ts, P, JacobianP, p));
    PetscCall(VecSet(weights, 0));
    PetscCall(TSSetCostGradients(ts, 1, &gradient, &weights));
    PetscCall(TSAdjointSolve(ts));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

/* The derivative agrees with central differences in a direction, of the weights where `p0` has
 * theirs. */
static PetscErrorCode CheckSlope(Problem* p, Vec u, Vec p0, Vec gradient) {
  const PetscReal h = 1e-5;
  Vec direction, at;
  PetscReal sides[2];
  PetscScalar slope;
  int side;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(gradient, &direction));
  PetscCall(VecDuplicate(gradient, &at));
  PetscCall(VecSetRandom(direction, NULL));
  for (side = 0; side < 2; ++side) {
    PetscCall(VecWAXPY(at, side == 0 ? -h : h, direction, p0 ? p0 : u));
    if (p0)
      PetscCall(TenonPetscParametersFromVec(p->network, at));
    PetscCall(Run(p, p0 ? u : at, &sides[side], NULL, NULL));
  }
  PetscCall(VecDot(gradient, direction, &slope));
  CHECK(PetscAbs((sides[1] - sides[0]) / (2 * h) - slope) < 1e-7 * PetscAbs(slope));
  PetscCall(VecDestroy(&direction));
  PetscCall(VecDestroy(&at));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckGradients(Problem* p, Vec u) {
  Vec gradient, p0, weights;
  PetscReal value;

  PetscFunctionBegin;
  PetscCall(TenonPetscVecFromParameters(p->network, &p0));
  PetscCall(VecDuplicate(p0, &weights));
  PetscCall(VecDuplicate(u, &gradient));
  PetscCall(Run(p, u, &value, gradient, weights));
  PetscCall(CheckSlope(p, u, NULL, gradient));
  PetscCall(CheckSlope(p, u, p0, weights));
  PetscCall(VecDestroy(&gradient));
  PetscCall(VecDestroy(&weights));
  PetscCall(VecDestroy(&p0));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  Problem p = {NULL, NULL, NULL, NULL};
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
  PetscCall(VecDuplicate(u, &p.stage));
  PetscCall(VecDuplicate(u, &p.rate));
  PetscCall(CheckGradients(&p, u));
  PetscCall(VecDestroy(&p.stage));
  PetscCall(VecDestroy(&p.rate));
  PetscCall(VecDestroy(&u));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(TenonLayerDestroy(&p.network));
  PetscCall(DMDestroy(&p.grid));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
