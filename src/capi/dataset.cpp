// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonDataset, samples in HDF5 and NetCDF files that are read batch by batch. They
// are:
//   CreateHDF5   opens the files                                           collective
//   SetUp        fixes the layouts of the tensors x and labels of a batch  collective
//   GetBatch     fills this rank's blocks of x and labels                  local
//   GetMasks     tells where values of a batch are missing in the files    local
// GetBatch() does not communicate. Each rank computes the order of the samples, a function of the
// seed and the epoch. The calls are declared in tenon/dataset.h.
#include "train/dataset.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "io/dataset/file_dataset.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/dataset.h>

using namespace tenon;

namespace {

// The body of a constructor: make(comm) returns a reference to the dataset. createCollectively()
// compares a text between ranks, to find arguments that differ. Here this text is a constant, since
// FileDataset compares the contents of the files itself.
template <class Make>
void createDataset(MPI_Comm comm, TenonDataset* dataset, Make make) {
  checkInitialized();
  const CommPtr communicator = Communicator::of(comm);
  createCollectively(
      *communicator, dataset, "dataset", "a new dataset",
      [&]() -> Ref<Dataset> { return make(communicator); },
      [](const Ref<Dataset>&) { return std::string("of files"); });
}

} // namespace

TenonErrorCode TenonDatasetCreateHDF5(MPI_Comm comm, const char* path, const char* data,
                                      const char* labels, TenonDataset* dataset) noexcept {
  return guard(__func__, [&] {
    createDataset(comm, dataset, [&](const CommPtr& communicator) {
      return makeRef<FileDataset>(communicator, textOf(path, "path"), textOf(data, "data"),
                                  textOrEmpty(labels));
    });
  });
}

TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt length, TenonInt shape[],
                                    int* ndim) noexcept {
  return guard(__func__, [&] {
    const Dataset& object = deref(dataset, "dataset");
    if (ndim)
      *ndim = static_cast<int>(object.shape().size());
    copyUpTo(object.shape(), length, shape, fmt::format("the shape of {}", object.title()));
  });
}

TenonErrorCode TenonDatasetSetUp(TenonDataset dataset, TenonLayout x, TenonLayout labels) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("dataset", dataset, x);
    runCollectively(*comm, [&] {
      deref(dataset, "dataset")
          .setUp(deref(x, "x").layout(), labels ? &deref(labels, "labels").layout() : nullptr);
    });
  });
}

TenonErrorCode TenonDatasetGetBatchCount(TenonDataset dataset, TenonInt* count) noexcept {
  return guard(__func__, [&] { required(count, "count") = deref(dataset, "dataset").batches(); });
}

TenonErrorCode TenonDatasetGetBatch(TenonDataset dataset, TenonInt epoch, TenonInt batch,
                                    TenonDTensor x, TenonDTensor labels) noexcept {
  return guard(__func__, [&] {
    deref(dataset, "dataset")
        .getBatch(epoch, batch, deref(x, "x"), labels ? &deref(labels, "labels") : nullptr);
  });
}

TenonErrorCode TenonDatasetGetMasks(TenonDataset dataset, TenonInt epoch, TenonInt batch,
                                    TenonDTensor x, TenonDTensor labels) noexcept {
  return guard(__func__, [&] {
    deref(dataset, "dataset")
        .getMasks(epoch, batch, x ? &deref(x, "x") : nullptr,
                  labels ? &deref(labels, "labels") : nullptr);
  });
}

TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) noexcept {
  return guard(__func__, [&] { destroy(dataset, "dataset"); });
}
