// SPDX-License-Identifier: BSD-2-Clause
// Sliding windows over a distributed input [batch, channel, spatial...]: the split points of the
// output and the halo that each block of the input needs.
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/signature.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/layout/window.hpp"
#include "kernels/convolution/window.hpp"

namespace tenon {

// Overlap of computation and halo exchange: the outputs of a block are divided into pieces. The
// interior needs only input elements that the rank owns. The other outputs form strips along the
// sides of the block: below the interior (smaller indices) and above. The strips of dimension d are
// within the interior in dimensions before d, and have all outputs of the dimensions after d. In
// two dimensions, rows and columns:
//
//     --------- rows below ---------
//     columns below | interior | columns above
//     --------- rows above ---------
//
// With C_s the conversion of x to the input of strip s, and K_s the kernel on the outputs of the
// strip,
//
//     y = K_interior x  and, strip by strip,  y = K_s C_s x;
//     dx = K_interior* dy + sum over s of C_s* K_s* dy.

// The pieces: first the interior, which reads `plain`, the input's layout without halos, then the
// strips. There are no strips if no block reads elements that it does not own.
std::vector<FormPiece> windowPieces(const std::vector<Window>& windows, const Layout& plain,
                                    const Layout& output);

inline constexpr int kFirstSpatial = 2;

// Throws TENON_ERR_ARG, naming `who`, unless there are 1 to 3 windows.
void checkWindows(const std::vector<Window>& windows, const std::string& who);
// The end of a window's last band if its modes apply to all further channels.
inline constexpr Index kOpenEnd = kMaxElements;
// A halo with the window's boundary modes in a tensor with this number of channels, without boxes.
Halo haloOf(const Window& window, Index channels);
// Whether the user supplies the values outside the domain on a side, for at least one channel.
bool hasUserMode(const Window& window);

// Text such as "kernel 5x5, stride 1x1, ...", without boundary modes by channel.
std::string describe(const std::vector<Window>& windows);

// The label of a spatial dimension: "w"; "h", "w"; "d", "h", "w".
const char* spatialLabel(int spatialDim, int spatialRank);

// The signature table with the rows n, c, one per spatial dimension, B, R, and P if the map is
// linear.
SignatureTable imageTable(int spatialRank, bool linear);

// The number of spatial dimensions of an input [batch, channel, spatial...]. Throws TENON_ERR_SHAPE
// unless it is 1 to 3.
int spatialRankOf(const Shape& input, const std::string& who);
// The number for one dimension, from a setting that has one number for all spatial dimensions or
// one each. Throws TENON_ERR_ARG for another count.
Index numberPerDimension(const std::vector<Index>& numbers, int spatialDim, int spatialRank,
                         std::string_view name, const std::string& who);

// The shape of the output. Throws TENON_ERR_SHAPE unless the input is [batch, channel, spatial...]
// with a spatial dimension for each window.
Shape windowOutputShape(const std::vector<Window>& windows, const Shape& input, Index outChannels,
                        const std::string& who);

// The output's layout. The batch is split as in the input, and spatial split points follow the
// input or are balanced. The channels have the split points `channelCuts` and the axes that split
// the input's channels; if `channelCuts` is empty they are balanced.
Layout windowOutputLayout(const std::vector<Window>& windows, const Layout& plainUse,
                          const Shape& shape, const TensorSignature& requested,
                          const std::vector<Index>& channelCuts,
                          OutputCuts cuts = OutputCuts::Follow);

// `plain` with the halos of another layout that has the same split points, except for channels.
Layout withHalosOf(const Layout& computedHalo, const Layout& plain);

// The input's layout with the halo that the output's blocks read, their own halos included, in each
// dimension in which some block reads elements that it does not own. The halo includes elements
// outside the domain if a boundary mode defines them; otherwise it is clipped, and the kernel pads.
Layout windowUseLayout(const std::vector<Window>& windows, const Layout& plainUse,
                       const Layout& output);

// The sliding window in the indices of local arrays. `in` and `out` are the boxes of the input and
// of the output on a rank, in global indices; `shape` is the global shape of the input.
WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out);

// Whether each rank has all elements of `use` in `filled`, a layout with the same split points
// whose halos have been filled.
bool holdsAllOf(const Layout& filled, const Layout& use);
// Throws TENON_ERR_LAYOUT if an input of `who` has halos that hold neither `use` nor the elements
// from which it can be refilled.
void checkFilledHalo(const Layout& input, const Layout& use, const std::string& who);

} // namespace tenon
