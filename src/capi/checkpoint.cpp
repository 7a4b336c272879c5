// SPDX-License-Identifier: BSD-2-Clause
// The C functions of TenonCheckpoint, a list of layers, optimizers, tensors and named values that
// are written to one HDF5 file, and read from it on any number of ranks:
//   Create, Destroy                                           Create is collective
//   AddLayer, AddOptimizer, AddTensor                         objects in the file; local
//   SetInt, ..., GetInt, ...                                  named values in the file; local
//   Write, WriteStep, Read, ReadLatest, TenonDTensorLoad      files; collective
//   OnSignal, GetSignal                                       writing before a job is killed;
//                                                             GetSignal is collective
//   ViewFile, GetContents                                     list a file on one process, no MPI
// The work is done by class Checkpoint (io/checkpoint.hpp); this file converts arguments and
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

// Returns the user's value of this key. Throws TENON_ERR_TYPE if it has another type; integers and
// reals are not converted to each other.
template <class T>
const T& storedValue(TenonCheckpoint handle, const char* key, const char* expected) {
  const Checkpoint& checkpoint = deref(handle, "checkpoint");
  const std::string name = textOf(key, "key");
  if (const T* found = std::get_if<T>(&checkpoint.value(name)))
    return *found;
  throw Error(TENON_ERR_TYPE,
              fmt::format("the value '{}' of {} is not {}; get it by the call of its type", name,
                          checkpoint.title(), expected));
}

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

TenonErrorCode TenonCheckpointSetInt(TenonCheckpoint checkpoint, const char* key,
                                     TenonInt value) noexcept {
  return guard(__func__,
               [&] { deref(checkpoint, "checkpoint").setValue(textOf(key, "key"), Index(value)); });
}

TenonErrorCode TenonCheckpointSetReal(TenonCheckpoint checkpoint, const char* key,
                                      double value) noexcept {
  return guard(__func__,
               [&] { deref(checkpoint, "checkpoint").setValue(textOf(key, "key"), value); });
}

TenonErrorCode TenonCheckpointSetString(TenonCheckpoint checkpoint, const char* key,
                                        const char* value) noexcept {
  return guard(__func__, [&] {
    deref(checkpoint, "checkpoint").setValue(textOf(key, "key"), textOf(value, "value"));
  });
}

TenonErrorCode TenonCheckpointGetInt(TenonCheckpoint checkpoint, const char* key,
                                     TenonInt* value) noexcept {
  return guard(__func__, [&] {
    required(value, "value") = storedValue<Index>(checkpoint, key, "an integer");
  });
}

TenonErrorCode TenonCheckpointGetReal(TenonCheckpoint checkpoint, const char* key,
                                      double* value) noexcept {
  return guard(__func__, [&] {
    required(value, "value") = storedValue<double>(checkpoint, key, "a real number");
  });
}

TenonErrorCode TenonCheckpointGetString(TenonCheckpoint checkpoint, const char* key, char text[],
                                        TenonInt length, TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(storedValue<std::string>(checkpoint, key, "a text"), {text, length, needed}, "text");
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

// Files are viewed on one process, without MPI.
TenonErrorCode TenonCheckpointViewFile(const char* path) noexcept {
  return guard(__func__, [&] {
    const std::string name = textOf(path, "path");
    requireHdf5();
    const FileView view = viewFile(name);
    print(view.text);
    // The contents are printed before the error, since they show which datasets are undamaged.
    if (!view.damaged.empty())
      throw Error(TENON_ERR_FORMAT, fmt::format("file '{}' is damaged: the digest is wrong of {}",
                                                name, view.damaged));
  });
}

TenonErrorCode TenonCheckpointGetContents(const char* path, char text[], TenonInt length,
                                          TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const std::string name = textOf(path, "path");
    requireHdf5();
    copyText(fileContents(name), {text, length, needed}, "text");
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
