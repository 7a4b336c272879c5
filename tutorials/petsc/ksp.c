/* SPDX-License-Identifier: BSD-2-Clause */
/* PETSc, KSP: a network in an implicit time step.
 *
 * What you learn: the layout of a DMDA; a Vec as a tensor without a copy; the Jacobian of a network
 * as a Mat for KSP, inside SNES. The field u of two components on a periodic grid takes one step of
 *
 *   u' = N(u),   F(u) = u - h N(u) - u0 = 0,   F'(u) = 1 - h N'(u),
 *
 * where N is diffusion and a network. The diffusion is a convolution too, so that both are one
 * graph.
 *
 *   mpiexec -n 4 petsc_ksp
 *   mpiexec -n 4 petsc_ksp -snes_monitor -ksp_type bcgs -log_view
 */
#include <petscsnes.h>
#include <tenon_petsc.h>

enum { kComponents = 2, kHidden = 6 };

typedef struct Step {
  DM grid;
  TenonLayer model; /* N */
  TenonDTensor u, rate;
  Vec start, rates; /* u0, and N(u) */
  PetscReal h;
  Mat jacobian;
} Step;

static PetscErrorCode CreateConv(TenonInt in, TenonInt out, TenonLayer* conv) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  const TenonBoundary periodic[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerCreateConv(PETSC_COMM_WORLD, 2, in, out, kernel, conv));
  TenonPetscCall(TenonLayerSetPadding(*conv, padding, NULL));
  TenonPetscCall(TenonLayerSetBoundary(*conv, periodic, NULL));
  PetscFunctionReturn(0);
}

/* The stencil of the Laplacian for each component by itself. */
static PetscErrorCode SetLaplacian(TenonLayer diffusion) {
  const double stencil[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
  TenonDTensor weight = NULL;
  void* array;
  int c, i;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayerGetParameter(diffusion, 0, &weight));
  TenonPetscCall(TenonDTensorFillConstant(weight, 0));
  TenonPetscCall(TenonDTensorGetArray(weight, TENON_PETSC_SCALAR, &array));
  for (c = 0; c < kComponents; ++c)
    for (i = 0; i < 9; ++i)
      ((PetscScalar*)array)[(c * kComponents + c) * 9 + i] = stencil[i]; /* weight[out][in][y][x] */
  TenonPetscCall(TenonDTensorRestoreArray(weight, &array));
  TenonPetscCall(TenonDTensorDestroy(&weight));
  PetscFunctionReturn(0);
}

/* N(u) = diffusion(u) + conv(tanh(conv(u))) */
static PetscErrorCode CreateModel(TenonLayout layout, TenonLayer* model) {
  TenonLayer layers[5] = {NULL, NULL, NULL, NULL, NULL};
  int nodes[5], ends[2], i;

  PetscFunctionBegin;
  PetscCall(CreateConv(kComponents, kComponents, &layers[0]));
  PetscCall(CreateConv(kComponents, kHidden, &layers[1]));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "tanh", &layers[2]));
  PetscCall(CreateConv(kHidden, kComponents, &layers[3]));
  TenonPetscCall(TenonLayerCreateType(PETSC_COMM_WORLD, "add", &layers[4]));
  TenonPetscCall(TenonLayerCreateGraph(PETSC_COMM_WORLD, model));
  TenonPetscCall(TenonLayerSetDataType(*model, TENON_PETSC_SCALAR));
  nodes[0] = -1; /* the input */
  TenonPetscCall(TenonLayerGraphAddNode(*model, layers[0], 1, &nodes[0], &ends[0]));
  for (i = 1; i < 4; ++i)
    TenonPetscCall(TenonLayerGraphAddNode(*model, layers[i], 1, &nodes[i - 1], &nodes[i]));
  ends[1] = nodes[3];
  TenonPetscCall(TenonLayerGraphAddNode(*model, layers[4], 2, ends, &nodes[4]));
  TenonPetscCall(TenonLayerSetUp(*model, layout));
  TenonPetscCall(TenonLayerInitialize(*model, 3));
  TenonPetscCall(TenonLayerSetTraining(*model, TENON_FALSE)); /* Jacobians do not need its stack */
  PetscCall(SetLaplacian(layers[0]));
  for (i = 0; i < 5; ++i)
    TenonPetscCall(TenonLayerDestroy(&layers[i]));
  PetscFunctionReturn(0);
}

/* F(u); the tensors are the vectors for the time of the evaluation. */
static PetscErrorCode Residual(SNES snes, Vec u, Vec f, void* context) {
  Step* s = (Step*)context;

  PetscFunctionBegin;
  (void)snes;
  PetscCall(TenonPetscPlaceVecRead(s->u, s->grid, u));
  PetscCall(TenonPetscPlaceVec(s->rate, s->grid, s->rates));
  TenonPetscCall(TenonLayerApply(s->model, s->u, s->rate));
  PetscCall(TenonPetscRestoreVec(s->rate, s->rates));
  PetscCall(TenonPetscRestoreVecRead(s->u, u));
  PetscCall(VecWAXPY(f, -1, s->start, u));
  PetscCall(VecAXPY(f, -s->h, s->rates));
  PetscFunctionReturn(0);
}

/* 1 - h N'(u); a new point takes the factors back. */
static PetscErrorCode Jacobian(SNES snes, Vec u, Mat J, Mat P, void* context) {
  Step* s = (Step*)context;

  PetscFunctionBegin;
  (void)snes;
  (void)P;
  PetscCall(TenonPetscMatSetPoint(J, u));
  PetscCall(MatScale(J, -s->h));
  PetscCall(MatShift(J, 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillStart(DM grid, Vec start) {
  PetscInt x, y, m, n, i, j, nx, ny;
  PetscScalar*** u;

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(grid, &x, &y, NULL, &m, &n, NULL));
  PetscCall(DMDAGetInfo(grid, NULL, &nx, &ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL));
  PetscCall(DMDAVecGetArrayDOF(grid, start, &u));
  for (j = y; j < y + n; ++j)
    for (i = x; i < x + m; ++i) {
      u[j][i][0] = PetscSinReal(2 * PETSC_PI * (PetscReal)i / (PetscReal)nx);
      u[j][i][1] = PetscCosReal(2 * PETSC_PI * (PetscReal)j / (PetscReal)ny);
    }
  PetscCall(DMDAVecRestoreArrayDOF(grid, start, &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode StepCreate(Step* s) {
  TenonLayout layout = NULL;

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_BOX, 32, 24, PETSC_DECIDE, PETSC_DECIDE, kComponents, 1, NULL,
                         NULL, &s->grid));
  PetscCall(DMSetFromOptions(s->grid));
  PetscCall(DMSetUp(s->grid));
  PetscCall(TenonPetscLayoutFromDM(s->grid, &layout));
  PetscCall(CreateModel(layout, &s->model));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &s->u));
  TenonPetscCall(TenonLayerCreateOutput(s->model, 0, &s->rate));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(DMCreateGlobalVector(s->grid, &s->start));
  PetscCall(VecDuplicate(s->start, &s->rates));
  PetscCall(FillStart(s->grid, s->start));
  PetscCall(TenonPetscMatFromLayer(s->model, s->grid, s->grid, s->start, &s->jacobian));
  s->h = 0.5;
  PetscFunctionReturn(0);
}

static PetscErrorCode StepDestroy(Step* s) {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->jacobian));
  PetscCall(VecDestroy(&s->start));
  PetscCall(VecDestroy(&s->rates));
  TenonPetscCall(TenonDTensorDestroy(&s->u));
  TenonPetscCall(TenonDTensorDestroy(&s->rate));
  TenonPetscCall(TenonLayerDestroy(&s->model));
  PetscCall(DMDestroy(&s->grid));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Step* s) {
  SNES snes;
  KSP ksp;
  PC pc;
  Vec u, f;
  PetscInt newton;
  PetscReal before, after, norm;
  PetscBool isLinear;

  PetscFunctionBegin;
  PetscCall(MatIsLinear(s->jacobian, 3, &isLinear));
  PetscCall(VecDuplicate(s->start, &u));
  PetscCall(VecDuplicate(s->start, &f));
  PetscCall(VecCopy(s->start, u));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, NULL, Residual, s));
  PetscCall(SNESSetJacobian(snes, s->jacobian, s->jacobian, Jacobian, s));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(
      SNESSetTolerances(snes, PETSC_DEFAULT, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESComputeFunction(snes, u, f));
  PetscCall(VecNorm(f, NORM_2, &before));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetIterationNumber(snes, &newton));
  PetscCall(SNESComputeFunction(snes, u, f));
  PetscCall(VecNorm(f, NORM_2, &after));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the Jacobian is linear: %s\n", isLinear ? "yes" : "no"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm of the residual %.6f before Newton's method\n",
                        (double)before));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations, residual below 1e-10: %s\n", (int)newton,
                        after < 1e-10 ? "yes" : "no"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm of the solution %.8f\n", (double)norm));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Step step = {0};

  PetscCall(PetscInitialize(&argc, &argv, NULL, "A network in an implicit time step\n"));
  PetscCall(TenonPetscInitialize(NULL));
  PetscCall(StepCreate(&step));
  PetscCall(Solve(&step));
  PetscCall(StepDestroy(&step));
  PetscCall(PetscFinalize());
  return 0;
}
