// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonDataset. The ranks agree here only that each of them has passed its arguments: the constructors read
// the files and agree on what they found, so the handle is given away without createTogether(). A batch is filled
// locally, since each rank knows the order of the samples.
#include "train/dataset.hpp"

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "io/hdf5_dataset.hpp"
#include "sys/errors/guard.hpp"
#include "train/idx_dataset.hpp"

#include <tenon/dataset.h>

using namespace tenon;

TenonErrorCode TenonDatasetCreateIDX(MPI_Comm comm, const char* images, const char* labels,
                                     TenonDataset* dataset) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    const auto [imagesPath, labelsPath] = collectively(*own, [&] {
      required(dataset, "dataset");
      return std::pair(textOf(images, "images"), textOf(labels, "labels"));
    });
    give(dataset, makeRef<IdxDataset>(own, imagesPath, labelsPath));
  });
}

TenonErrorCode TenonDatasetCreateHDF5(MPI_Comm comm, const char* path, const char* data,
                                      const char* labels, TenonDataset* dataset) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    const auto [file, samples] = collectively(*own, [&] {
      required(dataset, "dataset");
      return std::pair(textOf(path, "path"), textOf(data, "data"));
    });
    give(dataset, makeRef<Hdf5Dataset>(own, file, samples, textOrEmpty(labels)));
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
    struct Arguments {
      Dataset* dataset;
      const Layout *x, *labels;
    };
    const Arguments a = collectively(*comm, [&] {
      return Arguments{&deref(dataset, "dataset"), &deref(x, "x").layout(),
                       labels ? &deref(labels, "labels").layout() : nullptr};
    });
    a.dataset->setUp(*a.x, a.labels);
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
