/* SPDX-License-Identifier: BSD-2-Clause */
/* Tensors and layers on a device, from C99: memory spaces, streams, device arrays that the library
 * lends and that the program places, and a layer on the device with tensors on the host. It runs on
 * a stand-in for CUDA that computes on the host, so no device is needed. */
#include "support/check.h"

#include <tenon.h>

#include <string.h>

enum { COMPONENTS = 2, CELLS = 6 };

/* Whether the message of the last error contains the words. */
static int says(const char* words) {
  char message[1024] = "";
  TenonCallAbort(TenonGetLastError(NULL, message, sizeof message, NULL));
  return strstr(message, words) != NULL;
}

/* The call must return the code, with the words in its message. */
#define REFUSED(call, code, words)                                                                 \
  do {                                                                                             \
    TenonCallAbort(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));                          \
    CHECK((call) == (code) && says(words));                                                        \
    TenonCallAbort(TenonPopErrorHandler());                                                        \
  } while (0)

/* Shape [1, COMPONENTS, CELLS per rank], split in the last dimension. */
static TenonErrorCode createLayout(TenonPartition partition, TenonLayout* layout) {
  TenonInt shape[3] = {1, COMPONENTS, CELLS};
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  shape[2] *= size;
  return TenonLayoutCreateSharded(partition, 3, shape, "S2", layout);
}

static TenonErrorCode create(TenonLayout layout, TenonMemorySpace space, TenonDTensor* x) {
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, x));
  return TenonDTensorSetSpace(*x, space);
}

/* Checks that all elements of this rank are equal to the number. */
static TenonErrorCode expectAll(TenonDTensor x, double number) {
  const void* array = NULL;
  TenonInt i;
  TenonCall(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &array));
  for (i = 0; i < COMPONENTS * CELLS; ++i)
    CHECK(((const double*)array)[i] == number);
  return TenonDTensorRestoreArrayRead(x, &array);
}

/* The stream of a communicator can be set before its first object on the device is created, and
 * after the last is destroyed. */
static TenonErrorCode setStreams(TenonPartition partition, TenonLayout layout) {
  TenonDTensor x = NULL;
  TenonCall(TenonPartitionSetStream(partition, NULL));
  TenonCall(create(layout, TENON_MEMORY_DEVICE, &x));
  REFUSED(TenonPartitionSetStream(partition, NULL), TENON_ERR_STATE, "before the first of them");
  REFUSED(TenonPartitionResetStream(partition), TENON_ERR_STATE, "before the first of them");
  TenonCall(TenonDTensorDestroy(&x));
  return TenonPartitionResetStream(partition);
}

static TenonErrorCode chooseSpaces(TenonLayout layout) {
  TenonDTensor x = NULL;
  TenonMemorySpace space = TENON_MEMORY_DEVICE;
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorGetSpace(x, &space));
  CHECK(space == TENON_MEMORY_HOST);
  REFUSED(TenonDTensorSetSpace(x, (TenonMemorySpace)7), TENON_ERR_ARG, "7");
  TenonCall(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE));
  TenonCall(TenonDTensorGetSpace(x, &space));
  CHECK(space == TENON_MEMORY_DEVICE);
  TenonCall(TenonDTensorFillConstant(x, 3));
  TenonCall(expectAll(x, 3));
  REFUSED(TenonDTensorSetSpace(x, TENON_MEMORY_HOST), TENON_ERR_STATE, "has an array already");
  return TenonDTensorDestroy(&x);
}

static TenonErrorCode lendArrays(TenonLayout layout) {
  TenonDTensor x = NULL, host = NULL;
  void *array = NULL, *none = NULL;
  const void *first = NULL, *second = NULL;
  TenonCall(create(layout, TENON_MEMORY_DEVICE, &x));
  TenonCall(create(layout, TENON_MEMORY_HOST, &host));
  TenonCall(TenonDTensorGetDeviceArray(x, TENON_FLOAT64, &array));
  REFUSED(TenonDTensorGetDeviceArray(x, TENON_FLOAT64, &none), TENON_ERR_STATE, "use");
  TenonCall(TenonDTensorRestoreArray(x, &array));
  CHECK(!array);
  TenonCall(TenonDTensorGetDeviceArrayRead(x, TENON_FLOAT64, &first));
  TenonCall(TenonDTensorGetDeviceArrayRead(x, TENON_FLOAT64, &second));
  CHECK(first && first == second);
  TenonCall(TenonDTensorRestoreArrayRead(x, &second));
  TenonCall(TenonDTensorRestoreArrayRead(x, &first));
  REFUSED(TenonDTensorGetDeviceArray(x, TENON_FLOAT32, &none), TENON_ERR_DATATYPE, "float64");
  REFUSED(TenonDTensorGetDeviceArray(host, TENON_FLOAT64, &none), TENON_ERR_STATE, "on the host");
  CHECK(!none);
  TenonCall(TenonDTensorDestroy(&host));
  return TenonDTensorDestroy(&x);
}

/* An array in device memory, as of a solver on the device. Here a tensor, `owner`, provides the
 * memory. It is placed in `x` as one array, and in `parts` as one array per component. */
static TenonErrorCode placeArrays(TenonLayout layout) {
  TenonDTensor owner = NULL, x = NULL, parts = NULL, host = NULL;
  void *array = NULL, *fields[COMPONENTS];
  double cells[COMPONENTS * CELLS] = {0};
  const TenonInt length = CELLS;
  TenonCall(create(layout, TENON_MEMORY_DEVICE, &owner));
  TenonCall(create(layout, TENON_MEMORY_DEVICE, &x));
  TenonCall(create(layout, TENON_MEMORY_DEVICE, &parts));
  TenonCall(create(layout, TENON_MEMORY_HOST, &host));
  TenonCall(TenonDTensorGetDeviceArray(owner, TENON_FLOAT64, &array));
  fields[0] = array;
  fields[1] = (double*)array + CELLS;

  TenonCall(TenonDTensorPlaceArray(x, array, NULL, NULL, NULL, COMPONENTS * CELLS));
  TenonCall(TenonDTensorFillConstant(x, 4));
  TenonCall(TenonDTensorPlaceArrays(parts, 1, COMPONENTS, fields, 1, NULL, NULL, NULL, &length));
  TenonCall(TenonDTensorGatherArrays(parts));
  TenonCall(expectAll(parts, 4));
  TenonCall(TenonDTensorFillConstant(parts, 5));
  TenonCall(TenonDTensorScatterArrays(parts));
  TenonCall(expectAll(x, 5));

  REFUSED(TenonDTensorPlaceArray(host, array, NULL, NULL, NULL, 0), TENON_ERR_ARG,
          "on the host, but the array is memory of the device");
  REFUSED(TenonDTensorPlaceArray(x, cells, NULL, NULL, NULL, 0), TENON_ERR_ARG,
          "on the device, but the array is memory of the host");
  fields[0] = cells;
  REFUSED(TenonDTensorPlaceArrays(parts, 1, COMPONENTS, fields, 1, NULL, NULL, NULL, NULL),
          TENON_ERR_ARG, "on the device, but the array is memory of the host");
  TenonCall(expectAll(x, 5)); /* a refused placement does not change the tensor */
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonDTensorDestroy(&parts));
  TenonCall(TenonDTensorRestoreArray(owner, &array));
  TenonCall(expectAll(owner, 5));
  TenonCall(TenonDTensorDestroy(&host));
  return TenonDTensorDestroy(&owner);
}

/* y = 3 x on the device, and its adjoint, with tensors of the program in `space`. */
static TenonErrorCode apply(TenonLayer triple, TenonLayout layout, TenonMemorySpace space) {
  TenonDTensor x = NULL, y = NULL, dx = NULL, dy = NULL;
  TenonLayout dual = NULL;
  TenonCall(TenonLayoutGetDual(layout, &dual));
  TenonCall(create(layout, space, &x));
  TenonCall(create(layout, space, &y));
  TenonCall(create(dual, space, &dx));
  TenonCall(create(dual, space, &dy));
  TenonCall(TenonDTensorFillConstant(x, 2));
  TenonCall(TenonDTensorFillConstant(dy, -1));
  TenonCall(TenonLayerApply(triple, x, y));
  TenonCall(expectAll(y, 6));
  TenonCall(TenonLayerApplyAdjoint(triple, dy, dx));
  TenonCall(expectAll(dx, -3));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&dx));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  return TenonLayoutDestroy(&dual);
}

static TenonErrorCode applyLayers(TenonLayout layout, int byOption) {
  TenonLayer triple = NULL;
  TenonDTensor output = NULL;
  TenonMemorySpace space = TENON_MEMORY_HOST;
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "scale", &triple));
  TenonCall(TenonObjectSetReal((TenonObject)triple, "factor", 3));
  TenonCall(TenonLayerSetDataType(triple, TENON_FLOAT64));
  if (byOption) {
    TenonCall(TenonObjectSetOptionsPrefix((TenonObject)triple, "closure_"));
    TenonCall(TenonOptionsSet("-tenon_closure_space", "device"));
    TenonCall(TenonObjectSetFromOptions((TenonObject)triple));
  } else {
    TenonCall(TenonLayerSetSpace(triple, TENON_MEMORY_DEVICE));
  }
  TenonCall(TenonLayerSetUp(triple, layout));
  TenonCall(TenonLayerCreateOutput(triple, 0, &output));
  TenonCall(TenonDTensorGetSpace(output, &space));
  CHECK(space == TENON_MEMORY_DEVICE);
  TenonCall(TenonDTensorDestroy(&output));
  TenonCall(apply(triple, layout, TENON_MEMORY_DEVICE));
  TenonCall(apply(triple, layout, TENON_MEMORY_HOST));
  return TenonLayerDestroy(&triple);
}

/* The error of a setter is returned again by the set-up, on all ranks. */
static TenonErrorCode refuseSpace(TenonLayout layout) {
  TenonLayer layer = NULL;
  TenonCall(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &layer));
  TenonCall(TenonLayerSetDataType(layer, TENON_FLOAT64));
  REFUSED(TenonLayerSetSpace(layer, (TenonMemorySpace)7), TENON_ERR_ARG, "use TENON_MEMORY_HOST");
  REFUSED(TenonLayerSetUp(layer, layout), TENON_ERR_ARG, "TenonLayerSetSpace failed");
  return TenonLayerDestroy(&layer);
}

static TenonErrorCode run(void) {
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &size, &partition));
  TenonCall(createLayout(partition, &layout));
  TenonCall(setStreams(partition, layout));
  TenonCall(chooseSpaces(layout));
  TenonCall(lendArrays(layout));
  TenonCall(placeArrays(layout));
  TenonCall(applyLayers(layout, 0));
  TenonCall(applyLayers(layout, 1));
  TenonCall(refuseSpace(layout));
  TenonCall(TenonLayoutDestroy(&layout));
  return TenonPartitionDestroy(&partition);
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "devices"));
  TenonCallAbort(run());
  TenonCallAbort(TenonFinalize());
  return 0;
}
