/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by src/fortran/generate.py from the public headers. Do not edit. */
/* clang-format off */
#include <tenon.h>
#include <tenon/ext/layer.h>
#include <tenon/ext/linearop.h>
#include <tenon/ext/reduction.h>

TenonErrorCode TenonFCheckpointCreate(int comm, TenonCheckpoint* checkpoint) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonCheckpointCreate(handle, checkpoint) : code;
}

TenonErrorCode TenonFDatasetCreateIDX(int comm, const char* images, const char* labels, TenonDataset* dataset) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonDatasetCreateIDX(handle, images, labels, dataset) : code;
}

TenonErrorCode TenonFDatasetCreateHDF5(int comm, const char* path, const char* data, const char* labels, TenonDataset* dataset) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonDatasetCreateHDF5(handle, path, data, labels, dataset) : code;
}

TenonErrorCode TenonFFieldSeriesCreate(int comm, const char* path, int spatial, TenonFieldSeries* series) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonFieldSeriesCreate(handle, path, spatial, series) : code;
}

TenonErrorCode TenonFIndexMapCreateFromIds(int comm, TenonInt owned, TenonInt count, const TenonInt ids[], TenonIndexMap* map) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonIndexMapCreateFromIds(handle, owned, count, ids, map) : code;
}

TenonErrorCode TenonFInitializeWithComm(int comm, int* argc, char*** argv, const char* help) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonInitializeWithComm(handle, argc, argv, help) : code;
}

TenonErrorCode TenonFCommFromFortran(int fcomm, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(fcomm, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}

TenonErrorCode TenonFLayerCreateSequential(int comm, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateSequential(handle, layer) : code;
}

TenonErrorCode TenonFLayerCreateGraph(int comm, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateGraph(handle, layer) : code;
}

TenonErrorCode TenonFLayerCreateFromFile(int comm, const char* nameOrPath, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateFromFile(handle, nameOrPath, layer) : code;
}

TenonErrorCode TenonFLayerCreateFromModel(int comm, const char* path, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateFromModel(handle, path, layer) : code;
}

TenonErrorCode TenonFLayerCreateType(int comm, const char* name, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateType(handle, name, layer) : code;
}

TenonErrorCode TenonFLayerCreateConv(int comm, int spatial, TenonInt inChannels, TenonInt outChannels, const TenonInt kernel[], TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateConv(handle, spatial, inChannels, outChannels, kernel, layer) : code;
}

TenonErrorCode TenonFLayerCreateAffine(int comm, TenonInt inputs, TenonInt outputs, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateAffine(handle, inputs, outputs, layer) : code;
}

TenonErrorCode TenonFLayerCreateColumnMLP(int comm, int count, const TenonInt widths[], const char* activation, TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateColumnMLP(handle, count, widths, activation, layer) : code;
}

TenonErrorCode TenonFLayerCreateCollocate(int comm, int spatial, const TenonFaces faces[], TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateCollocate(handle, spatial, faces, layer) : code;
}

TenonErrorCode TenonFLayerCreateStagger(int comm, int spatial, const TenonFaces faces[], TenonLayer* layer) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayerCreateStagger(handle, spatial, faces, layer) : code;
}

TenonErrorCode TenonFLayoutCreateFromBoxes(int comm, int ndim, const TenonInt shape[], const TenonInt low[], const TenonInt high[], TenonLayout* layout) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLayoutCreateFromBoxes(handle, ndim, shape, low, high, layout) : code;
}

TenonErrorCode TenonFLinksCreateFromTiles(int comm, int ndim, const TenonInt tiles[], const TenonBoundary low[], const TenonBoundary high[], TenonInt count, const TenonInt places[], TenonLinks* links) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLinksCreateFromTiles(handle, ndim, tiles, low, high, count, places, links) : code;
}

TenonErrorCode TenonFLinksCreateFromSides(int comm, int ndim, TenonInt count, const TenonInt patches[], const int sides[], const int turned[], TenonLinks* links) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonLinksCreateFromSides(handle, ndim, count, patches, sides, turned, links) : code;
}

TenonErrorCode TenonFMachineCreateFromComm(int comm, TenonMachine* machine) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonMachineCreateFromComm(handle, machine) : code;
}

TenonErrorCode TenonFMachineMeasure(int comm, TenonMemorySpace space, int rounds, TenonMachine* machine) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonMachineMeasure(handle, space, rounds, machine) : code;
}

TenonErrorCode TenonFObjectGetComm(TenonObject object, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonObjectGetComm(object, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}

TenonErrorCode TenonFPartitionCreate(int comm, int axes, const int extents[], TenonPartition* partition) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonPartitionCreate(handle, axes, extents, partition) : code;
}

TenonErrorCode TenonFPartitionCreateFromRanks(int comm, int axes, const int extents[], const int ranks[], TenonPartition* partition) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonPartitionCreateFromRanks(handle, axes, extents, ranks, partition) : code;
}

TenonErrorCode TenonFPartitionCreatePlaced(int comm, int axes, int levels, const TenonInt matrix[], TenonPartition* partition) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);
  return code == TENON_SUCCESS ? TenonPartitionCreatePlaced(handle, axes, levels, matrix, partition) : code;
}

TenonErrorCode TenonFPartitionGetAxisComm(TenonPartition partition, int axis, int* comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const TenonErrorCode code = TenonPartitionGetAxisComm(partition, axis, &handle);
  if (code == TENON_SUCCESS)
    *comm = MPI_Comm_c2f(handle);
  return code;
}
