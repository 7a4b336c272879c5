// SPDX-License-Identifier: BSD-2-Clause
// `tenon info`: what the library was built with and runs on. Alone it needs no MPI and draws this
// computer; with options it runs on all ranks.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

void printInfo();
extern const std::vector<ProgramOption> kInfoOptions;
int runInfo();

} // namespace tenon::tools
