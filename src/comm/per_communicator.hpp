// SPDX-License-Identifier: BSD-2-Clause
// PerCommunicator: what the library finds out once for each communicator, such as whether its MPI
// library reaches device memory on all ranks.
#pragma once

#include "comm/communicator.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace tenon {

template <class T>
class PerCommunicator {
public:
  // The value of a communicator, T() at first. It is removed with the communicator, since another
  // one can get its address.
  T& of(const CommPtr& comm) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(values_, [](const auto& entry) { return entry.first.expired(); });
    return values_[comm];
  }

private:
  std::mutex mutex_;
  std::map<std::weak_ptr<Communicator>, T, std::owner_less<>> values_;
};

} // namespace tenon
