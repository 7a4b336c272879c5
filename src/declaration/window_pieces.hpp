// SPDX-License-Identifier: BSD-2-Clause
// Sliding windows cut into pieces, so that the halo travels while what needs none is computed.
//
// The outputs of a part that read its own input alone are its interior. The others lie in strips
// along its sides: the strip below (above) in dimension d has the outputs below (above) the interior
// of d, of the interior in the dimensions before d, and of all in those after it. With C_s the
// conversion of x to what strip s reads, and K_s the kernel on its outputs,
//
//     y = K_interior x  and, strip by strip,  y = K_s C_s x;
//     dx = K_interior* dy + sum over s of C_s* K_s* dy.
#pragma once

#include "declaration/form.hpp"
#include "geometry/window.hpp"

namespace tenon {

// The interior, which reads `plain`, the input's layout without margins, and then the strips. The
// interior alone where no part reads more than it owns.
std::vector<FormPiece> windowPieces(const std::vector<Window>& windows, const Layout& plain,
                                    const Layout& output);

} // namespace tenon
