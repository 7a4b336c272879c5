/* SPDX-License-Identifier: BSD-2-Clause */
/* Three threads per process call the library at the same time (MPI_THREAD_MULTIPLE). In each of 6
 * rounds a thread creates objects on a communicator that no other thread uses, applies and destroys
 * them, and frees the communicator. */
#include "support/check.h"

#include <tenon.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 6, CELLS = 40 };

static int ranks = 0;

/* The argument of a thread. */
typedef struct {
  int number;
  MPI_Comm comms[ROUNDS]; /* one for each round */
} Worker;

/* Copies a split tensor to all ranks, and tests the adjoint. */
static TenonErrorCode move(TenonPartition partition, int number) {
  const TenonInt shape[1] = {CELLS};
  TenonLayout parts = NULL, copies = NULL;
  TenonDTensor x = NULL, y = NULL;
  TenonLinearOp gather = NULL;
  double forward = 0, adjoint = 1, norm = 0;
  TenonCall(TenonLayoutCreateSharded(partition, 1, shape, "S0", &parts));
  TenonCall(TenonLayoutCreateSharded(partition, 1, shape, "B", &copies));
  TenonCall(TenonDTensorCreate(parts, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorCreate(copies, TENON_FLOAT64, &y));
  TenonCall(TenonLinearOpCreateConversion(parts, copies, TENON_FLOAT64, &gather));
  TenonCall(TenonDTensorFillConstant(x, number));
  TenonCall(TenonLinearOpApply(gather, x, y));
  TenonCall(TenonDTensorMaxAbs(y, &norm));
  CHECK(norm == number);
  TenonCall(TenonLinearOpTestAdjoint(gather, number, TENON_TRUE, &forward, &adjoint, NULL));
  CHECK(forward == adjoint);
  TenonCall(TenonLinearOpDestroy(&gather));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayoutDestroy(&copies));
  TenonCall(TenonLayoutDestroy(&parts));
  return TENON_SUCCESS;
}

/* Evaluates a convolution and its adjoint. */
static TenonErrorCode learn(MPI_Comm comm, TenonPartition partition) {
  const TenonInt shape[3] = {2, 1, CELLS}, kernel[1] = {3};
  TenonLayout input = NULL;
  TenonDTensor x = NULL, y = NULL, dy = NULL;
  TenonLayer conv = NULL;
  TenonCall(TenonLayoutCreateSharded(partition, 3, shape, "S2", &input));
  TenonCall(TenonLayerCreateConv(comm, 1, 1, 2, kernel, &conv));
  TenonCall(TenonObjectSetFromOptions((TenonObject)conv));
  TenonCall(TenonLayerSetUp(conv, input));
  TenonCall(TenonDTensorCreate(input, TENON_FLOAT32, &x));
  TenonCall(TenonLayerCreateOutput(conv, 0, &y));
  TenonCall(TenonLayerCreateOutputCotangent(conv, 0, &dy));
  TenonCall(TenonLayerApply(conv, x, y));
  TenonCall(TenonDTensorFillConstant(dy, 1));
  TenonCall(TenonLayerApplyAdjoint(conv, dy, NULL));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayerDestroy(&conv));
  TenonCall(TenonLayoutDestroy(&input));
  return TENON_SUCCESS;
}

static TenonErrorCode work(Worker* worker) {
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    TenonPartition partition = NULL;
    TenonCall(TenonPartitionCreate(worker->comms[round], 1, &ranks, &partition));
    TenonCall(move(partition, worker->number + 1));
    TenonCall(learn(worker->comms[round], partition));
    TenonCall(TenonPartitionDestroy(&partition));
    MPI_Comm_free(&worker->comms[round]);
  }
  return TENON_SUCCESS;
}

static void* begin(void* worker) {
  TenonCallAbort(work((Worker*)worker));
  return NULL;
}

int main(int argc, char** argv) {
  Worker workers[THREADS];
  pthread_t threads[THREADS];
  int level = MPI_THREAD_SINGLE, i, round;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) {
    printf("skipped: this MPI library has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  for (i = 0; i < THREADS; ++i) {
    workers[i].number = i;
    for (round = 0; round < ROUNDS; ++round)
      MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comms[round]);
  }
  for (i = 0; i < THREADS; ++i)
    CHECK(pthread_create(&threads[i], NULL, begin, &workers[i]) == 0);
  for (i = 0; i < THREADS; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
  TenonCallAbort(TenonFinalize());
  MPI_Finalize();
  return 0;
}
