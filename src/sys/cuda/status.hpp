// SPDX-License-Identifier: BSD-2-Clause
// Failures of the CUDA runtime as Tenon's errors, with the runtime's own text.
#pragma once

#include "sys/errors/error.hpp"

#include "sys/cuda/runtime.hpp"

namespace tenon::cuda {

// Throws TENON_ERR_MEMORY if memory ran out, else TENON_ERR_LIBRARY; `what` is the call that
// failed.
void check(cudaError_t status, const char* what,
           std::source_location where = std::source_location::current());

} // namespace tenon::cuda
