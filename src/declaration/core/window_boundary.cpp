// SPDX-License-Identifier: BSD-2-Clause
// Parses the setting "boundary" of layers with windows: how the elements outside the domain are
// defined. A mode is for all sides of all spatial dimensions, or given by dimension (commas) and
// side (slash); lists of modes are for all channels or by channel:
//
//   periodic                    all
//   periodic,zero/replicate     periodic in y; zeros before and replicated after the domain in x
//   odd;zero                    channel 0 odd, channel 1 zero
//   zero;0=odd;2:4=periodic     zero, but channel 0 odd and channels 2 and 3 periodic
//   pole,periodic               poles in y, where the longitudes x are shifted by half of them
//
// The result is a mode per side in each Window and, if modes differ between channels, bands: runs
// of channels with equal modes, each with the channel at which it ends. The number of channels is
// not known yet, so the last band of a list for all channels has no end (kOpenEnd). The functions
// are members of class Windowed, or declared beside it in windowed.hpp.
#include "declaration/core/windowed.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace tenon {

namespace {

struct Sides {
  Boundary low, high;
};
using SpatialModes = std::vector<Sides>; // by spatial dimension

// The text of the setting, with the layer and the number of spatial dimensions for error messages.
struct BoundaryText {
  const std::string& text;
  const std::string& title;
  std::size_t spatial;

  [[noreturn]] void fail(TenonErrorCode code, const std::string& reason) const {
    throw Error(code, fmt::format("boundary \"{}\" of {} {}", text, title, reason));
  }
  SpatialModes modes(std::string_view list) const;
  Interval channels(std::string_view range) const;
};

std::string_view trimmed(std::string_view word) {
  while (!word.empty() && word.front() == ' ')
    word.remove_prefix(1);
  while (!word.empty() && word.back() == ' ')
    word.remove_suffix(1);
  return word;
}

SpatialModes BoundaryText::modes(std::string_view list) const {
  const auto words = split(list, ',');
  if (words.size() != 1 && words.size() != spatial)
    fail(TENON_ERR_ARG,
         fmt::format(
             "has {}, but there are {} spatial dimensions; give one mode for all or one each",
             counted(static_cast<Index>(words.size()), "mode"), spatial));
  SpatialModes modes;
  for (std::size_t d = 0; d < spatial; ++d) {
    const auto sides = split(words[words.size() == 1 ? 0 : d], '/');
    if (sides.empty() || sides.size() > 2)
      fail(TENON_ERR_ARG,
           fmt::format("has {} modes for one dimension; give one mode or low/high", sides.size()));
    modes.push_back({parseBoundary(trimmed(sides.front())), parseBoundary(trimmed(sides.back()))});
    if ((modes[d].low == Boundary::Linked) != (modes[d].high == Boundary::Linked))
      fail(TENON_ERR_ARG,
           "has the mode linked on one side of a dimension; it is that of both sides "
           "or of none");
  }
  return modes;
}

Interval BoundaryText::channels(std::string_view range) const {
  std::vector<Index> ends;
  for (const std::string& word : split(range, ':')) {
    Index number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    // A tensor cannot have more channels than elements.
    const bool isNumber = error == std::errc() && end == word.data() + word.size();
    // What is not a channel becomes the only or the first end, -1, which is an error below.
    if (!isNumber || number < 0 || number > kMaxElements)
      ends.clear();
    ends.push_back(isNumber && number <= kMaxElements ? number : -1);
  }
  if (ends.size() == 1 && ends.front() >= 0)
    ends.push_back(ends.front() + 1);
  if (ends.size() != 2 || ends[0] < 0 || ends[1] <= ends[0] || ends[1] > kMaxElements)
    fail(TENON_ERR_ARG, fmt::format("names the channels \"{}\"; give a channel, counted from 0, or "
                                    "begin:end, where end is the first that is not meant, at most "
                                    "{}",
                                    range, kMaxElements));
  return {ends[0], ends[1]};
}

// The parsed lists: `each` has one list for all channels, or one per channel; `some` has lists for
// ranges of channels.
struct ChannelLists {
  std::vector<SpatialModes> each;
  std::vector<std::pair<Interval, SpatialModes>> some;

  explicit ChannelLists(const BoundaryText& boundary) {
    for (const std::string& item : split(boundary.text, ';')) {
      const auto equals = item.find('=');
      const std::string_view trimmedItem = trimmed(item);
      if (equals == std::string::npos)
        each.push_back(boundary.modes(trimmedItem));
      else
        some.emplace_back(boundary.channels(trimmed(std::string_view(item).substr(0, equals))),
                          boundary.modes(trimmed(std::string_view(item).substr(equals + 1))));
    }
    if (each.empty())
      each.push_back(boundary.modes("none"));
  }

  template <class Condition>
  bool anyOf(Condition condition) const {
    return std::ranges::any_of(each, condition) ||
           std::ranges::any_of(some, condition, &std::pair<Interval, SpatialModes>::second);
  }
  template <class Condition>
  bool allOf(Condition condition) const {
    return std::ranges::all_of(each, condition) &&
           std::ranges::all_of(some, condition, &std::pair<Interval, SpatialModes>::second);
  }
  bool isForAll() const { return each.size() == 1 && some.empty(); }
  // The channels at which the modes can change, and the end of the last channel.
  std::vector<Index> ends() const {
    std::vector<Index> ends = {each.size() == 1 ? kOpenEnd : static_cast<Index>(each.size())};
    for (Index c = 1; c < static_cast<Index>(each.size()); ++c)
      ends.push_back(c);
    for (const auto& [channels, modes] : some)
      ends.insert(ends.end(), {channels.begin, channels.end});
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    if (ends.front() == 0)
      ends.erase(ends.begin());
    return ends;
  }
  // For the channels up to each of these ends: the modes of the last list that names them. Lists
  // are visited from the last to the first, and channels that are set already are skipped (a
  // disjoint-set structure makes this linear for many lists).
  std::vector<const SpatialModes*> modesUpTo(const std::vector<Index>& ends) const {
    std::vector<const SpatialModes*> modesOfEnd(ends.size(), nullptr);
    std::vector<std::size_t> next(ends.size() + 1); // next channel range that is not set
    std::iota(next.begin(), next.end(), 0);
    // The first range from i on that is not set; shortens the chains that it follows.
    const auto notSet = [&](std::size_t i) {
      for (; next[i] != i; i = next[i])
        next[i] = next[next[i]];
      return i;
    };
    for (auto range = some.rbegin(); range != some.rend(); ++range) {
      const auto& [channels, modes] = *range;
      const auto first = std::ranges::upper_bound(ends, channels.begin) - ends.begin();
      for (std::size_t i = notSet(static_cast<std::size_t>(first));
           i < ends.size() && ends[i] <= channels.end; i = notSet(i)) {
        modesOfEnd[i] = &modes;
        next[i] = i + 1;
      }
    }
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (!modesOfEnd[i])
        modesOfEnd[i] =
            &each[each.size() == 1 || i == 0 ? 0 : static_cast<std::size_t>(ends[i - 1])];
    return modesOfEnd;
  }
};

// Replaces missing modes by zero padding on a side that has a mode for other channels, if the type
// pads with zeros anyway; otherwise the mix is an error.
void joinNones(std::vector<ModeBand>& bands, Boundary ModeBand::*side, bool noneIsZero,
               const BoundaryText& boundary) {
  const auto isNone = [&](const ModeBand& band) { return band.*side == Boundary::None; };
  if (std::ranges::none_of(bands, isNone) || std::ranges::all_of(bands, isNone))
    return;
  if (!noneIsZero)
    boundary.fail(TENON_ERR_SUPPORT, "has no mode for some channels and one for others on the same "
                                     "side; use zero, replicate or another mode for all");
  for (ModeBand& band : bands)
    if (isNone(band))
      band.*side = Boundary::Zero;
}

} // namespace

void Windowed::readBoundary(std::vector<Window>& windows) const {
  const std::string text = this->text("boundary"), title = this->title();
  const BoundaryText boundary{text, title, windows.size()};
  const ChannelLists lists(boundary);
  const std::vector<Index> ends = lists.ends();
  if (lists.each.size() > 1 && ends.back() > static_cast<Index>(lists.each.size()))
    boundary.fail(TENON_ERR_ARG, fmt::format("has modes for {} channels, and names channel {}; "
                                             "channels are counted from 0",
                                             lists.each.size(), ends.back() - 1));
  const std::vector<const SpatialModes*> modes = lists.modesUpTo(ends);
  for (std::size_t d = 0; d < windows.size(); ++d) {
    Window& window = windows[d];
    const auto isLinked = [&](const SpatialModes& sides) {
      return sides[d].low == Boundary::Linked;
    };
    const bool areLinked = lists.anyOf(isLinked);
    if (areLinked && !lists.allOf(isLinked))
      boundary.fail(
          TENON_ERR_SUPPORT,
          fmt::format("has the mode linked for some channels in spatial dimension {}, and "
                      "another for others; links fill the halos of all channels",
                      d));
    if (!lists.isForAll() && !areLinked) {
      for (std::size_t i = 0; i < ends.size(); ++i)
        window.bands.push_back(
            {.end = ends[i], .low = (*modes[i])[d].low, .high = (*modes[i])[d].high});
      joinNones(window.bands, &ModeBand::low, padsWithZeros(), boundary);
      joinNones(window.bands, &ModeBand::high, padsWithZeros(), boundary);
    }
    window.lowMode = window.bands.empty() ? (*modes.front())[d].low : window.bands.front().low;
    window.highMode = window.bands.empty() ? (*modes.front())[d].high : window.bands.front().high;
  }
}

namespace {

// The modes of a window by channel: its bands, or one for all channels.
std::vector<ModeBand> bandsOf(const Window& window) {
  return window.bands.empty() ? std::vector<ModeBand>{{kOpenEnd, window.lowMode, window.highMode}}
                              : window.bands;
}

bool hasPoleSide(const Window& window) {
  return std::ranges::any_of(
      bandsOf(window), [](const ModeBand& band) { return isPole(band.low) || isPole(band.high); });
}

bool isPeriodicForAll(const Window& window) {
  return std::ranges::all_of(bandsOf(window), [](const ModeBand& band) {
    return band.low == Boundary::Periodic && band.high == Boundary::Periodic;
  });
}

// Gives these channels, in increasing order, the modes of components of vectors.
void setVectorModes(Window& window, const std::vector<Index>& channels) {
  if (channels.empty())
    return;
  std::vector<ModeBand> divided;
  auto next = channels.begin();
  Index begin = 0;
  for (const ModeBand& band : bandsOf(window)) {
    for (; next != channels.end() && *next < band.end; ++next) {
      if (*next > begin)
        divided.push_back({.end = *next, .low = band.low, .high = band.high});
      divided.push_back(
          {.end = *next + 1, .low = vectorMode(band.low), .high = vectorMode(band.high)});
      begin = *next + 1;
    }
    if (begin < band.end)
      divided.push_back(band);
    begin = band.end;
  }
  window.bands = std::move(divided);
  window.lowMode = window.bands.front().low;
  window.highMode = window.bands.front().high;
}

} // namespace

// Where a dimension has poles, the longitudes are the only dimension that is periodic, and the
// components of vectors along both dimensions have modes of their own. A component along another
// dimension, such as the vertical one, is like a scalar.
void Windowed::readPoles(std::vector<Window>& windows) const {
  std::vector<int> poles, periodic;
  for (int d = 0; d < static_cast<int>(windows.size()); ++d) {
    if (hasPoleSide(windows[d]))
      poles.push_back(d);
    if (isPeriodicForAll(windows[d]))
      periodic.push_back(d);
  }
  if (poles.empty())
    return;
  const std::string text = this->text("boundary"), title = this->title();
  const BoundaryText boundary{text, title, windows.size()};
  if (poles.size() > 1)
    boundary.fail(TENON_ERR_ARG,
                  fmt::format("has poles in spatial dimensions {}, but only latitudes have poles, "
                              "and longitudes are periodic, as in \"pole,periodic\"",
                              fmt::join(poles, " and ")));
  if (periodic.size() != 1)
    boundary.fail(
        TENON_ERR_ARG,
        fmt::format("has poles in spatial dimension {}, for which longitudes are the only "
                    "dimension that is periodic, for all channels; {}",
                    poles.front(),
                    periodic.empty()
                        ? "set it to periodic, as in \"pole,periodic\""
                        : fmt::format("here dimensions {} are", fmt::join(periodic, " and "))));
  Window& rows = windows[poles.front()];
  rows.longitudes = periodic.front();
  std::vector<Index> components;
  int place = 0; // in the list: the components of one vector follow each other
  if (settings().has("vectors") && isSet("vectors"))
    for (const Index channel : value<std::vector<Index>>("vectors")) {
      const int along = place++ % static_cast<int>(windows.size());
      if (along == poles.front() || along == rows.longitudes)
        components.push_back(channel);
    }
  std::ranges::sort(components);
  setVectorModes(rows, components);
}

// The number of spatial dimensions is not known either: the longest list determines it.
void Windowed::checkBoundaryText() const {
  std::ptrdiff_t largestCount = 0; // largest number of commas in a list
  for (const std::string& list : split(text("boundary"), ';'))
    largestCount = std::max(largestCount, std::ranges::count(list, ','));
  std::vector<Window> windows(
      static_cast<std::size_t>(std::min<std::ptrdiff_t>(largestCount + 1, kMaxSpatial)));
  readBoundary(windows);
}

// Throws unless the modes are for this number of channels. Lists by channel must name all; lists
// for some channels must not name one beyond the last.
void Windowed::checkBoundaryShape(const Shape& field) const {
  const std::vector<Window> windowList = windows();
  const Index channels = field[kChannelDim];
  for (std::size_t s = 0; s < windowList.size(); ++s)
    if (const int x = windowList[s].longitudes; x >= 0) {
      vectorChannels(*this, channels, spatialRank()); // for its checks
      checkPoles(haloOf(windowList[s], channels), field[s + kFirstSpatial],
                 field[x + kFirstSpatial],
                 fmt::format("spatial dimension {} of the field [{}] of {}", s,
                             fmt::join(field, ","), title()));
    }
  // All dimensions that are not linked have the same bands.
  const auto banded =
      std::ranges::find_if(windowList, [](const Window& window) { return !window.bands.empty(); });
  if (banded == windowList.end())
    return;
  // A last band without an end has the modes of all further channels, so the channels before it
  // are a minimum. Otherwise each channel is in a band, and the number must be exact.
  const std::vector<ModeBand>& bands = banded->bands;
  const bool isOpen = bands.back().end == kOpenEnd;
  const Index namedChannels =
      isOpen && bands.size() > 1 ? bands[bands.size() - 2].end : bands.back().end;
  if (isOpen ? namedChannels != kOpenEnd && namedChannels > channels : namedChannels != channels)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("boundary \"{}\" of {} has modes for {}{}, but there are {}; give one "
                            "list for all channels, or one each",
                            text("boundary"), title(), isOpen ? "channels up to " : "",
                            isOpen ? fmt::format("{}", namedChannels - 1)
                                   : counted(namedChannels, "channel"),
                            channels));
}

} // namespace tenon
