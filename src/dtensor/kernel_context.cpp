// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/kernel_context.hpp"

#include <array>
#include <map>
#include <mutex>

namespace tenon {

KernelContextPtr contextOf(const CommPtr& comm, Space space) {
  using Contexts =
      std::map<std::weak_ptr<Communicator>, std::weak_ptr<KernelContext>, std::owner_less<>>;
  static std::mutex mutex;
  static std::array<Contexts, 2> all; // by space
  const std::scoped_lock lock(mutex);
  Contexts& contexts = all[static_cast<std::size_t>(space)];
  std::erase_if(contexts, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<KernelContext>& known = contexts[comm];
  KernelContextPtr context = known.lock();
  if (!context)
    known = context = std::make_shared<KernelContext>(space);
  return context;
}

} // namespace tenon
