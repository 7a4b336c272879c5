/* SPDX-License-Identifier: BSD-2-Clause */
/* A solver by OpenMP's target regions. Inside `use_device_ptr` the names are addresses on the
 * device. OpenMP does not say on which stream a region runs, and a region without `nowait` is
 * complete at its end, so the solver sets no stream of Tenon's; TenonDTensorResetArray() waits for
 * the layer. */
#include "interop/common.h"
#include "support/check.h"

static TenonErrorCode step(const Problem* p, double* x, double* y) {
  int i;
#pragma omp target teams distribute parallel for map(tofrom : x [0:CELLS])
  for (i = 0; i < CELLS; ++i)
    x[i] *= 0.5; /* the solver's work */
#pragma omp target data use_device_ptr(x, y)
  {
    TenonCallAbort(TenonDTensorPlaceArray(p->x, x, NULL, NULL, NULL, CELLS));
    TenonCallAbort(TenonDTensorPlaceArray(p->y, y, NULL, NULL, NULL, CELLS));
  }
  TenonCall(TenonLayerApply(p->layer, p->x, p->y));
  TenonCall(TenonDTensorResetArray(p->x)); /* waits for the layer's kernels */
  return TenonDTensorResetArray(p->y);
}

static TenonErrorCode run(void) {
  Problem p = {NULL, NULL, NULL, NULL, NULL};
  double x[CELLS], y[CELLS];
  int i;
  for (i = 0; i < CELLS; ++i)
    x[i] = y[i] = 0.1 * i;
  TenonCall(createPartition(&p));
  TenonCall(createProblem(&p));
#pragma omp target data map(tofrom : x, y)
  TenonCallAbort(step(&p, x, y));
  CHECK(y[0] == 0);
  return destroyProblem(&p);
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "a solver by OpenMP"));
  TenonCallAbort(run());
  TenonCallAbort(TenonFinalize());
  return 0;
}
