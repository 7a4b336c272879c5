/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the stack frames of the library between a call on a layer and the function that does the
 * layer's arithmetic, which here is the program's own. Usage: frames [MOST]; more than MOST is an
 * error. The stack is as the compiler has left it: a function that is inlined has no frame. */
#include "support/check.h"

#include <tenon.h>
#include <tenon/ext/layer.h>

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 200, ROWS = 4 };

typedef struct {
  void* frames[DEEPEST];
  int count;
} Stack;

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

/* Has a frame of its own wherever it is called, so that two stacks can be compared. */
static NOINLINE void note(Stack* stack) {
  stack->count = backtrace(stack->frames, DEEPEST);
  CHECK(stack->count < DEEPEST);
}

static TenonErrorCode apply(TenonLayer layer, TenonDTensor x, TenonDTensor y, void* context) {
  (void)layer;
  (void)x;
  note((Stack*)context);
  return TenonDTensorFillConstant(y, 1);
}

static TenonErrorCode applyTangent(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dx, TenonDTensor dy, void* context) {
  (void)layer;
  (void)x;
  (void)y;
  (void)dx;
  note((Stack*)context);
  return TenonDTensorFillConstant(dy, 0);
}

static TenonErrorCode applyAdjoint(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dy, TenonDTensor dx, void* context) {
  (void)layer;
  (void)x;
  (void)y;
  (void)dy;
  note((Stack*)context);
  return dx ? TenonDTensorFillConstant(dx, 0) : TENON_SUCCESS;
}

static TenonErrorCode createShell(Stack* inside, TenonLayer* layer) {
  TenonLayerShellFunctions functions = {NULL, apply, applyTangent, applyAdjoint};
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "shell", layer));
  TenonCall(TenonLayerShellSetContext(*layer, inside, NULL));
  return TenonLayerShellSetFunctions(*layer, &functions);
}

/* The frames between those of the caller and of the program's function, which has one more than
 * they. */
static void judge(const char* call, const char* layer, const Stack* caller, const Stack* inside,
                  int most) {
  const int frames = inside->count - caller->count - 1;
  CHECK(frames > 0);
  printf("%s of %s: %d frames of the library\n", call, layer, frames);
  fflush(stdout);
  if (frames <= most)
    return;
  printf("expected at most %d; addr2line -Cfie LIBRARY ADDRESS tells whose they are:\n", most);
  fflush(stdout);
  backtrace_symbols_fd((void* const*)&inside->frames[2], frames, 1);
  TenonAbort(TENON_ERR_INTERNAL);
}

/* Input and output have one layout, which is its own dual. */
static TenonErrorCode count(TenonLayer layer, const char* name, TenonLayout layout,
                            const Stack* inside, int most) {
  TenonDTensor x = NULL, y = NULL, in = NULL, out = NULL;
  Stack caller;
  TenonCall(TenonLayerSetUp(layer, layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &x));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &y));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &in));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &out));
  TenonCall(TenonDTensorFillConstant(x, 1));
  TenonCall(TenonDTensorFillConstant(in, 1));
  note(&caller);
  TenonCall(TenonLayerApply(layer, x, y));
  judge("TenonLayerApply", name, &caller, inside, most);
  TenonCall(TenonLayerApplyTangent(layer, in, out));
  judge("TenonLayerApplyTangent", name, &caller, inside, most);
  TenonCall(TenonLayerApplyAdjoint(layer, in, out));
  judge("TenonLayerApplyAdjoint", name, &caller, inside, most);
  TenonCall(TenonDTensorDestroy(&out));
  TenonCall(TenonDTensorDestroy(&in));
  TenonCall(TenonDTensorDestroy(&y));
  return TenonDTensorDestroy(&x);
}

static TenonErrorCode run(int most) {
  const TenonInt shape[2] = {ROWS, 1};
  Stack inside;
  int size = 0;
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  TenonLayer alone = NULL, part = NULL, network = NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", &layout));
  TenonCall(createShell(&inside, &alone));
  TenonCall(count(alone, "a layer", layout, &inside, most));
  TenonCall(createShell(&inside, &part));
  TenonCall(TenonLayerCreateSequential(MPI_COMM_WORLD, &network));
  TenonCall(TenonLayerSequentialAdd(network, part));
  TenonCall(count(network, "a network", layout, &inside, most));
  TenonCall(TenonLayerDestroy(&network));
  TenonCall(TenonLayerDestroy(&part));
  TenonCall(TenonLayerDestroy(&alone));
  TenonCall(TenonLayoutDestroy(&layout));
  return TenonPartitionDestroy(&partition);
}

int main(int argc, char** argv) {
  const int most = argc > 1 ? atoi(argv[1]) : DEEPEST;
  CHECK(TenonInitialize(&argc, &argv, NULL) == TENON_SUCCESS);
  CHECK(run(most) == TENON_SUCCESS);
  CHECK(TenonFinalize() == TENON_SUCCESS);
  return EXIT_SUCCESS;
}
