/* SPDX-License-Identifier: BSD-2-Clause */
/* TenonPetscPlaceVec(x, dm, vec) and ...Read: the tensor x uses the array of a Vec, without a copy,
 * until TenonPetscRestoreVec(x, vec). This is called a loan. PlaceBlock() and ReleaseBlock() do the
 * same for the other files of this folder, within one function. PlaceBlock() and ReleaseBlock() are
 * declared in shim.h, the others in include/tenon_petsc.h.
 *
 * The loans that are open are recorded in a list of the process, with references to both objects,
 * because neither the tensor nor the Vec knows the other one, and the program can destroy either
 * before the loan ends. */
#include "shim.h"

static PetscErrorCode PlaceToRead(TenonDTensor x, const Place* at, Vec vec) {
  const PetscScalar* values;
  TenonErrorCode result;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(vec, &values));
  result = TenonDTensorPlaceArrayRead(x, values + at->first, at->strides, at->ghostsLow,
                                      at->ghostsHigh, at->length);
  if (result != TENON_SUCCESS)
    PetscCall(VecRestoreArrayRead(vec, &values));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

static PetscErrorCode PlaceToWrite(TenonDTensor x, const Place* at, Vec vec) {
  PetscScalar* values;
  TenonErrorCode result;

  PetscFunctionBegin;
  PetscCall(VecGetArray(vec, &values));
  result = TenonDTensorPlaceArray(x, values + at->first, at->strides, at->ghostsLow, at->ghostsHigh,
                                  at->length);
  if (result != TENON_SUCCESS)
    PetscCall(VecRestoreArray(vec, &values));
  TenonPetscCall(result);
  PetscFunctionReturn(0);
}

PetscErrorCode PlaceBlock(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly) {
  TenonDataType type;
  Place at;

  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorGetDataType(x, &type));
  PetscCall(CheckScalar(type, "the tensor"));
  PetscCall(FindPlace(x, dm, vec, &at));
  PetscCall((readOnly ? PlaceToRead : PlaceToWrite)(x, &at, vec));
  PetscFunctionReturn(0);
}

PetscErrorCode ReleaseBlock(TenonDTensor x, Vec vec, PetscBool readOnly) {
  PetscFunctionBegin;
  TenonPetscCall(TenonDTensorResetArray(x));
  if (readOnly)
    PetscCall(VecRestoreArrayRead(vec, NULL));
  else
    PetscCall(VecRestoreArray(vec, NULL));
  PetscFunctionReturn(0);
}

/* An open loan, an entry of the list `loans`. */
typedef struct Loan {
  TenonDTensor x;
  Vec vec;
  PetscBool readOnly;
  struct Loan* next;
} Loan;

static Loan* loans;

/* Returns the address of the pointer to the tensor's loan, or of the NULL at the end of the list.
 */
static Loan** LoanOf(TenonDTensor x) {
  Loan** at = &loans;

  while (*at && (*at)->x != x)
    at = &(*at)->next;
  return at;
}

static PetscErrorCode BeginLoan(TenonDTensor x, DM dm, Vec vec, PetscBool readOnly) {
  Loan* loan;

  PetscFunctionBegin;
  NEED_ADDRESS(x);
  NEED_OBJECT(dm, DM_CLASSID);
  NEED_OBJECT(vec, VEC_CLASSID);
  PetscCheck(!*LoanOf(x), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "a Vec is placed in the tensor already; restore it first");
  PetscCall(PlaceBlock(x, dm, vec, readOnly));
  PetscCall(PetscNew(&loan));
  TenonPetscCall(TenonObjectRetain((TenonObject)x));
  PetscCall(PetscObjectReference((PetscObject)vec));
  loan->x = x;
  loan->vec = vec;
  loan->readOnly = readOnly;
  loan->next = loans;
  loans = loan;
  PetscFunctionReturn(0);
}

static PetscErrorCode EndLoan(TenonDTensor x, Vec vec, PetscBool readOnly) {
  Loan **at = LoanOf(x), *loan = *at;

  PetscFunctionBegin;
  NEED_ADDRESS(x);
  NEED_OBJECT(vec, VEC_CLASSID);
  PetscCheck(
      loan && loan->vec == vec, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
      "the tensor does not use the array of this Vec; restore the Vec that was placed in it");
  PetscCheck(loan->readOnly == readOnly, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the Vec was placed by TenonPetscPlaceVec%s(); end the loan by "
             "TenonPetscRestoreVec%s()",
             loan->readOnly ? "Read" : "", loan->readOnly ? "Read" : "");
  PetscCall(ReleaseBlock(x, vec, readOnly));
  *at = loan->next;
  TenonPetscCall(TenonDTensorDestroy(&loan->x));
  PetscCall(VecDestroy(&loan->vec));
  PetscCall(PetscFree(loan));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscPlaceVec(TenonDTensor x, DM dm, Vec vec) {
  return BeginLoan(x, dm, vec, PETSC_FALSE);
}

PetscErrorCode TenonPetscPlaceVecRead(TenonDTensor x, DM dm, Vec vec) {
  return BeginLoan(x, dm, vec, PETSC_TRUE);
}

PetscErrorCode TenonPetscRestoreVec(TenonDTensor x, Vec vec) {
  return EndLoan(x, vec, PETSC_FALSE);
}

PetscErrorCode TenonPetscRestoreVecRead(TenonDTensor x, Vec vec) {
  return EndLoan(x, vec, PETSC_TRUE);
}
