/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of other libraries by DLPack, in and out, without a copy. The structures are those of
 * DLPack 0.8, which its header dlpack/dlpack.h has; a program that includes it needs none of these
 * lines. */
#include "interop/common.h"
#include "support/check.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct {
  int32_t device_type, device_id; /* kDLCPU is 1, kDLCUDA 2 */
} DLDevice;
typedef struct {
  uint8_t code, bits; /* kDLFloat is 2 */
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

enum { CUDA = 2, FLOAT = 2, MOST_DIMENSIONS = 8 };

/* In: the tensor uses the array, which its library must keep until TenonDTensorResetArray(). */
static TenonErrorCode placeDLPack(TenonDTensor x, const DLTensor* array) {
  TenonMemorySpace space = TENON_MEMORY_HOST;
  TenonInt strides[MOST_DIMENSIONS];
  int d;
  TenonCall(TenonDTensorGetSpace(x, &space));
  CHECK((array->device.device_type == CUDA) == (space == TENON_MEMORY_DEVICE));
  CHECK(array->dtype.code == FLOAT && array->dtype.bits == 64 && array->dtype.lanes == 1);
  CHECK(array->ndim <= MOST_DIMENSIONS);
  for (d = 0; d < array->ndim && array->strides; ++d)
    strides[d] = array->strides[d];
  return TenonDTensorPlaceArray(x, (char*)array->data + array->byte_offset,
                                array->strides ? strides : NULL, NULL, NULL, 0);
}

typedef struct {
  DLManagedTensor managed;
  TenonDTensor tensor; /* a reference */
  void* array;
  int64_t shape[MOST_DIMENSIONS];
} Lent;

static void giveBack(DLManagedTensor* self) {
  Lent* lent = (Lent*)self->manager_ctx;
  TenonCallAbort(TenonDTensorRestoreArray(lent->tensor, &lent->array));
  TenonCallAbort(TenonDTensorDestroy(&lent->tensor));
  free(lent);
}

/* Out: the local block of a tensor of Tenon's own memory, which is row-major, until the deleter is
 * called. The values are complete, and the tensor cannot be used meanwhile. */
static TenonErrorCode lendDLPack(TenonDTensor x, int device, DLManagedTensor** out) {
  Lent* lent = (Lent*)calloc(1, sizeof *lent);
  TenonInt low[MOST_DIMENSIONS], high[MOST_DIMENSIONS];
  int d;
  TenonCall(TenonObjectRetain((TenonObject)x));
  lent->tensor = x;
  TenonCall(TenonDTensorGetDeviceArray(x, TENON_FLOAT64, &lent->array));
  TenonCall(TenonDTensorGetBox(x, low, high));
  for (d = 0; d < 3; ++d)
    lent->shape[d] = high[d] - low[d];
  lent->managed.dl_tensor.data = lent->array;
  lent->managed.dl_tensor.device.device_type = CUDA;
  lent->managed.dl_tensor.device.device_id = device;
  lent->managed.dl_tensor.ndim = 3;
  lent->managed.dl_tensor.dtype.code = FLOAT;
  lent->managed.dl_tensor.dtype.bits = 64;
  lent->managed.dl_tensor.dtype.lanes = 1;
  lent->managed.dl_tensor.shape = lent->shape;
  lent->managed.manager_ctx = lent;
  lent->managed.deleter = giveBack;
  *out = &lent->managed;
  return TENON_SUCCESS;
}

static TenonErrorCode run(void) {
  Problem p = {NULL, NULL, NULL, NULL, NULL};
  DLManagedTensor* lent = NULL;
  double largest = 0;
  TenonCall(createPartition(&p));
  TenonCall(createProblem(&p));
  TenonCall(TenonDTensorFillConstant(p.x, 2));
  TenonCall(lendDLPack(p.x, 0, &lent));
  TenonCall(placeDLPack(p.y, &lent->dl_tensor)); /* as another library would take it */
  TenonCall(TenonDTensorFillConstant(p.y, 3));
  TenonCall(TenonDTensorResetArray(p.y));
  lent->deleter(lent);
  TenonCall(TenonDTensorMaxAbs(p.x, &largest));
  CHECK(largest == 3);
  return destroyProblem(&p);
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "arrays by DLPack"));
  TenonCallAbort(run());
  TenonCallAbort(TenonFinalize());
  return 0;
}
