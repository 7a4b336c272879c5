/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin that unloaded_plugin_host.c loads and closes. It uses Tenon: layers on a communicator of
 * its own and on MPI_COMM_WORLD, a checkpoint file, and a handler for SIGUSR1. Tenon is a shared
 * library of its own, or linked into the plugin and unloaded with it (CMakeLists.txt builds both).
 */
#include <tenon.h>

#include <signal.h>
#include <stddef.h>

static TenonCheckpoint checkpoint;

static TenonErrorCode applyOn(MPI_Comm comm, TenonDTensor* x) {
  const TenonInt shape[2] = {6, 4}, widths[3] = {4, 5, 1};
  TenonPartition partition = NULL;
  TenonLayout layout = NULL;
  TenonLayer layer = NULL;
  TenonDTensor y = NULL;
  int size = 0;
  MPI_Comm_size(comm, &size);
  TenonCall(TenonPartitionCreate(comm, 1, &size, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 2, shape, "S0", &layout));
  TenonCall(TenonLayerCreateColumnMLP(comm, 3, widths, "tanh", &layer));
  TenonCall(TenonLayerSetDataType(layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(layer, layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, x));
  TenonCall(TenonLayerCreateOutput(layer, 0, &y));
  TenonCall(TenonLayerApply(layer, *x, y));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonLayerDestroy(&layer));
  TenonCall(TenonLayoutDestroy(&layout));
  return TenonPartitionDestroy(&partition);
}

/* Without HDF5 the function does nothing. Even a failed call would be wrong here: the record of an
 * error has a destructor per thread, and the C library does not unload a plugin that has one. */
static TenonErrorCode writeCheckpoint(MPI_Comm comm, TenonDTensor x) {
#if TENON_TEST_HAS_HDF5
  TenonCall(TenonCheckpointCreate(comm, &checkpoint));
  TenonCall(TenonCheckpointAddTensor(checkpoint, x, "x"));
  TenonCall(TenonCheckpointOnSignal(checkpoint, SIGUSR1));
  TenonCall(TenonCheckpointWrite(checkpoint, "unloaded.h5"));
#else
  (void)comm;
  (void)x;
#endif
  return TENON_SUCCESS;
}

/* The functions that the host calls: to use Tenon, and to finalize it. Tenon's duplicate of
 * MPI_COMM_WORLD still exists after pluginUse(). */
TENON_EXTERN TenonErrorCode pluginUse(MPI_Comm own) TENON_NOEXCEPT;
TENON_EXTERN TenonErrorCode pluginFinish(void) TENON_NOEXCEPT;

TenonErrorCode pluginUse(MPI_Comm own) {
  TenonDTensor x = NULL;
  TenonCall(TenonInitialize(NULL, NULL, NULL));
  TenonCall(applyOn(own, &x));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(applyOn(MPI_COMM_WORLD, &x));
  TenonCall(writeCheckpoint(MPI_COMM_WORLD, x));
  return TenonDTensorDestroy(&x);
}

TenonErrorCode pluginFinish(void) {
  TenonCall(TenonCheckpointDestroy(&checkpoint));
  return TenonFinalize();
}
