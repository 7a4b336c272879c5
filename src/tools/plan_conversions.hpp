// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan conversions`: what conversions between properties send.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kConversionOptions;
int planConversions();

} // namespace tenon::tools
