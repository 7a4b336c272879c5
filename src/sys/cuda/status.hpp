// SPDX-License-Identifier: BSD-2-Clause
// Converts failures of the CUDA runtime to Tenon's errors, with the runtime's text.
#pragma once

#include "sys/errors/error.hpp"

#include "sys/cuda/runtime.hpp"

namespace tenon::cuda {

// Throws TENON_ERR_MEMORY if memory ran out, else TENON_ERR_LIBRARY; `what` is the name of the
// failed call.
void check(cudaError_t status, const char* what,
           std::source_location where = std::source_location::current());

} // namespace tenon::cuda
