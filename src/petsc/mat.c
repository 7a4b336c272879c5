/* SPDX-License-Identifier: BSD-2-Clause */
/* Tenon's operators as PETSc matrices of the type MATSHELL, which are multiplied by calling the
 * operator. x and y are global vectors of the grids `columns` and `rows`:
 *
 *   TenonPetscMatFromLinearOp(op, rows, columns, &A)       A x is op, A^T y its adjoint
 *   TenonPetscMatFromLayer(layer, rows, columns, x, &J)    the Jacobian of a layer at x
 *   TenonPetscMatSetPoint(J, x)                            moves the Jacobian to another x
 *
 * For a product, the tensors of the matrix use the arrays of both vectors, without a copy. All
 * functions are collective. The functions are declared in include/tenon_petsc.h. */
#include "shim.h"

/* The context of a matrix. */
typedef struct Shell {
  TenonLinearOp op;
  DM rows, columns;          /* NULL: vectors have each rank's block in row-major order */
  TenonDTensor x, y, dy, dx; /* input and output of the operator, and of its adjoint */
  Events events;
} Shell;

/* Applies the operator, or its adjoint, between the arrays of two vectors, which are restored
 * also after an error. */
static PetscErrorCode Run(Mat A, Vec input, Vec output, PetscBool adjoint) {
  Shell* s;
  TenonDTensor from, to;
  PetscLogEvent event;
  TenonErrorCode result = TENON_SUCCESS;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  event = adjoint ? s->events.adjoint : s->events.apply;
  from = adjoint ? s->dy : s->x;
  to = adjoint ? s->dx : s->y;
  PetscCall(PlaceBlock(from, adjoint ? s->rows : s->columns, input, PETSC_TRUE));
  code = PlaceBlock(to, adjoint ? s->columns : s->rows, output, PETSC_FALSE);
  if (!code) {
    PetscCall(BeginWork(&s->events, event, (PetscObject)A, input, output));
    result = (adjoint ? TenonLinearOpApplyAdjoint : TenonLinearOpApply)(s->op, from, to);
    PetscCall(EndWork(&s->events, event, (PetscObject)A, input, output));
    PetscCall(ReleaseBlock(to, output, PETSC_FALSE));
  }
  PetscCall(ReleaseBlock(from, input, PETSC_TRUE));
  PetscCall(code);
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

static PetscErrorCode Multiply(Mat A, Vec x, Vec y) {
  return Run(A, x, y, PETSC_FALSE);
}

static PetscErrorCode MultiplyTransposed(Mat A, Vec y, Vec x) {
  return Run(A, y, x, PETSC_TRUE);
}

static PetscErrorCode DestroyShell(void* context) {
  Shell* s = (Shell*)context;

  PetscFunctionBegin;
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

/* TenonLinearOpGetDomain() or TenonLinearOpGetRange(). */
typedef TenonErrorCode (*GetSide)(TenonLinearOp op, TenonLayout* layout);

/* Creates a tensor in the layout of a side, and one in its dual. */
static PetscErrorCode CreatePair(TenonLinearOp op, GetSide get, TenonDTensor* x,
                                 TenonDTensor* dual) {
  TenonLayout layout = NULL, other = NULL;
  TenonErrorCode result;

  PetscFunctionBegin;
  TenonPetscCall(get(op, &layout));
  result = TenonDTensorCreate(layout, TENON_PETSC_SCALAR, x);
  if (result == TENON_SUCCESS)
    result = TenonLayoutGetDual(layout, &other);
  if (result == TENON_SUCCESS)
    result = TenonDTensorCreate(other, TENON_PETSC_SCALAR, dual);
  TenonPetscCall(TenonLayoutDestroy(&other));
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

/* Checks that vectors of the grid can be one side of the operator; `what` names it in messages. */
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
  TenonDataType domain, range;

  PetscFunctionBegin;
  TenonPetscCall(TenonLinearOpGetDataTypes(op, &domain, &range));
  PetscCall(CheckScalar(domain, "the operator's domain"));
  PetscCall(CheckScalar(range, "the operator's range"));
  PetscCall(CheckSide(op, TenonLinearOpGetRange, rows, comm, "the layout of the operator's range"));
  PetscCall(
      CheckSide(op, TenonLinearOpGetDomain, columns, comm, "the layout of the operator's domain"));
  PetscFunctionReturn(0);
}

/* The communicator of the matrix: that of a grid, which its vectors have too, or without grids that
 * of the operator. */
static PetscErrorCode CommOf(TenonLinearOp op, DM rows, DM columns, MPI_Comm* comm) {
  PetscFunctionBegin;
  if (rows || columns)
    PetscCall(PetscObjectGetComm((PetscObject)(rows ? rows : columns), comm));
  else
    TenonPetscCall(TenonObjectGetComm((TenonObject)op, comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillShell(TenonLinearOp op, DM rows, DM columns, Shell* s) {
  PetscFunctionBegin;
  PetscCall(GetEvents(&s->events));
  TenonPetscCall(TenonObjectRetain((TenonObject)op));
  s->op = op;
  if (rows)
    PetscCall(PetscObjectReference((PetscObject)rows));
  s->rows = rows;
  if (columns)
    PetscCall(PetscObjectReference((PetscObject)columns));
  s->columns = columns;
  PetscCall(CreatePair(op, TenonLinearOpGetDomain, &s->x, &s->dx));
  PetscCall(CreatePair(op, TenonLinearOpGetRange, &s->y, &s->dy));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateShell(TenonLinearOp op, DM rows, DM columns, Shell** s) {
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(PetscNew(s));
  code = FillShell(op, rows, columns, *s);
  if (code)
    PetscCall(DestroyShell(*s));
  PetscCall(code);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatFromLinearOp(TenonLinearOp op, DM rows, DM columns, Mat* A) {
  MPI_Comm comm;
  Shell* s;
  TenonInt m, n;

  PetscFunctionBegin;
  NEED_ADDRESS(op);
  if (rows)
    NEED_OBJECT(rows, DM_CLASSID);
  if (columns)
    NEED_OBJECT(columns, DM_CLASSID);
  NEED_ADDRESS(A);
  PetscCall(CommOf(op, rows, columns, &comm));
  PetscCall(CheckOperator(op, rows, columns, comm));
  PetscCall(CreateShell(op, rows, columns, &s));
  PetscCall(PetscLogEventBegin(s->events.setUp, 0, 0, 0, 0));
  TenonPetscCall(TenonDTensorGetLocalSize(s->y, &m));
  TenonPetscCall(TenonDTensorGetLocalSize(s->x, &n));
  PetscCall(MatCreateShell(comm, (PetscInt)m, (PetscInt)n, PETSC_DETERMINE, PETSC_DETERMINE, s, A));
  /* Called once for a matrix and its duplicates, which share the context. */
  PetscCall(MatShellSetContextDestroy(*A, DestroyShell));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT_TRANSPOSE, (void (*)(void))MultiplyTransposed));
  PetscCall(PetscLogEventEnd(s->events.setUp, 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

/* Creates the layer's Jacobian, as an operator, at the input that a Vec contains. */
static PetscErrorCode CreateJacobian(TenonLayer layer, DM columns, Vec x, TenonLinearOp* op) {
  TenonLayout layout = NULL;
  TenonDTensor point = NULL;
  TenonErrorCode result;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(TenonPetscLayoutFromDM(columns, &layout));
  result = TenonDTensorCreate(layout, TENON_PETSC_SCALAR, &point);
  TenonPetscCall(TenonLayoutDestroy(&layout));
  TenonPetscCall(result);
  code = PlaceBlock(point, columns, x, PETSC_TRUE);
  if (!code) {
    result = TenonLinearOpCreateJacobian(layer, point, op);
    PetscCall(ReleaseBlock(point, x, PETSC_TRUE));
  }
  TenonPetscCall(TenonDTensorDestroy(&point));
  PetscCall(code);
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatFromLayer(TenonLayer layer, DM rows, DM columns, Vec x, Mat* J) {
  Events events;
  TenonLinearOp op = NULL;
  PetscErrorCode code;

  PetscFunctionBegin;
  NEED_ADDRESS(layer);
  NEED_OBJECT(columns, DM_CLASSID);
  NEED_OBJECT(x, VEC_CLASSID);
  PetscCall(GetEvents(&events));
  PetscCall(PetscLogEventBegin(events.setUp, 0, 0, 0, 0));
  code = CreateJacobian(layer, columns, x, &op);
  PetscCall(PetscLogEventEnd(events.setUp, 0, 0, 0, 0));
  PetscCall(code);
  code = TenonPetscMatFromLinearOp(op, rows, columns, J);
  TenonPetscCall(TenonLinearOpDestroy(&op));
  PetscCall(code);
  PetscFunctionReturn(0);
}

/* Returns the context of a matrix of this file; an error for any other matrix. */
static PetscErrorCode ShellOf(Mat A, Shell** s) {
  PetscBool isShell;
  void (*multiply)(void) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &isShell));
  if (isShell)
    PetscCall(MatShellGetOperation(A, MATOP_MULT, &multiply));
  PetscCheck(multiply == (void (*)(void))Multiply, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "the matrix is not one of Tenon; pass one of TenonPetscMatFromLayer()");
  PetscCall(MatShellGetContext(A, s));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockSizes(Mat J, PetscInt* rows, PetscInt* columns) {
  Shell* s;

  PetscFunctionBegin;
  PetscCall(ShellOf(J, &s));
  PetscCheck(s->rows && s->columns, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_WRONG,
             "the matrix is not between vectors of grids; pass the grids where it is created");
  PetscCall(DMDAGetDof(s->rows, rows));
  PetscCall(DMDAGetDof(s->columns, columns));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscMatSetPoint(Mat J, Vec x) {
  Shell* s;
  TenonErrorCode result;

  PetscFunctionBegin;
  NEED_OBJECT(J, MAT_CLASSID);
  NEED_OBJECT(x, VEC_CLASSID);
  PetscCall(ShellOf(J, &s));
  PetscCall(PlaceBlock(s->x, s->columns, x, PETSC_TRUE));
  PetscCall(PetscLogEventBegin(s->events.setUp, J, x, 0, 0));
  result = TenonLinearOpJacobianSetPoint(s->op, s->x);
  PetscCall(PetscLogEventEnd(s->events.setUp, J, x, 0, 0));
  PetscCall(ReleaseBlock(s->x, x, PETSC_TRUE));
  TenonPetscCall(result);
  /* An assembly tells solvers that the matrix has changed. */
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
