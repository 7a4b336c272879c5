// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace tenon {

// Whether the MPI library says that it sends from and receives into the memory of CUDA devices. Many that can do not
// say so.
bool mpiIsGpuAware();

} // namespace tenon
