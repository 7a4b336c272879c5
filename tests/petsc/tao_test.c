/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of a network as a Vec, and a loss over them as TAO's objective: its gradient is
 * that of differences, and the minimum of a problem with a known one is found. */
#include "run.h"

typedef struct Problem {
  DM dm;
  TenonLayout layout;
  TenonLayer network; /* conv, tanh, conv, mean squared error */
  TenonDTensor x, target;
} Problem;

/* Conv alone where `isLinear`; the target is random, or what the same convolution with all weights
 * 1/8 gives. */
static PetscErrorCode ProblemCreate(PetscBool isLinear, const char* storage, Problem* p) {
  const MPI_Comm comm = PETSC_COMM_WORLD;
  TenonLayer map = NULL, loss = NULL;

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX, 12, 8,
                         PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &p->dm));
  PetscCall(DMSetUp(p->dm));
  p->layout = NULL;
  p->network = NULL;
  PetscCall(TenonPetscLayoutFromDM(p->dm, &p->layout));
  TenonPetscCall(TenonDTensorCreate(p->layout, TENON_PETSC_SCALAR, &p->x));
  TenonPetscCall(TenonDTensorCreate(p->layout, TENON_PETSC_SCALAR, &p->target));
  TenonPetscCall(TenonDTensorFillUniform(p->x, 1, 1, -1, 1));
  TenonPetscCall(TenonDTensorFillUniform(p->target, 1, 2, -1, 1));
  if (isLinear)
    PetscCall(CreateSameConv(comm, 2, 2, 2, TENON_BOUNDARY_PERIODIC, &map));
  else
    PetscCall(CreateNetwork(comm, 2, 2, TENON_BOUNDARY_PERIODIC, &map));
  TenonPetscCall(TenonLayerCreateType(comm, "meansquarederror", &loss));
  TenonPetscCall(TenonLayerSetTarget(loss, p->target));
  TenonPetscCall(TenonLayerCreateSequential(comm, &p->network));
  TenonPetscCall(TenonObjectSetText((TenonObject)p->network, "storage", storage));
  TenonPetscCall(TenonLayerSetDataType(p->network, TENON_PETSC_SCALAR));
  TenonPetscCall(TenonLayerSequentialAdd(p->network, map));
  TenonPetscCall(TenonLayerSequentialAdd(p->network, loss));
  TenonPetscCall(TenonLayerSetUp(p->network, p->layout));
  TenonPetscCall(TenonLayerDestroy(&map));
  TenonPetscCall(TenonLayerDestroy(&loss));
  PetscFunctionReturn(0);
}

static PetscErrorCode ProblemDestroy(Problem* p) {
  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorDestroy(&p->x));
  TenonPetscCall(TenonDTensorDestroy(&p->target));
  TenonPetscCall(TenonLayerDestroy(&p->network));
  TenonPetscCall(TenonLayoutDestroy(&p->layout));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(0);
}

/* To the Vec and back: the Vec has each element once, and the network what the Vec holds. */
static PetscErrorCode TestParameters(const char* storage) {
  Problem problem;
  Vec p, q;
  PetscInt size;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(PETSC_FALSE, storage, &problem));
  PetscCall(TenonPetscVecFromParameters(problem.network, &p));
  PetscCall(VecGetSize(p, &size));
  CHECK(size == 2 * 4 * 9 + 4 + 4 * 2 * 9 + 2);
  PetscCall(VecSetRandom(p, NULL));
  PetscCall(TenonPetscParametersFromVec(problem.network, p));
  PetscCall(TenonPetscVecFromParameters(problem.network, &q));
  PetscCall(VecNorm(q, NORM_INFINITY, &norm));
  CHECK(norm > 0.5);
  PetscCall(VecAXPY(q, -1, p));
  PetscCall(VecNorm(q, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&q));
  PetscCall(ProblemDestroy(&problem));
  PetscFunctionReturn(0);
}

/* <gradient, d> = (f(p + h d) - f(p - h d)) / 2 h. */
static PetscErrorCode CheckGradient(Tao tao, Vec p) {
  const PetscReal h = 1e-6;
  PetscReal f, above, below;
  PetscScalar slope;
  Vec g, d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(p, &g));
  PetscCall(VecDuplicate(p, &d));
  PetscCall(VecSetRandom(d, NULL));
  PetscCall(TaoComputeObjectiveAndGradient(tao, p, &f, g));
  PetscCall(VecDot(g, d, &slope));
  PetscCall(VecAXPY(p, h, d));
  PetscCall(TaoComputeObjective(tao, p, &above));
  PetscCall(VecAXPY(p, -2 * h, d));
  PetscCall(TaoComputeObjective(tao, p, &below));
  PetscCall(VecAXPY(p, h, d));
  CHECK(f > 0 && PetscAbs((above - below) / (2 * h) - slope) < 1e-8 * PetscAbs(slope));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(0);
}

/* With -tao_test_gradient PETSc prints its own check of the gradient in TaoSolve(). */
static PetscErrorCode TestGradient(const char* storage) {
  Problem problem;
  Tao tao;
  Vec p;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(PETSC_FALSE, storage, &problem));
  PetscCall(TenonPetscVecFromParameters(problem.network, &p));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOLMVM));
  PetscCall(TenonPetscTaoSetLoss(tao, problem.network, problem.x));
  PetscCall(TaoSetSolution(tao, p));
  PetscCall(CheckGradient(tao, p));
  PetscCall(TaoSetMaximumIterations(tao, 2));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&p));
  PetscCall(ProblemDestroy(&problem));
  PetscFunctionReturn(0);
}

/* The weights that made the target are found: they minimise a convex function. */
static PetscErrorCode TestSolve(void) {
  Problem problem;
  TenonLayer conv = NULL;
  TenonDTensor weight = NULL;
  Tao tao;
  TaoConvergedReason reason;
  Vec p;
  PetscReal most;
  double largest;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(PETSC_TRUE, "use", &problem));
  PetscCall(CreateSameConv(PETSC_COMM_WORLD, 2, 2, 2, TENON_BOUNDARY_PERIODIC, &conv));
  TenonPetscCall(TenonLayerSetUp(conv, problem.layout));
  TenonPetscCall(TenonLayerGetParameter(conv, 0, &weight));
  TenonPetscCall(TenonDTensorFillConstant(weight, 0.125));
  TenonPetscCall(TenonLayerSetTraining(conv, TENON_FALSE));
  TenonPetscCall(TenonLayerApply(conv, problem.x, problem.target));

  PetscCall(TenonPetscVecFromParameters(problem.network, &p));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOLMVM));
  PetscCall(TenonPetscTaoSetLoss(tao, problem.network, problem.x));
  PetscCall(TaoSetSolution(tao, p));
  PetscCall(TaoSetTolerances(tao, 1e-9, 0, 0));
  PetscCall(TaoSetMaximumIterations(tao, 400));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetConvergedReason(tao, &reason));
  CHECK(reason > 0);
  PetscCall(TenonPetscParametersFromVec(problem.network, p));
  TenonPetscCall(TenonDTensorDestroy(&weight));
  TenonPetscCall(TenonLayerGetParameter(problem.network, 0, &weight));
  TenonPetscCall(TenonDTensorMaxAbs(weight, &largest));
  CHECK(PetscAbs(largest - 0.125) < 1e-6);
  PetscCall(VecMin(p, NULL, &most));
  CHECK(PetscAbs(most) < 1e-6); /* the biases are 0, the smallest */

  CHECK_FAILS(PETSC_ERR_ARG_SIZ, TenonPetscTaoSetLoss(tao, conv, problem.x));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&p));
  TenonPetscCall(TenonDTensorDestroy(&weight));
  TenonPetscCall(TenonLayerDestroy(&conv));
  PetscCall(ProblemDestroy(&problem));
  PetscFunctionReturn(0);
}

static PetscErrorCode TestNull(void) {
  Problem problem;
  TenonDTensor other = NULL;
  int before, after;
  Tao tao;
  Vec p;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(PETSC_TRUE, "use", &problem));
  PetscCall(TenonPetscVecFromParameters(problem.network, &p));
  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  TenonPetscCall(TenonObjectGetReferences((TenonObject)problem.network, &before));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscVecFromParameters(NULL, &p));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscVecFromParameters(problem.network, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscParametersFromVec(NULL, p));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscParametersFromVec(problem.network, NULL));
  CHECK_FAILS(PETSC_ERR_ARG_WRONG, TenonPetscParametersFromVec(problem.network, (Vec)problem.dm));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscTaoSetLoss(NULL, problem.network, problem.x));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscTaoSetLoss(tao, NULL, problem.x));
  CHECK_FAILS(PETSC_ERR_ARG_NULL, TenonPetscTaoSetLoss(tao, problem.network, other));
  TenonPetscCall(TenonObjectGetReferences((TenonObject)problem.network, &after));
  CHECK(before == after); /* nothing is left of the calls that failed */
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&p));
  PetscCall(ProblemDestroy(&problem));
  PetscFunctionReturn(0);
}

static PetscErrorCode Test(void) {
  PetscFunctionBegin;
  PetscCall(TestNull());
  PetscCall(TestParameters("use"));
  PetscCall(TestParameters("root"));
  PetscCall(TestGradient("use"));
  PetscCall(TestGradient("root"));
  PetscCall(TestSolve());
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  return RunTest(argc, argv, Test);
}
