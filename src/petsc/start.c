/* SPDX-License-Identifier: BSD-2-Clause */
/* TenonPetscInitialize(), and common code of this library: errors, checks of arguments, and the
 * events of -log_view. TenonPetscInitialize() is declared in include/tenon_petsc.h, the common code
 * in shim.h.
 *
 * Tenon is initialised on PETSC_COMM_WORLD with the options of PETSc's database, which are
 * converted to a command line, and is finalised by PetscFinalize(). Errors of Tenon become PETSc
 * errors, which PETSc prints; Tenon's own handler is replaced by a silent one, which otherwise
 * would print them too. */
#include "shim.h"

/* The events of this run of PETSc, once they are registered. */
static Events registered;
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

PetscErrorCode CheckInitialized(void) {
  TenonBool isInitialized;

  PetscFunctionBegin;
  TenonPetscCall(TenonInitialized(&isInitialized));
  PetscCheck(isInitialized, PETSC_COMM_SELF, PETSC_ERR_ORDER,
             "Tenon is not initialised; call TenonPetscInitialize() after PetscInitialize()");
  PetscFunctionReturn(0);
}

/* Event numbers are valid only between PetscInitialize() and PetscFinalize(). */
static PetscErrorCode ForgetEvents(void) {
  isRegistered = PETSC_FALSE;
  return 0;
}

PetscErrorCode GetEvents(Events* events) {
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(CheckInitialized());
  if (!isRegistered) {
    PetscCall(PetscClassIdRegister("Tenon", &id));
    PetscCall(PetscLogEventRegister("TenonSetUp", id, &registered.setUp));
    PetscCall(PetscLogEventRegister("TenonApply", id, &registered.apply));
    PetscCall(PetscLogEventRegister("TenonAdjoint", id, &registered.adjoint));
    TenonPetscCall(TenonLogEventRegister("PETSc", &registered.work));
    PetscCall(PetscRegisterFinalize(ForgetEvents));
    isRegistered = PETSC_TRUE;
  }
  *events = registered;
  PetscFunctionReturn(0);
}

/* The work and messages that Tenon counts in its event are added to PETSc's event. */
PetscErrorCode BeginWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x,
                         Vec y) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, object, x, y, 0));
  TenonPetscCall(TenonLogEventBegin(events->work));
  PetscFunctionReturn(0);
}

PetscErrorCode EndWork(const Events* events, PetscLogEvent event, PetscObject object, Vec x,
                       Vec y) {
  double flops;
  TenonInt messages, bytes;

  PetscFunctionBegin;
  TenonPetscCall(TenonLogGetWork(NULL, &flops, &messages, &bytes));
  TenonPetscCall(TenonLogEventEnd(events->work));
  PetscCall(PetscLogFlops(flops));
  petsc_isend_ct += (PetscLogDouble)messages;
  petsc_isend_len += (PetscLogDouble)bytes;
  PetscCall(PetscLogEventEnd(event, object, x, y, 0));
  PetscFunctionReturn(0);
}

/* The words of a command line, in memory of PETSc. */
typedef struct Words {
  int count;
  char** word;
} Words;

static PetscErrorCode AddWord(Words* words, const char* text) {
  PetscFunctionBegin;
  PetscCall(PetscStrallocpy(text, &words->word[words->count]));
  ++words->count;
  PetscFunctionReturn(0);
}

static PetscErrorCode FreeWords(Words* words) {
  PetscFunctionBegin;
  for (; words->count > 0; --words->count)
    PetscCall(PetscFree(words->word[words->count - 1]));
  PetscCall(PetscFree(words->word));
  PetscFunctionReturn(0);
}

/* Whether a word is the name of an option. A '-' before a digit is a negative number. */
static PetscBool IsName(const char* word) {
  return word[0] == '-' &&
                 (word[1] == '-' || word[1] == '_' || (word[1] >= 'A' && word[1] <= 'Z') ||
                  (word[1] >= 'a' && word[1] <= 'z'))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Adds an option and, for options of Tenon (-tenon_...), its value. Reading the value from the
 * database marks the option as used, so PETSc does not warn about it (-options_left). */
static PetscErrorCode AddOption(Words* words, const char* name) {
  enum { kLongest = 8192 };
  char* value;
  PetscBool isSet, isTenons;
  PetscErrorCode code = 0;

  PetscFunctionBegin;
  PetscCall(PetscStrncmp(name, "-tenon_", 7, &isTenons));
  PetscCall(AddWord(words, name));
  if (!isTenons)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(kLongest, &value));
  code = PetscOptionsGetString(NULL, NULL, name, value, kLongest, &isSet);
  if (!code && isSet && value[0])
    code = AddWord(words, value);
  PetscCall(PetscFree(value));
  PetscCall(code);
  PetscFunctionReturn(0);
}

/* Reads all options in PETSc's database as a command line. Other options than Tenon's are included
 * with their values, since the program can have declared them to Tenon. */
static PetscErrorCode ReadOptions(Words* words) {
  char *all, **parts;
  int count, i;
  PetscBool isTenons = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscStrToArray(all, ' ', &count, &parts));
  PetscCall(PetscCalloc1(2 * count + 2,
                         &words->word)); /* a name and a value each, and a NULL at the end */
  PetscCall(AddWord(words, "petsc"));
  for (i = 0; i < count; ++i) {
    if (IsName(parts[i])) {
      PetscCall(PetscStrncmp(parts[i], "-tenon_", 7, &isTenons));
      PetscCall(AddOption(words, parts[i]));
    } else if (!isTenons) {
      PetscCall(AddWord(words, parts[i]));
    }
  }
  PetscCall(PetscStrToArrayDestroy(count, parts));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

static PetscErrorCode FinalizeTenon(void) {
  PetscFunctionBegin;
  TenonPopErrorHandler();
  TenonPetscCall(TenonFinalize());
  PetscFunctionReturn(0);
}

/* Messages and flops are counted only if the log can be viewed. */
static PetscErrorCode EnableLog(void) {
  PetscBool requested = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-log_view", &requested));
  if (requested)
    TenonPetscCall(TenonLogEnable(TENON_TRUE));
  PetscFunctionReturn(0);
}

PetscErrorCode TenonPetscInitialize(const char* help) {
  Words words = {0, NULL};
  char** argv;
  int argc;
  Events events;
  TenonErrorCode result;
  PetscErrorCode code;

  PetscFunctionBegin;
  code = ReadOptions(&words);
  if (!code) {
    argc = words.count;
    argv = words.word;
    TenonPushErrorHandler(TenonReturnErrorHandler, NULL);
    result = TenonInitializeWithComm(PETSC_COMM_WORLD, &argc, &argv, help);
    code = TenonPetscError(result, PETSC_FUNCTION_NAME, __FILE__, __LINE__);
    if (code) /* only after TenonPetscError(), which reports to the handler */
      TenonPopErrorHandler();
  }
  PetscCall(FreeWords(&words));
  PetscCall(code);
  PetscCall(PetscRegisterFinalize(FinalizeTenon));
  PetscCall(GetEvents(&events));
  PetscCall(EnableLog());
  PetscFunctionReturn(0);
}
