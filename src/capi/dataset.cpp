// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonDataset. The constructors read the files and agree on what they found; here the
// ranks agree that each of them has the dataset. A batch is filled locally, since each rank knows
// the order of the samples.
#include "train/dataset.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "io/hdf5_dataset.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/dataset.h>

using namespace tenon;

namespace {

// make(comm) returns the reference to the dataset.
template <class Make>
void createDataset(MPI_Comm comm, TenonDataset* dataset, Make make) {
  checkInitialized();
  const CommPtr own = Communicator::of(comm);
  createTogether(
      *own, dataset, "dataset", "a new dataset", [&]() -> Ref<Dataset> { return make(own); },
      [](const Ref<Dataset>&) { return std::string("of files"); });
}

} // namespace

TenonErrorCode TenonDatasetCreateHDF5(MPI_Comm comm, const char* path, const char* data,
                                      const char* labels, TenonDataset* dataset) noexcept {
  return guard(__func__, [&] {
    createDataset(comm, dataset, [&](const CommPtr& own) {
      return makeRef<Hdf5Dataset>(own, textOf(path, "path"), textOf(data, "data"),
                                  textOrEmpty(labels));
    });
  });
}

TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt length, TenonInt shape[],
                                    int* ndim) noexcept {
  return guard(__func__, [&] {
    const Dataset& known = deref(dataset, "dataset");
    if (ndim)
      *ndim = static_cast<int>(known.shape().size());
    copyUpTo(known.shape(), length, shape, fmt::format("the shape of {}", known.title()));
  });
}

TenonErrorCode TenonDatasetSetUp(TenonDataset dataset, TenonLayout x, TenonLayout labels) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("dataset", dataset, x);
    together(*comm, [&] {
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

TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) noexcept {
  return guard(__func__, [&] { destroy(dataset, "dataset"); });
}
