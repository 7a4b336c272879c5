/* SPDX-License-Identifier: BSD-2-Clause */
/* A solver by CUDA whose kernels and copies name no stream. Nothing waits between its work and the
 * layer's. */
#include "interop/common.h"
#include "support/check.h"

#include <cuda_runtime_api.h>

#include <math.h>

static TenonErrorCode run(void) {
  Problem p = {NULL, NULL, NULL, NULL, NULL};
  double field[CELLS], result[CELLS], *x = NULL, *y = NULL;
  const size_t bytes = sizeof field;
  int i;
  for (i = 0; i < CELLS; ++i)
    field[i] = 0.1 * i;
  cudaMalloc((void**)&x, bytes);
  cudaMalloc((void**)&y, bytes);
  TenonCall(createPartition(&p));
  TenonCall(TenonPartitionSetStream(p.partition, NULL)); /* before the first object on the device */
  TenonCall(createProblem(&p));
  TenonCall(TenonDTensorPlaceArray(p.x, x, NULL, NULL, NULL, CELLS));
  TenonCall(TenonDTensorPlaceArray(p.y, y, NULL, NULL, NULL, CELLS));
  cudaMemcpyAsync(x, field, bytes, cudaMemcpyDefault, cudaStreamLegacy); /* the solver's work */
  TenonCall(TenonLayerApply(p.layer, p.x, p.y));
  cudaMemcpyAsync(result, y, bytes, cudaMemcpyDefault, cudaStreamLegacy);
  cudaStreamSynchronize(cudaStreamLegacy);
  for (i = 0; i < CELLS; ++i)
    CHECK(fabs(result[i] - tanh(field[i])) < 1e-14);
  TenonCall(destroyProblem(&p));
  cudaFree(x);
  cudaFree(y);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "a solver by CUDA"));
  TenonCallAbort(run());
  TenonCallAbort(TenonFinalize());
  return 0;
}
