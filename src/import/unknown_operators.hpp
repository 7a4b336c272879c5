// SPDX-License-Identifier: BSD-2-Clause
// What to use in place of an operator that has no row in the tables of PyTorch and ONNX.
#pragma once

#include <string>

namespace tenon {

// Returns the advice for an operator by its name in the file, such as "aten.sort.default" or
// "TopK", with the reason if it cannot be a layer at all.
std::string adviceFor(const std::string& type);

} // namespace tenon
