/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin that uses Tenon: a layer on a communicator of its own and one on that of all ranks, a
 * checkpoint file, and a signal that is noted. Tenon is a shared library beside it, or a part of it
 * (CMakeLists.txt). */
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

/* Without HDF5 there are no checkpoints. An error would not do: its record has a destructor for
 * each thread, for which the C library keeps the plugin. */
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

/* What the host looks for: the first uses Tenon, the second gives it back. The copy of
 * MPI_COMM_WORLD is not freed. */
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
