// SPDX-License-Identifier: BSD-2-Clause
// Messages that leave as soon as something other than MPI is done, such as a copy from the device. Whoever waits on
// the communicator meanwhile looks after them.
#pragma once

namespace tenon {

class Pending {
public:
  virtual ~Pending() = default;
  // Sends what is ready; once all is sent it takes itself from the communicator's list.
  virtual void advance() = 0;
};

} // namespace tenon
