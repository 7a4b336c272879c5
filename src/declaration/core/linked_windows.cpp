// SPDX-License-Identifier: BSD-2-Clause
// Checks of sliding windows on patches that links join (a multi-block grid). A field consists of
// patches, boxes of equal size that are the entries of the batch, and links state which side of a
// patch continues on which other patch. A convolution on patches must give the values that it would
// give on the joined field. This is so if the windows continue from patch to patch, and windows
// that cross a patch border read the linked elements:
//
//   patch 0  a b c d | e     window of 3, stride 1, boundary "linked": output at d reads c d e
//   patch 1          | e f g h
//
// All other settings are errors, and the messages say what to change. `outer` is the extent that
// windows cover, and `inner` the number of windows, per patch; for a transposed convolution these
// are output and input. The functions are members of class Windowed (windowed.hpp).
#include "declaration/core/windowed.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tenon {

namespace {

bool isLinkedDim(const Window& window) {
  return window.lowMode == Boundary::Linked;
}

} // namespace

std::optional<PatchRule> Windowed::linksOf(const Shape& outer, const Shape& inner,
                                           bool areFilled) const {
  const std::vector<Window> windowList = windows();
  const PatchLinksPtr& links = lists().links();
  // Filled halos need no links.
  if (!links) {
    if (!areFilled && std::ranges::any_of(windowList, isLinkedDim))
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has sides with boundary mode \"linked\", but no links; call "
                              "TenonLayerSetLinks() of it or of the network that contains it",
                              title()));
    return std::nullopt;
  }
  if (links->spatialRank() != spatialRank() || links->patches() != outer.front())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has {} spatial dimensions and works on {}, but its links join {} "
                            "of {} dimensions; patches are the batch",
                            title(), spatialRank(), counted(outer.front(), "patch", "patches"),
                            counted(links->patches(), "patch", "patches"), links->spatialRank()));
  if (userValues())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has sides with boundary mode \"values\" and links; the ends of a "
                            "box of tiles have modes in TenonLinksCreateFromTiles()",
                            title()));
  if (std::ranges::any_of(windowList, isLinkedDim) &&
      std::ranges::any_of(windowList, [](const Window& window) { return window.longitudes >= 0; }))
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has boundary \"{}\": beyond a pole it would read elements of its own "
                    "patch, and links join patches; link the rows at the pole too",
                    title(), text("boundary")));
  links->checkExtents({outer.begin() + kFirstSpatial, outer.end()});
  for (std::size_t s = 0; s < windowList.size(); ++s)
    checkFollowOn(windowList[s], static_cast<int>(s), outer[s + kFirstSpatial],
                  inner[s + kFirstSpatial]);
  return PatchRule{links, vectorChannels(*this, outer[1], spatialRank())};
}

// Throws unless the windows on neighbouring patches are those of the joined field.
void Windowed::checkFollowOn(const Window& window, int dim, Index outer, Index inner) const {
  if (!isLinkedDim(window) && !lists().links()->joins(dim))
    return;
  if (window.stride > 1 && lists().links()->meetOnPoints())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has stride {} in spatial dimension {}, but patches are folded on "
                            "points, about which a coarser field has none; use windows of stride "
                            "1, or a fold between points",
                            title(), window.stride, dim));
  const Interval inputRange = windowInput(window, {0, inner});
  if (!isLinkedDim(window) && (inputRange.begin < 0 || inputRange.end > outer))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} pads each patch for itself in spatial dimension {} (boundary "
                            "\"{}\"), but links join the patches there; set its boundary to "
                            "\"linked\"",
                            title(), dim, text("boundary")));
  if (outer % window.stride != 0 || outer / window.stride != inner)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has {} at stride {} on the {} elements of a patch in spatial "
                            "dimension {}, so that they do not follow on from patch to patch; "
                            "expected {}: choose the padding so, and patches that are multiples of "
                            "the stride",
                            title(), counted(inner, "window"), window.stride, outer, dim,
                            outer / window.stride));
}

std::vector<int> vectorChannels(const Declaration& type, Index channels, int spatialRank) {
  const std::string& title = type.title();
  if (!type.settings().has("vectors") || !type.isSet("vectors"))
    return {};
  std::vector<int> vectors;
  std::unordered_set<Index> usedChannels;
  for (const Index channel : type.value<std::vector<Index>>("vectors")) {
    if (channel >= channels || !usedChannels.insert(channel).second)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("vectors of {} names channel {}; there are {}, and each is a component "
                      "of one vector at most",
                      title, channel, channels));
    vectors.push_back(static_cast<int>(channel));
  }
  if (vectors.size() % static_cast<std::size_t>(spatialRank) != 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("vectors of {} names {}; give {} for each vector, the components along "
                            "the spatial dimensions",
                            title, counted(static_cast<Index>(vectors.size()), "channel"),
                            spatialRank));
  return vectors;
}

} // namespace tenon
