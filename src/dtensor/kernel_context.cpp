// SPDX-License-Identifier: BSD-2-Clause
#include "dtensor/kernel_context.hpp"

#include <map>
#include <mutex>

namespace tenon {

KernelContextPtr contextOf(const CommPtr& comm) {
  static std::mutex mutex;
  static std::map<std::weak_ptr<Communicator>, std::weak_ptr<KernelContext>, std::owner_less<>>
      contexts;
  const std::scoped_lock lock(mutex);
  std::erase_if(contexts, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<KernelContext>& known = contexts[comm];
  KernelContextPtr context = contextOrOwn(known.lock());
  known = context;
  return context;
}

} // namespace tenon
