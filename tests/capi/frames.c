/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the stack frames of the library between a call on a layer and the function that computes.
 * The layer is a shell layer, whose functions are the program's own, alone or in a network:
 *
 *   caller (count)                     noteStack(&caller)
 *     TenonLayerApply, ... frames of the library, which are counted
 *       apply, of this program         noteStack(inside)
 *
 * Usage: frames [LIMIT]; more than LIMIT frames are an error. A function that the compiler has
 * inlined has no frame. */
#include "support/check.h"

#include <tenon.h>
#include <tenon/ext/layer.h>

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 200, ROWS = 4 };

/* Return addresses, the innermost first. */
typedef struct {
  void* frames[MAX_DEPTH];
  int count;
} Stack;

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

/* Records the stack. It is never inlined and so adds one frame everywhere, which makes the counts
 * of two stacks comparable. */
static NOINLINE void noteStack(Stack* stack) {
  stack->count = backtrace(stack->frames, MAX_DEPTH);
  CHECK(stack->count < MAX_DEPTH);
}

static TenonErrorCode apply(TenonLayer layer, TenonDTensor x, TenonDTensor y, void* context) {
  (void)layer;
  (void)x;
  noteStack((Stack*)context);
  return TenonDTensorFillConstant(y, 1);
}

static TenonErrorCode applyTangent(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dx, TenonDTensor dy, void* context) {
  (void)layer;
  (void)x;
  (void)y;
  (void)dx;
  noteStack((Stack*)context);
  return TenonDTensorFillConstant(dy, 0);
}

static TenonErrorCode applyAdjoint(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                   TenonDTensor dy, TenonDTensor dx, void* context) {
  (void)layer;
  (void)x;
  (void)y;
  (void)dy;
  noteStack((Stack*)context);
  return dx ? TenonDTensorFillConstant(dx, 0) : TENON_SUCCESS;
}

static TenonErrorCode createShell(Stack* inside, TenonLayer* layer) {
  TenonLayerShellFunctions functions = {NULL, apply, applyTangent, applyAdjoint};
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "shell", layer));
  TenonCall(TenonLayerShellSetContext(*layer, inside, NULL));
  return TenonLayerShellSetFunctions(*layer, &functions);
}

/* Prints and checks the number of frames of the library in one call. `caller` is the stack in
 * count(), `inside` that in the layer's function, whose own frame is subtracted. */
static void checkFrames(const char* call, const char* layer, const Stack* caller,
                        const Stack* inside, int limit) {
  const int frames = inside->count - caller->count - 1;
  CHECK(frames > 0);
  printf("%s of %s: %d frames of the library\n", call, layer, frames);
  fflush(stdout);
  if (frames <= limit)
    return;
  printf("expected at most %d; addr2line -Cfie LIBRARY ADDRESS tells whose they are:\n", limit);
  fflush(stdout);
  backtrace_symbols_fd((void* const*)&inside->frames[2], frames, 1);
  TenonAbort(TENON_ERR_INTERNAL);
}

/* Checks the calls Apply, ApplyTangent and ApplyAdjoint. `layout` is the layout of input, output
 * and their cotangents, since a split layout is its own dual. */
static TenonErrorCode count(TenonLayer layer, const char* name, TenonLayout layout,
                            const Stack* inside, int limit) {
  TenonDTensor x = NULL, y = NULL, in = NULL, out = NULL;
  Stack caller;
  TenonCall(TenonLayerSetUp(layer, layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &x));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &y));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &in));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &out));
  TenonCall(TenonDTensorFillConstant(x, 1));
  TenonCall(TenonDTensorFillConstant(in, 1));
  noteStack(&caller);
  TenonCall(TenonLayerApply(layer, x, y));
  checkFrames("TenonLayerApply", name, &caller, inside, limit);
  TenonCall(TenonLayerApplyTangent(layer, in, out));
  checkFrames("TenonLayerApplyTangent", name, &caller, inside, limit);
  TenonCall(TenonLayerApplyAdjoint(layer, in, out));
  checkFrames("TenonLayerApplyAdjoint", name, &caller, inside, limit);
  TenonCall(TenonDTensorDestroy(&out));
  TenonCall(TenonDTensorDestroy(&in));
  TenonCall(TenonDTensorDestroy(&y));
  return TenonDTensorDestroy(&x);
}

static TenonErrorCode run(int limit) {
  const TenonInt shape[2] = {ROWS, 1};
  Stack inside;
  int size = 0;
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  TenonLayer alone = NULL, inNetwork = NULL, network = NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", &layout));
  TenonCall(createShell(&inside, &alone));
  TenonCall(count(alone, "a layer", layout, &inside, limit));
  TenonCall(createShell(&inside, &inNetwork));
  TenonCall(TenonLayerCreateSequential(MPI_COMM_WORLD, &network));
  TenonCall(TenonLayerSequentialAdd(network, inNetwork));
  TenonCall(count(network, "a network", layout, &inside, limit));
  TenonCall(TenonLayerDestroy(&network));
  TenonCall(TenonLayerDestroy(&inNetwork));
  TenonCall(TenonLayerDestroy(&alone));
  TenonCall(TenonLayoutDestroy(&layout));
  return TenonPartitionDestroy(&partition);
}

int main(int argc, char** argv) {
  const int limit = argc > 1 ? atoi(argv[1]) : MAX_DEPTH;
  CHECK(TenonInitialize(&argc, &argv, NULL) == TENON_SUCCESS);
  CHECK(run(limit) == TENON_SUCCESS);
  CHECK(TenonFinalize() == TENON_SUCCESS);
  return EXIT_SUCCESS;
}
