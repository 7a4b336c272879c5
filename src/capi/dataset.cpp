// SPDX-License-Identifier: BSD-2-Clause
#include "train/dataset.hpp"

#include "capi/collective.hpp"
#include "sys/guard.hpp"

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

TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt* samples, TenonInt* height,
                                    TenonInt* width) noexcept {
  return guard(__func__, [&] {
    const IdxDataset& d = deref(dataset, "dataset");
    if (samples)
      *samples = d.samples();
    if (height)
      *height = d.height();
    if (width)
      *width = d.width();
  });
}

TenonErrorCode TenonDatasetSetScaling(TenonDataset dataset, double scale, double shift) noexcept {
  return guard(__func__, [&] { deref(dataset, "dataset").setScaling(scale, shift); });
}

TenonErrorCode TenonDatasetSetShuffle(TenonDataset dataset, TenonBool shuffle,
                                      TenonInt seed) noexcept {
  return guard(__func__, [&] {
    deref(dataset, "dataset").setShuffle(shuffle != TENON_FALSE, static_cast<std::uint64_t>(seed));
  });
}

TenonErrorCode TenonDatasetSetUp(TenonDataset dataset, TenonLayout x, TenonLayout labels) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("dataset", dataset, x, labels);
    struct Arguments {
      IdxDataset* dataset;
      const Layout *x, *labels;
    };
    const Arguments a = collectively(*comm, [&] {
      return Arguments{&deref(dataset, "dataset"), &deref(x, "x").layout(),
                       &deref(labels, "labels").layout()};
    });
    a.dataset->setUp(*a.x, *a.labels);
  });
}

TenonErrorCode TenonDatasetGetBatchCount(TenonDataset dataset, TenonInt* count) noexcept {
  return guard(__func__, [&] { required(count, "count") = deref(dataset, "dataset").batches(); });
}

TenonErrorCode TenonDatasetGetBatch(TenonDataset dataset, TenonInt epoch, TenonInt batch,
                                    TenonDTensor x, TenonDTensor labels) noexcept {
  return guard(__func__, [&] {
    deref(dataset, "dataset").getBatch(epoch, batch, deref(x, "x"), deref(labels, "labels"));
  });
}

TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) noexcept {
  return guard(__func__, [&] { destroy(dataset, "dataset"); });
}
