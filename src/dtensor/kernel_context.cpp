// SPDX-License-Identifier: BSD-2-Clause
// One context per communicator and space, which exists as long as a tensor, layer or operator uses
// it. The table has weak references: with the last user the scratch memory is freed, and another
// stream can be set.
#include "dtensor/kernel_context.hpp"

#include <map>
#include <mutex>

namespace tenon {

namespace {

struct Contexts {
  std::weak_ptr<KernelContext> bySpace[2]; // By space.
  std::optional<void*> stream; // The user's stream for the device; NULL is CUDA's default stream.
};

// Guards contextsOf(): communicators can be used in distinct threads, but share this table.
std::mutex& contextsMutex() {
  static std::mutex mutex;
  return mutex;
}

// The key is weak, so the table does not keep communicators alive, and is ordered by ownership, so
// a new communicator at the address of an old one has another key.
Contexts& contextsOf(const CommPtr& comm) {
  static std::map<std::weak_ptr<Communicator>, Contexts, std::owner_less<>> table;
  std::erase_if(table, [](const auto& entry) { return entry.first.expired(); });
  return table[comm];
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
  std::weak_ptr<KernelContext>& weak = contexts.bySpace[static_cast<std::size_t>(space)];
  KernelContextPtr context = weak.lock();
  if (!context)
    weak = context = makeContext(space, contexts.stream);
  return context;
}

void setStream(const CommPtr& comm, const std::optional<void*>& stream) {
  Device::get(); // Throws if there is no device.
  const std::scoped_lock lock(contextsMutex());
  Contexts& contexts = contextsOf(comm);
  if (!contexts.bySpace[static_cast<std::size_t>(Space::Device)].expired())
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
