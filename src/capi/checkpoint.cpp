// SPDX-License-Identifier: BSD-2-Clause
// The C functions of TenonCheckpoint, a list of layers, optimizers, tensors and named values that
// are written to one HDF5 file, and read from it on any number of ranks:
//   Create, Destroy                                           Create is collective
//   AddLayer, AddOptimizer, AddTensor                         objects in the file; local
//   Write, WriteStep, Read, ReadLatest, TenonDTensorLoad      files; collective
//   OnSignal, GetSignal                                       writing before a job is killed;
//                                                             GetSignal is collective
//   GetContents                                               lists a file on one process, no MPI
// The named values of a checkpoint are settings of the object (object_settings.cpp). The work is
// done by class Checkpoint (io/checkpoint.hpp); this file converts arguments and
// errors.
//
// Collective calls use one of three helpers. Each runs a function (the body) on every rank and then
// exchanges whether it failed on any rank; if so, all ranks return the same error:
//   createCollectively()   the body creates the object; the handle is returned after the exchange
//   runCollectively()      the body does all the work of the call and returns nothing
//   collectively()         the body only checks arguments; the MPI call follows after the exchange
// Arguments are checked inside the body. A path that is NULL on one rank is therefore an error on
// all ranks, and no rank waits for it in MPI.
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

// The step that ReadLatest returns if the folder has no file step-N.h5.
constexpr Index kNoFile = -1;

// Runs body(checkpoint, path) as a collective call on the checkpoint's communicator. `name` is the
// name of the argument `path` in error messages.
template <class Body>
void withPath(TenonCheckpoint handle, const char* path, const char* name, Body body) {
  checkInitialized();
  const CommPtr comm = commOf("checkpoint", handle);
  runCollectively(*comm, [&] { body(deref(handle, "checkpoint"), textOf(path, name)); });
}

} // namespace

TenonErrorCode TenonCheckpointCreate(MPI_Comm comm, TenonCheckpoint* checkpoint) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    // The last function returns a text that is compared between ranks. A new checkpoint has nothing
    // that could differ, so the text only detects ranks that are in another Create call.
    createCollectively(
        *communicator, checkpoint, /*name=*/"checkpoint", /*what=*/"a new checkpoint",
        /*make=*/[&] { return makeRef<Checkpoint>(communicator); },
        /*describe=*/[](const Ref<Checkpoint>&) { return std::string("empty"); });
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
      *step = c.readLatest(from).value_or(kNoFile);
    });
  });
}

// From now on the process records this signal instead of ending.
TenonErrorCode TenonCheckpointOnSignal(TenonCheckpoint checkpoint, int signal) noexcept {
  return guard(__func__, [&] { deref(checkpoint, "checkpoint").setSignal(signal); });
}

// A signal reaches the ranks at different times, or only some of them. GetSignal is therefore a
// reduction (MPI_MAX): all ranks see the signal after the same step and can write one checkpoint.
TenonErrorCode TenonCheckpointGetSignal(TenonCheckpoint checkpoint, int* signal) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const Checkpoint& c = deref(checkpoint, "checkpoint");
    collectively(*c.comm(), [&] { return &required(signal, "signal"); });
    *signal = c.signal(); // the reduction
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
    runCollectively(*comm, [&] {
      Checkpoint::load(Ref<DTensor>::share(&deref(x, "x")), textOf(path, "path"),
                       textOf(dataset, "dataset"));
    });
  });
}

TenonErrorCode TenonCheckpointDestroy(TenonCheckpoint* checkpoint) noexcept {
  return guard(__func__, [&] { destroy(checkpoint, "checkpoint"); });
}
