/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by src/fortran/generate.py from the public headers. Do not edit. */
/* clang-format off */
#include <tenon.h>
#include <tenon/ext/layer.h>
#include <tenon/ext/linearop.h>

TenonErrorCode TenonFCheckpointCreate(int comm, TenonCheckpoint* checkpoint) {
  return TenonCheckpointCreate(MPI_Comm_f2c(comm), checkpoint);
}

TenonErrorCode TenonFDatasetCreateIDX(int comm, const char* images, const char* labels, TenonDataset* dataset) {
  return TenonDatasetCreateIDX(MPI_Comm_f2c(comm), images, labels, dataset);
}

TenonErrorCode TenonFDatasetCreateHDF5(int comm, const char* path, const char* data, const char* labels, TenonDataset* dataset) {
  return TenonDatasetCreateHDF5(MPI_Comm_f2c(comm), path, data, labels, dataset);
}

TenonErrorCode TenonFLayerCreateShell(int comm, TenonLayer* layer) {
  return TenonLayerCreateShell(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFFieldSeriesCreate(int comm, const char* path, int spatial, TenonFieldSeries* series) {
  return TenonFieldSeriesCreate(MPI_Comm_f2c(comm), path, spatial, series);
}

TenonErrorCode TenonFInitializeWithComm(int comm, int* argc, char*** argv, const char* help) {
  return TenonInitializeWithComm(MPI_Comm_f2c(comm), argc, argv, help);
}

TenonErrorCode TenonFCommFromFortran(int fcomm, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(fcomm, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}

TenonErrorCode TenonFLayerCreateConv(int comm, int spatial, TenonInt inChannels, TenonInt outChannels, const TenonInt kernel[], TenonLayer* layer) {
  return TenonLayerCreateConv(MPI_Comm_f2c(comm), spatial, inChannels, outChannels, kernel, layer);
}

TenonErrorCode TenonFLayerCreatePooling(int comm, TenonPoolingMode mode, int spatial, const TenonInt kernel[], TenonLayer* layer) {
  return TenonLayerCreatePooling(MPI_Comm_f2c(comm), mode, spatial, kernel, layer);
}

TenonErrorCode TenonFLayerCreateAffine(int comm, TenonInt inputs, TenonInt outputs, TenonLayer* layer) {
  return TenonLayerCreateAffine(MPI_Comm_f2c(comm), inputs, outputs, layer);
}

TenonErrorCode TenonFLayerCreatePointwise(int comm, const char* function, TenonLayer* layer) {
  return TenonLayerCreatePointwise(MPI_Comm_f2c(comm), function, layer);
}

TenonErrorCode TenonFLayerCreateFlatten(int comm, TenonLayer* layer) {
  return TenonLayerCreateFlatten(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateCrossEntropy(int comm, TenonLayer* layer) {
  return TenonLayerCreateCrossEntropy(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateMeanSquaredError(int comm, TenonLayer* layer) {
  return TenonLayerCreateMeanSquaredError(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateDropout(int comm, double rate, TenonLayer* layer) {
  return TenonLayerCreateDropout(MPI_Comm_f2c(comm), rate, layer);
}

TenonErrorCode TenonFLayerCreateType(int comm, const char* name, TenonLayer* layer) {
  return TenonLayerCreateType(MPI_Comm_f2c(comm), name, layer);
}

TenonErrorCode TenonFLayerCreateSequential(int comm, TenonLayer* layer) {
  return TenonLayerCreateSequential(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateRepartition(int comm, TenonLayout output, TenonLayer* layer) {
  return TenonLayerCreateRepartition(MPI_Comm_f2c(comm), output, layer);
}

TenonErrorCode TenonFLayerCreateAdd(int comm, TenonLayer* layer) {
  return TenonLayerCreateAdd(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateConcatenate(int comm, int dim, TenonLayer* layer) {
  return TenonLayerCreateConcatenate(MPI_Comm_f2c(comm), dim, layer);
}

TenonErrorCode TenonFLayerCreateGraph(int comm, TenonLayer* layer) {
  return TenonLayerCreateGraph(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreate(int comm, TenonLayer* layer) {
  return TenonLayerCreate(MPI_Comm_f2c(comm), layer);
}

TenonErrorCode TenonFLayerCreateFromFile(int comm, const char* nameOrPath, TenonLayer* layer) {
  return TenonLayerCreateFromFile(MPI_Comm_f2c(comm), nameOrPath, layer);
}

TenonErrorCode TenonFLayoutCreateFromBoxes(int comm, int ndim, const TenonInt shape[], const TenonInt low[], const TenonInt high[], TenonLayout* layout) {
  return TenonLayoutCreateFromBoxes(MPI_Comm_f2c(comm), ndim, shape, low, high, layout);
}

TenonErrorCode TenonFMachineCreateFromComm(int comm, TenonMachine* machine) {
  return TenonMachineCreateFromComm(MPI_Comm_f2c(comm), machine);
}

TenonErrorCode TenonFMachineMeasure(int comm, TenonMemorySpace space, int rounds, TenonMachine* machine) {
  return TenonMachineMeasure(MPI_Comm_f2c(comm), space, rounds, machine);
}

TenonErrorCode TenonFObjectGetComm(TenonObject object, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonObjectGetComm(object, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}

TenonErrorCode TenonFPartitionCreate(int comm, int axes, const int extents[], TenonPartition* partition) {
  return TenonPartitionCreate(MPI_Comm_f2c(comm), axes, extents, partition);
}

TenonErrorCode TenonFPartitionCreateFromRanks(int comm, int axes, const int extents[], const int ranks[], TenonPartition* partition) {
  return TenonPartitionCreateFromRanks(MPI_Comm_f2c(comm), axes, extents, ranks, partition);
}

TenonErrorCode TenonFPartitionCreatePlaced(int comm, int axes, int levels, const TenonInt matrix[], TenonPartition* partition) {
  return TenonPartitionCreatePlaced(MPI_Comm_f2c(comm), axes, levels, matrix, partition);
}

TenonErrorCode TenonFPartitionGetAxisComm(TenonPartition partition, int axis, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonPartitionGetAxisComm(partition, axis, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}
