/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs share: a field of one component, split over the ranks, and a layer in place of
 * a network, on the device. */
#ifndef TENON_TESTS_INTEROP_COMMON_H
#define TENON_TESTS_INTEROP_COMMON_H

#include <tenon.h>

enum { CELLS = 64 }; /* of each rank */

typedef struct {
  TenonPartition partition;
  TenonLayout layout; /* [1, 1, cells of all ranks] */
  TenonLayer layer;
  TenonDTensor x, y; /* on the device, without arrays */
} Problem;

static TenonErrorCode createPartition(Problem* p) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &p->partition);
}

static TenonErrorCode createProblem(Problem* p) {
  TenonInt shape[3] = {1, 1, CELLS};
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  shape[2] *= size;
  TenonCall(TenonLayoutCreateSharded(p->partition, 3, shape, "S2", &p->layout));
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &p->layer));
  TenonCall(TenonLayerSetDataType(p->layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetSpace(p->layer, TENON_MEMORY_DEVICE));
  TenonCall(TenonDTensorCreate(p->layout, TENON_FLOAT64, &p->x));
  TenonCall(TenonDTensorCreate(p->layout, TENON_FLOAT64, &p->y));
  TenonCall(TenonDTensorSetSpace(p->x, TENON_MEMORY_DEVICE));
  TenonCall(TenonDTensorSetSpace(p->y, TENON_MEMORY_DEVICE));
  return TenonLayerSetUp(p->layer, p->layout);
}

static TenonErrorCode destroyProblem(Problem* p) {
  TenonCall(TenonDTensorDestroy(&p->x));
  TenonCall(TenonDTensorDestroy(&p->y));
  TenonCall(TenonLayerDestroy(&p->layer));
  TenonCall(TenonLayoutDestroy(&p->layout));
  TenonCall(TenonPartitionResetStream(p->partition));
  return TenonPartitionDestroy(&p->partition);
}

#endif
