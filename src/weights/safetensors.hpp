// SPDX-License-Identifier: BSD-2-Clause
// The safetensors format: the length N of a header as 8 bytes, N bytes of JSON
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ..., "__metadata__": {...}}
// that may end in spaces, and the tensors one after the other, row-major and little-endian; offsets
// count from the end of the header. The tensors fill the rest of the file without holes.
//
// The library of that name sorts tensors by type and name. The order of the program that wrote them
// stands in the metadata as "tenon.order", the names separated by newlines, where that is known.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

inline constexpr const char* kOrderKey = "tenon.order";

// Throws TENON_ERR_FORMAT.
WeightsDirectory readSafetensors(const ByteSource& source);

// The header with its length, for tensors written one after the other; `begin` of each is ignored.
std::string safetensorsHeader(const std::vector<StoredTensor>& tensors);

} // namespace tenon
