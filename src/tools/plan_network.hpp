// SPDX-License-Identifier: BSD-2-Clause
// `tenon plan network`: the parallelisation of each layer of a network, chosen by predicted time.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kNetworkOptions;
int planNetwork();

} // namespace tenon::tools
