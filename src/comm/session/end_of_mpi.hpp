// SPDX-License-Identifier: BSD-2-Clause
// What MPI calls in this library when the program ends MPI, and that MPI calls nothing of it once
// it is unloaded.
#pragma once

namespace tenon {

// From now on MPI_Finalize calls `ended` while MPI still works. Not collective.
void watchEndOfMpi(void (*ended)() noexcept);
// From now on it does not.
void leaveEndOfMpi() noexcept;

} // namespace tenon
