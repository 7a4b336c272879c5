// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonCheckpoint. What belongs to a checkpoint is added locally, and what touches a
// file is collective: a NULL in place of the path, or no memory for it, on one rank is an error on
// all of them and no wait without end.
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

// A value of the caller's, which must have the type by which it is requested.
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

// A collective call with a path: body(checkpoint, path).
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
    const CommPtr own = Communicator::of(comm);
    createTogether(
        *own, checkpoint, "checkpoint", "a new checkpoint",
        [&] { return makeRef<Checkpoint>(own); },
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
      required(step, "step");
      *step = c.readLatest(from).value_or(-1);
    });
  });
}

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

TenonErrorCode TenonCheckpointViewFile(const char* path) noexcept {
  return guard(__func__, [&] {
    const std::string name = textOf(path, "path");
    requireHdf5();
    const FileView view = viewFile(name);
    print(view.text);
    // The contents are printed before the error: they say which datasets can still be used.
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
    together(*comm, [&] {
      Checkpoint::load(Ref<DTensor>::share(&deref(x, "x")), textOf(path, "path"),
                       textOf(dataset, "dataset"));
    });
  });
}

TenonErrorCode TenonCheckpointDestroy(TenonCheckpoint* checkpoint) noexcept {
  return guard(__func__, [&] { destroy(checkpoint, "checkpoint"); });
}
