// SPDX-License-Identifier: BSD-2-Clause
// TenonCheckpoint, a list of layers, optimizers, tensors and values that are written to one HDF5
// file, and read from it on any number of ranks:
//   Create, AddLayer, AddOptimizer, AddTensor   the contents
//   Write, WriteStep, Read, ReadLatest          files
//   OnSignal, GetSignal                         writing before a job is killed
// Values are set and read as settings (object_settings.cpp). Add is local. Calls that access a file
// are collective, and the path is checked inside the collective body: a path that is NULL on one
// rank is an error on all ranks, not a deadlock.
#include "io/checkpoint.hpp"

#include "capi/collective.hpp"
#include "dtensor/dtensor.hpp"
#include "io/file_view.hpp"
#include "io/hdf5_file.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"
#include "train/optimizer.hpp"

#include <tenon/checkpoint.h>

using namespace tenon;

namespace {

// The body of a collective call with a path: body(checkpoint, path).
template <class Body>
void withPath(TenonCheckpoint handle, const char* path, const char* name, Body body) {
  checkInitialized();
  const CommPtr comm = commOf("checkpoint", handle);
  together(*comm, [&] { body(deref(handle, "checkpoint"), textOf(path, name)); });
}

} // namespace

TenonErrorCode TenonCheckpointCreate(MPI_Comm comm, TenonCheckpoint* checkpoint) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createTogether(
        *communicator, checkpoint, "checkpoint", "a new checkpoint",
        [&] { return makeRef<Checkpoint>(communicator); },
        [](const Ref<Checkpoint>&) { return std::string("empty"); });
  });
}

TenonErrorCode TenonCheckpointAddLayer(TenonCheckpoint checkpoint, TenonLayer layer,
                                       const char* name) noexcept {
  return guard(__func__, [&] {
    deref(checkpoint, "checkpoint")
        .addLayer(Ref<Layer>::share(&deref(layer, "layer")), textOf(name, "name"));
  });
}

TenonErrorCode TenonCheckpointAddOptimizer(TenonCheckpoint checkpoint, TenonOptimizer optimizer,
                                           const char* name) noexcept {
  return guard(__func__, [&] {
    deref(checkpoint, "checkpoint")
        .addOptimizer(Ref<Optimizer>::share(&deref(optimizer, "optimizer")), textOf(name, "name"));
  });
}

TenonErrorCode TenonCheckpointAddTensor(TenonCheckpoint checkpoint, TenonDTensor tensor,
                                        const char* name) noexcept {
  return guard(__func__, [&] {
    deref(checkpoint, "checkpoint")
        .addTensor(Ref<DTensor>::share(&deref(tensor, "tensor")), textOf(name, "name"));
  });
}

TenonErrorCode TenonCheckpointWrite(TenonCheckpoint checkpoint, const char* path) noexcept {
  return guard(__func__, [&] {
    withPath(checkpoint, path, "path", [](Checkpoint& c, const std::string& to) { c.write(to); });
  });
}

TenonErrorCode TenonCheckpointWriteStep(TenonCheckpoint checkpoint, const char* folder,
                                        TenonInt step) noexcept {
  return guard(__func__, [&] {
    withPath(checkpoint, folder, "folder",
             [&](Checkpoint& c, const std::string& to) { c.writeStep(to, step); });
  });
}

TenonErrorCode TenonCheckpointRead(TenonCheckpoint checkpoint, const char* path) noexcept {
  return guard(__func__, [&] {
    withPath(checkpoint, path, "path",
             [](Checkpoint& c, const std::string& from) { c.read(from); });
  });
}

TenonErrorCode TenonCheckpointReadLatest(TenonCheckpoint checkpoint, const char* folder,
                                         TenonInt* step) noexcept {
  return guard(__func__, [&] {
    withPath(checkpoint, folder, "folder", [&](Checkpoint& c, const std::string& from) {
      required(step, "step"); // before the file is read, which may take long
      *step = c.readLatest(from).value_or(-1);
    });
  });
}

// A signal reaches the ranks at different times, or only some of them. GetSignal is therefore a
// reduction: all ranks see the signal after the same step and can write one checkpoint.
TenonErrorCode TenonCheckpointOnSignal(TenonCheckpoint checkpoint, int signal) noexcept {
  return guard(__func__, [&] { deref(checkpoint, "checkpoint").setSignal(signal); });
}

TenonErrorCode TenonCheckpointGetSignal(TenonCheckpoint checkpoint, int* signal) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const Checkpoint& c = deref(checkpoint, "checkpoint");
    collectively(*c.comm(), [&] { return &required(signal, "signal"); });
    *signal = c.signal();
  });
}

// A file is listed on one process, without MPI. The query of the size does not read the data.
TenonErrorCode TenonCheckpointGetContents(const char* path, TenonBool verify, char text[],
                                          TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const std::string name = textOf(path, "path");
    requireHdf5();
    const Digests verified = text ? Digests::Verified : Digests::Assumed;
    copyText(fileContents(name, verify != TENON_FALSE ? verified : Digests::Omitted),
             {text, length, needed}, "text");
  });
}

TenonErrorCode TenonDTensorLoad(TenonDTensor x, const char* path, const char* dataset) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("x", x);
    together(*comm, [&] {
      Checkpoint::load(Ref<DTensor>::share(&deref(x, "x")), textOf(path, "path"),
                       textOf(dataset, "dataset"));
    });
  });
}

TenonErrorCode TenonCheckpointDestroy(TenonCheckpoint* checkpoint) noexcept {
  return guard(__func__, [&] { destroy(checkpoint, "checkpoint"); });
}
