// SPDX-License-Identifier: BSD-2-Clause
// Sliding windows over a distributed input [batch, channel, spatial...]: the cuts of the output,
// and the halo that each part needs.
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/signature.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/layout/window.hpp"

namespace tenon {

// Sliding windows cut into pieces, so that the halo travels while what needs none is computed.
//
// The outputs of a part that read its own input alone are its interior. The others lie in strips
// along its sides: the strip below (above) in dimension d has the outputs below (above) the
// interior of d, of the interior in the dimensions before d, and of all in those after it. With C_s
// the conversion of x to what strip s reads, and K_s the kernel on its outputs,
//
//     y = K_interior x  and, strip by strip,  y = K_s C_s x;
//     dx = K_interior* dy + sum over s of C_s* K_s* dy.

// The pieces of a part's outputs: the interior, which reads `plain`, the input's layout without
// halos, and then the strips. It is the interior alone where no part reads more than it owns.
std::vector<FormPiece> windowPieces(const std::vector<Window>& windows, const Layout& plain,
                                    const Layout& output);

inline constexpr int kFirstSpatial = 2;

// Throws TENON_ERR_ARG, naming `who`, unless there are 1 to 3 windows.
void checkWindows(const std::vector<Window>& windows, const std::string& who);
// The end of a window's last band where its modes are those of all further channels.
inline constexpr Index kOpenEnd = kMaxElements;
// A halo with the window's boundary modes in a tensor with so many channels, and no boxes yet.
Halo haloOf(const Window& window, Index channels);
// Whether the user supplies what is beyond a side, of some channel at least.
bool hasUserMode(const Window& window);

// "kernel 5x5, stride 1x1, ...", without boundary modes by channel.
std::string describe(const std::vector<Window>& windows);

// The label of a spatial dimension: "w"; "h", "w"; "d", "h", "w".
const char* spatialLabel(int spatialDim, int spatialRank);

// The rows n, c, one for each spatial dimension, B, R, and P if the map is linear.
SignatureTable imageTable(int spatialRank, bool linear);

// The number of spatial dimensions of an input [batch, channel, spatial...]. Throws TENON_ERR_SHAPE
// unless it is 1 to 3.
int spatialRankOf(const Shape& input, const std::string& who);
// The number for one dimension in a setting with one number for all spatial dimensions or one each.
// Throws TENON_ERR_ARG for another count.
Index numberPerDimension(const std::vector<Index>& numbers, int spatialDim, int spatialRank,
                         std::string_view name, const std::string& who);

// The shape of the output. Throws TENON_ERR_SHAPE unless the input is [batch, channel, spatial...]
// with a spatial dimension for each window.
Shape windowOutputShape(const std::vector<Window>& windows, const Shape& input, Index outChannels,
                        const std::string& who);

// The output's layout. The batch has the input's cuts, and spatial cuts follow the input's or are
// balanced. The channels have `channelCuts` and the axes that split the input's channels; without
// `channelCuts` they are balanced.
Layout windowOutputLayout(const std::vector<Window>& windows, const Layout& plainUse,
                          const Shape& shape, const TensorSignature& requested,
                          const std::vector<Index>& channelCuts,
                          OutputCuts cuts = OutputCuts::Follow);

// The layout with the halos of another that is cut alike, but for channels.
Layout withHalosOf(const Layout& computedHalo, const Layout& plain);

// The input's layout with the halo that the output's parts read, with their own halos, where any
// part reads more than it owns. Elements outside the domain are in it where a boundary mode extends
// the domain; without one they are clipped, and the kernel pads.
Layout windowUseLayout(const std::vector<Window>& windows, const Layout& plainUse,
                       const Layout& output);

// Whether each rank finds what it holds in `use` in what it holds in `filled`, a layout of the same
// cuts whose halos have been filled.
bool holdsAllOf(const Layout& filled, const Layout& use);
// Throws TENON_ERR_LAYOUT if an input of `who` has halos and they hold neither `use` nor what it
// can be refilled from.
void checkFilledHalo(const Layout& input, const Layout& use, const std::string& who);

} // namespace tenon
