/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators as matrices: the tensors of both sides and of their duals wrap the vectors' arrays. */
#include "shim.h"

typedef struct Shell {
  TenonLinearOp op;
  DM rows, columns; /* NULL: row-major blocks */
  TenonDTensor x, y, dy, dx;
  Events events;
} Shell;

/* The operator, or its adjoint, between the arrays of two vectors. */
static PetscErrorCode Run(Mat A, Vec input, Vec output, PetscBool adjoint) {
  Shell* s;
  TenonDTensor from, to;
  PetscLogEvent event;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  event = adjoint ? s->events.adjoint : s->events.apply;
  from = adjoint ? s->dy : s->x;
  to = adjoint ? s->dx : s->y;
  PetscCall(PetscLogEventBegin(event, A, input, output, 0));
  PetscCall(PlaceBlock(from, adjoint ? s->rows : s->columns, input, PETSC_TRUE));
  PetscCall(PlaceBlock(to, adjoint ? s->columns : s->rows, output, PETSC_FALSE));
  TenonPetscCall((adjoint ? TenonLinearOpApplyAdjoint : TenonLinearOpApply)(s->op, from, to));
  PetscCall(TenonPetscRestoreVec(to, output));
  PetscCall(TenonPetscRestoreVecRead(from, input));
  PetscCall(PetscLogEventEnd(event, A, input, output, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat A, Vec x, Vec y) {
  return Run(A, x, y, PETSC_FALSE);
}

static PetscErrorCode MultiplyTransposed(Mat A, Vec y, Vec x) {
  return Run(A, y, x, PETSC_TRUE);
}

static PetscErrorCode DestroyShell(Mat A) {
  Shell* s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  TenonPetscCall(TenonDTensorDestroy(&s->x));
  TenonPetscCall(TenonDTensorDestroy(&s->y));
  TenonPetscCall(TenonDTensorDestroy(&s->dy));
  TenonPetscCall(TenonDTensorDestroy(&s->dx));
  TenonPetscCall(TenonLinearOpDestroy(&s->op));
  PetscCall(DMDestroy(&s->rows));
  PetscCall(DMDestroy(&s->columns));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(0);
}

/* A tensor in the layout, and one in its dual. */
static PetscErrorCode CreatePair(TenonLayout layout, TenonDTensor* x, TenonDTensor* dual) {
  TenonLayout other = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLayoutGetDual(layout, &other));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, x));
  TenonPetscCall(TenonDTensorCreate(other, TENON_PETSC_SCALAR, dual));
  TenonPetscCall(TenonLayoutDestroy(&other));
  PetscFunctionReturn(0);
}

typedef TenonErrorCode (*GetSide)(TenonLinearOp op, TenonLayout* layout);

static PetscErrorCode CheckSide(TenonLinearOp op, GetSide get, DM dm, MPI_Comm comm,
                                const char* what) {
  TenonLayout layout = NULL;
  PetscErrorCode code;

  PetscFunctionBegin;
  TenonPetscCall(get(op, &layout));
  code = CheckBlocks(layout, dm, comm, what);
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOperator(TenonLinearOp op, DM rows, DM columns, MPI_Comm comm) {
  TenonDataType type;

  PetscFunctionBegin;
  TenonPetscCall(TenonLinearOpGetDataType(op, &type));
  PetscCall(CheckScalar(type, "the operator's domain"));
  TenonPetscCall(TenonLinearOpGetRangeDataType(op, &type));
  PetscCall(CheckScalar(type, "the operator's range"));
  PetscCall(CheckSide(op, TenonLinearOpGetRange, rows, comm, "the layout of the operator's range"));
  PetscCall(
      CheckSide(op, TenonLinearOpGetDomain, columns, comm, "the layout of the operator's domain"));
  PetscFunctionReturn(0);
}

/* The grid's, as the vectors have it, else Tenon's. */
static PetscErrorCode CommOf(TenonLinearOp op, DM rows, DM columns, MPI_Comm* comm) {
  PetscFunctionBegin;
  if (rows || columns)
    PetscCall(PetscObjectGetComm((PetscObject)(rows ? rows : columns), comm));
  else
    TenonPetscCall(TenonObjectGetComm((TenonObject)op, comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateShell(TenonLinearOp op, DM rows, DM columns, Shell* s) {
  TenonLayout domain = NULL, range = NULL;

  PetscFunctionBegin;
  TenonPetscCall(TenonLinearOpGetDomain(op, &domain));
  TenonPetscCall(TenonLinearOpGetRange(op, &range));
  PetscCall(CreatePair(domain, &s->x, &s->dx));
  PetscCall(CreatePair(range, &s->y, &s->dy));
  TenonPetscCall(TenonLayoutDestroy(&domain));
  TenonPetscCall(TenonLayoutDestroy(&range));
  TenonPetscCall(TenonObjectRetain((TenonObject)op));
  s->op = op;
  s->rows = rows;
  s->columns = columns;
  if (rows)
    PetscCall(PetscObjectReference((PetscObject)rows));
  if (columns)
    PetscCall(PetscObjectReference((PetscObject)columns));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatFromLinearOp(TenonLinearOp op, DM rows, DM columns, Mat* A) {
  MPI_Comm comm;
  Shell* s;
  TenonInt m, n;

  PetscFunctionBegin;
  PetscCall(CommOf(op, rows, columns, &comm));
  PetscCall(CheckOperator(op, rows, columns, comm));
  PetscCall(PetscNew(&s));
  PetscCall(GetEvents(&s->events));
  PetscCall(PetscLogEventBegin(s->events.setUp, 0, 0, 0, 0));
  PetscCall(CreateShell(op, rows, columns, s));
  TenonPetscCall(TenonDTensorGetLocalSize(s->y, &m));
  TenonPetscCall(TenonDTensorGetLocalSize(s->x, &n));
  PetscCall(MatCreateShell(comm, (PetscInt)m, (PetscInt)n, PETSC_DETERMINE, PETSC_DETERMINE, s, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (void (*)(void))MultiplyTransposed));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))DestroyShell));
  PetscCall(PetscLogEventEnd(s->events.setUp, 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatFromLayer(TenonLayer layer, DM rows, DM columns, Vec x, Mat* J) {
  Events events;
  TenonLayout layout = NULL;
  TenonDTensor point = NULL;
  TenonLinearOp op = NULL;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(GetEvents(&events));
  PetscCall(PetscLogEventBegin(events.setUp, 0, 0, 0, 0));
  PetscCall(TenonPetscLayoutFromDM(columns, &layout));
  TenonPetscCall(TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &point));
  PetscCall(TenonPetscPlaceVecRead(point, columns, x));
  TenonPetscCall(TenonLinearOpCreateJacobian(layer, point, &op));
  PetscCall(TenonPetscRestoreVecRead(point, x));
  TenonPetscCall(TenonDTensorDestroy(&point));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  PetscCall(PetscLogEventEnd(events.setUp, 0, 0, 0, 0));
  code = TenonPetscMatFromLinearOp(op, rows, columns, J);
  TenonPetscCall(TenonLinearOpDestroy(&op));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatSetPoint(Mat J, Vec x) {
  Shell* s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(J, &s));
  PetscCall(PetscLogEventBegin(s->events.setUp, J, x, 0, 0));
  PetscCall(PlaceBlock(s->x, s->columns, x, PETSC_TRUE));
  TenonPetscCall(TenonLinearOpJacobianSetPoint(s->op, s->x));
  PetscCall(TenonPetscRestoreVecRead(s->x, x));
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY)); /* so that solvers see another matrix */
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscLogEventEnd(s->events.setUp, J, x, 0, 0));
  PetscFunctionReturn(0);
}
