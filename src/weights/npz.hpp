// SPDX-License-Identifier: BSD-2-Clause
// numpy's npz format: a zip archive with one npy file for each array, "name.npy", in the order in which
// they were saved.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT.
WeightsDirectory readNpz(const ByteSource& source);

} // namespace tenon
