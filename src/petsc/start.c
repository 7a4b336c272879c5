/* SPDX-License-Identifier: BSD-2-Clause */
/* Initialisation, errors, checks of arguments, and the events of -log_view. */
#include "shim.h"

static Events known;
static PetscBool isRegistered = PETSC_FALSE;

PetscErrorCode TenonPetscError(TenonErrorCode code, const char* function, const char* file,
                               int line) {
  char message[2048] = "";

  if (code == TENON_SUCCESS)
    return 0;
  TenonAddFrame(code, function, file, line);
  TenonGetLastError(NULL, message, sizeof message, NULL);
  return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_LIB, PETSC_ERROR_INITIAL,
                    "Tenon: %s: %s", TenonErrorName(code), message);
}

PetscErrorCode CheckObject(PetscObject object, PetscClassId id, const char* name) {
  PetscClassId found;

  PetscFunctionBegin;
  PetscCheck(object, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s is NULL", name);
  PetscCall(PetscObjectGetClassId(object, &found));
  PetscCheck(found == id, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "%s is an object of another class, or was destroyed", name);
  PetscFunctionReturn(0);
}

/* Numbers of events are those of one life of PETSc. */
static PetscErrorCode ForgetEvents(void) {
  isRegistered = PETSC_FALSE;
  return 0;
}

PetscErrorCode GetEvents(Events* events) {
  PetscClassId id;

  PetscFunctionBegin;
  if (!isRegistered) {
    PetscCall(PetscClassIdRegister("Tenon", &id));
    PetscCall(PetscLogEventRegister("TenonSetUp", id, &known.setUp));
    PetscCall(PetscLogEventRegister("TenonApply", id, &known.apply));
    PetscCall(PetscLogEventRegister("TenonAdjoint", id, &known.adjoint));
    PetscCall(PetscRegisterFinalize(ForgetEvents));
    isRegistered = PETSC_TRUE;
  }
  *events = known;
  PetscFunctionReturn(0);
}

static PetscErrorCode FinalizeTenon(void) {
  PetscFunctionBegin;
  TenonPetscCall(TenonFinalize());
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscInitialize(const char* help) {
  int argc;
  char** argv;
  Events events;

  PetscFunctionBegin;
  PetscCall(PetscGetArgs(&argc, &argv));
  TenonPetscCall(TenonInitializeWithComm(PETSC_COMM_WORLD, &argc, &argv, help));
  PetscCall(PetscRegisterFinalize(FinalizeTenon));
  PetscCall(GetEvents(&events));
  PetscFunctionReturn(0);
}
