// SPDX-License-Identifier: BSD-2-Clause
// A signal that is noted instead of ending the process, such as the SIGTERM that comes before a job's
// time is over.
#pragma once

namespace tenon {

// From now on this signal is noted; 0: none, and the one noted so far does again what it did before.
// Throws TENON_ERR_ARG for a signal that cannot be caught.
void noteSignal(int signal);
// The signal that was noted and has come since; 0 if it has not.
int notedSignal() noexcept;

} // namespace tenon
