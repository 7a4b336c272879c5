// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan signatures`: from the properties of a layer's inputs to those of its parameters and output.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kSignatureOptions;
int planSignatures();

} // namespace tenon::tools
