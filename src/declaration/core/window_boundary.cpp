// SPDX-License-Identifier: BSD-2-Clause
// Reads the setting "boundary": lists of modes, one for all channels or one for each, separated by
// semicolons, and lists for some channels alone, "0=odd,periodic" or "0:2=odd,periodic". How many
// channels there are is not known yet, so that the last band of a list for all stays open.
#include "declaration/core/windowed.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace tenon {

namespace {

struct Sides {
  Boundary low, high;
};
using SpatialModes = std::vector<Sides>; // of each spatial dimension

// What the text says, and where it stands, for messages.
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
    // No tensor has more channels than elements.
    const bool isNumber = error == std::errc() && end == word.data() + word.size();
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

// The lists of a text: `each` has one for all channels or one for each of them.
struct ChannelLists {
  std::vector<SpatialModes> each;
  std::vector<std::pair<Interval, SpatialModes>> some;

  explicit ChannelLists(const BoundaryText& given) {
    for (const std::string& item : split(given.text, ';')) {
      const auto equals = item.find('=');
      const std::string_view all = trimmed(item);
      if (equals == std::string::npos)
        each.push_back(given.modes(all));
      else
        some.emplace_back(given.channels(trimmed(std::string_view(item).substr(0, equals))),
                          given.modes(trimmed(std::string_view(item).substr(equals + 1))));
    }
    if (each.empty())
      each.push_back(given.modes("none"));
  }

  template <class Condition>
  bool anyOf(Condition isSuch) const {
    return std::ranges::any_of(each, isSuch) ||
           std::ranges::any_of(some, isSuch, &std::pair<Interval, SpatialModes>::second);
  }
  template <class Condition>
  bool allOf(Condition isSuch) const {
    return std::ranges::all_of(each, isSuch) &&
           std::ranges::all_of(some, isSuch, &std::pair<Interval, SpatialModes>::second);
  }
  bool isForAll() const { return each.size() == 1 && some.empty(); }
  // Where modes may change, and the last channel's end.
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
  // Of the channels up to each of these ends: the modes of the last list that names them. The last
  // lists are set first, and what is set is passed over.
  std::vector<const SpatialModes*> modesUpTo(const std::vector<Index>& ends) const {
    std::vector<const SpatialModes*> found(ends.size(), nullptr);
    std::vector<std::size_t> next(ends.size() + 1); // where to look for one that is not set
    std::iota(next.begin(), next.end(), 0);
    const auto notSet = [&](std::size_t i) {
      for (; next[i] != i; i = next[i])
        next[i] = next[next[i]];
      return i;
    };
    for (auto one = some.rbegin(); one != some.rend(); ++one) {
      const auto& [channels, modes] = *one;
      const auto first = std::ranges::upper_bound(ends, channels.begin) - ends.begin();
      for (std::size_t i = notSet(static_cast<std::size_t>(first));
           i < ends.size() && ends[i] <= channels.end; i = notSet(i)) {
        found[i] = &modes;
        next[i] = i + 1;
      }
    }
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (!found[i])
        found[i] = &each[each.size() == 1 || i == 0 ? 0 : static_cast<std::size_t>(ends[i - 1])];
    return found;
  }
};

// Sides without a mode beside sides with one: padding with zeros is what both can be.
void joinNones(std::vector<ModeBand>& bands, Boundary ModeBand::*side, bool noneIsZero,
               const BoundaryText& given) {
  const auto isNone = [&](const ModeBand& band) { return band.*side == Boundary::None; };
  if (std::ranges::none_of(bands, isNone) || std::ranges::all_of(bands, isNone))
    return;
  if (!noneIsZero)
    given.fail(TENON_ERR_SUPPORT, "has no mode for some channels and one for others on the same "
                                  "side; use zero, replicate or another mode for all");
  for (ModeBand& band : bands)
    if (isNone(band))
      band.*side = Boundary::Zero;
}

} // namespace

void Windowed::readBoundary(std::vector<Window>& windows) const {
  const std::string text = this->text("boundary"), title = this->title();
  const BoundaryText given{text, title, windows.size()};
  const ChannelLists lists(given);
  const std::vector<Index> ends = lists.ends();
  if (lists.each.size() > 1 && ends.back() > static_cast<Index>(lists.each.size()))
    given.fail(TENON_ERR_ARG, fmt::format("has modes for {} channels, and names channel {}; "
                                          "channels are counted from 0",
                                          lists.each.size(), ends.back() - 1));
  const std::vector<const SpatialModes*> modes = lists.modesUpTo(ends);
  for (std::size_t d = 0; d < windows.size(); ++d) {
    Window& window = windows[d];
    const auto isLinked = [&](const SpatialModes& of) { return of[d].low == Boundary::Linked; };
    const bool areLinked = lists.anyOf(isLinked);
    if (areLinked && !lists.allOf(isLinked))
      given.fail(TENON_ERR_SUPPORT,
                 fmt::format("has the mode linked for some channels in spatial dimension {}, and "
                             "another for others; links fill the halos of all channels",
                             d));
    if (!lists.isForAll() && !areLinked) {
      for (std::size_t i = 0; i < ends.size(); ++i)
        window.bands.push_back({ends[i], (*modes[i])[d].low, (*modes[i])[d].high});
      joinNones(window.bands, &ModeBand::low, padsWithZeros(), given);
      joinNones(window.bands, &ModeBand::high, padsWithZeros(), given);
    }
    window.lowMode = window.bands.empty() ? (*modes.front())[d].low : window.bands.front().low;
    window.highMode = window.bands.empty() ? (*modes.front())[d].high : window.bands.front().high;
  }
}

void Windowed::checkBoundaryText() const {
  std::ptrdiff_t most = 0; // commas in a list
  for (const std::string& list : split(text("boundary"), ';'))
    most = std::max(most, std::ranges::count(list, ','));
  std::vector<Window> windows(
      static_cast<std::size_t>(std::min<std::ptrdiff_t>(most + 1, kMaxSpatial)));
  readBoundary(windows);
}

void Windowed::checkBoundaryChannels(Index channels) const {
  const std::vector<Window> all = windows();
  // Each dimension that is not linked has the same bands.
  const auto banded =
      std::ranges::find_if(all, [](const Window& window) { return !window.bands.empty(); });
  if (banded == all.end())
    return;
  const std::vector<ModeBand>& bands = banded->bands;
  const bool isOpen = bands.back().end == kOpenEnd;
  const Index named = isOpen && bands.size() > 1 ? bands[bands.size() - 2].end : bands.back().end;
  if (isOpen ? named != kOpenEnd && named > channels : named != channels)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("boundary \"{}\" of {} has modes for {}{}, but there are {}; give one "
                            "list for all channels, or one each",
                            text("boundary"), title(), isOpen ? "channels up to " : "",
                            isOpen ? fmt::format("{}", named - 1) : counted(named, "channel"),
                            channels));
}

} // namespace tenon
