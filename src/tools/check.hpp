// SPDX-License-Identifier: BSD-2-Clause
// `tenon check`: random configurations of operators and layers on the ranks that it was started with,
// compared with the definition, with the adjoint identity and with one process.
#pragma once

#include "tools/program.hpp"

namespace tenon::tools {

extern const std::vector<ProgramOption> kCheckOptions;
int runCheck();

} // namespace tenon::tools
