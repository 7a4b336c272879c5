// SPDX-License-Identifier: BSD-2-Clause
// The reduction methods of -tenon_reduction: a list of programs, of which each sum uses the first
// that reduces over its levels; or `auto`, which chooses by predicted time.
#pragma once

namespace tenon {

// Passes the reduction methods of this module to linop, which cannot depend on it. Must be called
// before the library is initialised, and can be called repeatedly. The explicit call also keeps
// linkers from dropping the module.
void registerReductionMethods() noexcept;

} // namespace tenon
