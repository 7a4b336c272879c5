// SPDX-License-Identifier: BSD-2-Clause
// Keeps one context for each communicator and space, as long as a tensor, layer or operator uses
// it. The contexts are held weakly: with the last user the scratch memory goes, and a stream may be
// set again.
#include "dtensor/kernel_context.hpp"

#include <map>
#include <mutex>

namespace tenon {

namespace {

struct Contexts {
  std::weak_ptr<KernelContext> known[2]; // by space
  std::optional<void*> stream;           // the user's, for the device; NULL is CUDA's default one
};

// Guards contextsOf(): communicators may be used in distinct threads, but the table of all contexts
// is one.
std::mutex& contextsMutex() {
  static std::mutex mutex;
  return mutex;
}

// The key is weak, so that the table keeps no communicator alive, and is ordered by ownership, so
// that a new communicator at the address of an old one is not taken for it.
Contexts& contextsOf(const CommPtr& comm) {
  static std::map<std::weak_ptr<Communicator>, Contexts, std::owner_less<>> all;
  std::erase_if(all, [](const auto& entry) { return entry.first.expired(); });
  return all[comm];
}

KernelContextPtr makeContext(Space space, const std::optional<void*>& stream) {
  return space == Space::Device && stream
             ? std::make_shared<KernelContext>(Stream::ofCaller(*stream))
             : std::make_shared<KernelContext>(space);
}

} // namespace

KernelContextPtr contextOf(const CommPtr& comm, Space space) {
  const std::scoped_lock lock(contextsMutex());
  Contexts& contexts = contextsOf(comm);
  std::weak_ptr<KernelContext>& known = contexts.known[static_cast<std::size_t>(space)];
  KernelContextPtr context = known.lock();
  if (!context)
    known = context = makeContext(space, contexts.stream);
  return context;
}

void setStream(const CommPtr& comm, const std::optional<void*>& stream) {
  Device::get(); // throws where there is no device
  const std::scoped_lock lock(contextsMutex());
  Contexts& contexts = contextsOf(comm);
  if (!contexts.known[static_cast<std::size_t>(Space::Device)].expired())
    throw Error(TENON_ERR_STATE, "there are tensors, layers or operators on the device of this "
                                 "communicator; set the stream before the first of them, or "
                                 "destroy them");
  contexts.stream = stream;
}

bool isOnUserStream(const CommPtr& comm) {
  const std::scoped_lock lock(contextsMutex());
  return contextsOf(comm).stream.has_value();
}

} // namespace tenon
