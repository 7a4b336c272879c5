// SPDX-License-Identifier: BSD-2-Clause
// Sums over grid axes by programs, as -tenon_reduction asks for them: a list of programs, of which
// each sum takes the first that reduces over its levels, or auto, which prices them.
#pragma once

namespace tenon {

// Hands the reduction methods of this room to linop, which cannot name them. Whoever initialises
// the library calls it before, as often as it likes: what nobody calls, a linker would leave out.
void registerReductionMethods() noexcept;

} // namespace tenon
