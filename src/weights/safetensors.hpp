// SPDX-License-Identifier: BSD-2-Clause
// The safetensors format: the length N of the header as 8 bytes, N bytes of JSON
//  {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//   "__metadata__": {...}}
// (possibly followed by spaces), and the data of the tensors, row-major and little-endian. Offsets
// count from the end of the header. The tensors fill the rest of the file without holes.
//
// The safetensors library sorts tensors by type and name. If known, the order of the program that
// wrote them is stored in the metadata as "tenon.order", with the names separated by newlines.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

inline constexpr const char* kOrderKey = "tenon.order";

// Throws TENON_ERR_FORMAT.
WeightsDirectory readSafetensors(const ByteSource& source);

// Returns the header, including its length, for tensors that are written consecutively; `begin` of
// each is ignored.
std::string safetensorsHeader(const std::vector<StoredTensor>& tensors);

} // namespace tenon
