/* SPDX-License-Identifier: BSD-2-Clause */
/* The C functions of tenon_arrays.f90 that associate a pointer of the program with a tensor's
 * array, and end the access. The descriptor of the pointer, CFI_cdesc_t, gets address, bounds and
 * strides. For example, rows 5 to 8 of 12 on this rank, with 2 ghosts behind them, have the bounds
 * 5:10, or 1:6 if those of this rank are asked for. */
#include "arrays.h"

/* The target of pointers to empty arrays, which must be associated with something. */
static int64_t emptyTarget;

static TenonErrorCode CheckType(const char* call, TenonDTensor x, const CFI_cdesc_t* pointer) {
  TenonDataType type;

  TenonCall(TenonDTensorGetDataType(x, &type));
  if (strcmp(NameOfType(pointer), NameOfDataType(type)) != 0)
    return Fail(TENON_ERR_DATATYPE, call, "the array is %s, but the tensor is %s",
                NameOfType(pointer), NameOfDataType(type));
  return TENON_SUCCESS;
}

/* What the bounds of a pointer to a tensor's array count: elements of the whole tensor, or of this
 * rank, whose first owned element is 1 and whose ghost cells before it are at 0, -1, ... */
typedef enum Bounds { kGlobal, kLocal } Bounds;

/* Sets the bounds and strides of a pointer to the tensor's array, halo included. The pointer can
 * omit dimensions of one element, and can have additional ones. */
static TenonErrorCode DescribeArray(const char* call, Bounds bounds, TenonDTensor x,
                                    CFI_cdesc_t* pointer) {
  TenonInt low[kMaxDims], high[kMaxDims], strides[kMaxDims], shape[kMaxDims];
  TenonInt owned[kMaxDims], end[kMaxDims];
  TenonInt extent[kMaxDims] = {0}, whole[kMaxDims] = {0};
  TenonLayout layout = NULL;
  int isLeftOut[kMaxDims], dims, f, d = 0;

  TenonCall(TenonDTensorGetLayout(x, &layout));
  TenonCall(TenonLayoutGetDim(layout, &dims));
  TenonCall(TenonLayoutGetShape(layout, shape));
  TenonCall(TenonLayoutGetOwnedBox(layout, owned, end));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorGetBox(x, low, high));
  TenonCall(TenonDTensorGetStrides(x, strides));
  for (f = 0; f < dims; ++f) {
    extent[f] = high[dims - 1 - f] - low[dims - 1 - f];
    whole[f] = shape[dims - 1 - f];
  }
  LeaveOut(dims, pointer->rank, whole, extent, -1, isLeftOut);
  for (f = 0; f < dims; ++f) {
    if (isLeftOut[f] && extent[f] > 1)
      return Fail(
          TENON_ERR_SHAPE, call,
          "the pointer has %d dimensions, but this rank's box has %ld elements in dimension %d",
          (int)pointer->rank, (long)extent[f], f + 1);
    if (isLeftOut[f])
      continue;
    pointer->dim[d].lower_bound =
        low[dims - 1 - f] - (bounds == kLocal ? owned[dims - 1 - f] : 0) + 1;
    pointer->dim[d].extent = extent[f];
    pointer->dim[d++].sm = strides[dims - 1 - f] * (CFI_index_t)pointer->elem_len;
  }
  for (; d < pointer->rank; ++d) {
    pointer->dim[d].lower_bound = pointer->dim[d].extent = 1;
    pointer->dim[d].sm = (CFI_index_t)pointer->elem_len;
  }
  return TENON_SUCCESS;
}

static TenonErrorCode GetArray(const char* call, Bounds bounds, TenonDTensor x,
                               CFI_cdesc_t* pointer) {
  TenonDataType type;
  void* array = NULL;

  pointer->base_addr = NULL;
  TenonCall(CheckType(call, x, pointer));
  TenonCall(DescribeArray(call, bounds, x, pointer));
  TenonCall(TenonDTensorGetDataType(x, &type));
  TenonCall(TenonDTensorGetArray(x, type, &array));
  pointer->base_addr = array ? array : &emptyTarget;
  return TENON_SUCCESS;
}

static TenonErrorCode GetArrayRead(const char* call, Bounds bounds, TenonDTensor x,
                                   CFI_cdesc_t* pointer) {
  const void* array = NULL;
  TenonDataType type;

  pointer->base_addr = NULL;
  TenonCall(CheckType(call, x, pointer));
  TenonCall(DescribeArray(call, bounds, x, pointer));
  TenonCall(TenonDTensorGetDataType(x, &type));
  TenonCall(TenonDTensorGetArrayRead(x, type, &array));
  pointer->base_addr = array ? (void*)array : &emptyTarget;
  return TENON_SUCCESS;
}

static void RestoreArray(TenonDTensor x, CFI_cdesc_t* pointer, int* ierr) {
  void* array = pointer->base_addr == &emptyTarget ? NULL : pointer->base_addr;
  const TenonErrorCode code = TenonDTensorRestoreArray(x, &array);

  if (code == TENON_SUCCESS)
    pointer->base_addr = NULL;
  Finish(code, ierr);
}

static void RestoreArrayRead(TenonDTensor x, CFI_cdesc_t* pointer, int* ierr) {
  const void* array = pointer->base_addr == &emptyTarget ? NULL : pointer->base_addr;
  const TenonErrorCode code = TenonDTensorRestoreArrayRead(x, &array);

  if (code == TENON_SUCCESS)
    pointer->base_addr = NULL;
  Finish(code, ierr);
}

/* The functions of each type of elements, which differ in their names alone: two interfaces of one
 * function with different arguments would not be standard Fortran. */
#define DEFINE_POINTERS(Type)                                                                      \
  void TenonFGetArray##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {                    \
    Finish(GetArray("tenon_get_array", kGlobal, *x, pointer), ierr);                               \
  }                                                                                                \
  void TenonFGetLocalArray##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {               \
    Finish(GetArray("tenon_get_local_array", kLocal, *x, pointer), ierr);                          \
  }                                                                                                \
  void TenonFRestoreArray##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {                \
    RestoreArray(*x, pointer, ierr);                                                               \
  }                                                                                                \
  void TenonFGetArrayRead##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {                \
    Finish(GetArrayRead("tenon_get_array_read", kGlobal, *x, pointer), ierr);                      \
  }                                                                                                \
  void TenonFGetLocalArrayRead##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {           \
    Finish(GetArrayRead("tenon_get_local_array_read", kLocal, *x, pointer), ierr);                 \
  }                                                                                                \
  void TenonFRestoreArrayRead##Type(TenonDTensor* x, CFI_cdesc_t* pointer, int* ierr) {            \
    RestoreArrayRead(*x, pointer, ierr);                                                           \
  }

DEFINE_POINTERS(Real64)
DEFINE_POINTERS(Real32)
DEFINE_POINTERS(Int64)
DEFINE_POINTERS(Int32)
