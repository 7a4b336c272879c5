// SPDX-License-Identifier: BSD-2-Clause
// Notification when the program ends MPI, and protection against calls of MPI into this library
// after it has been unloaded, with a plugin that contains it. Used by the session, which must free
// its communicators before MPI ends.
#pragma once

namespace tenon {

// From now on MPI_Finalize calls `ended` while MPI can still be used. Not collective.
void watchEndOfMpi(void (*ended)() noexcept);
// Ends the notification.
void leaveEndOfMpi() noexcept;

} // namespace tenon
