// SPDX-License-Identifier: BSD-2-Clause
// tenon checkpoint FILE ...: what checkpoint files hold, and whether they are as they were written.
#pragma once

namespace tenon::tools {

int runCheckpoint(int argc, char** argv);

} // namespace tenon::tools
