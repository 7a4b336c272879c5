// SPDX-License-Identifier: BSD-2-Clause
// Converts the lists of an index map to the blocks of a schedule, and layouts of its domain to
// layouts of its range. Kernels add the entries of a block in parallel, so a block must not contain
// a source or a target position twice. The entries are therefore divided by an edge colouring: an
// entry is an edge between its source and its target, and edges of one colour share no end. Each
// colour becomes a block. For example, the entries (source, target) (0,0), (1,0), (1,1) get the
// colours 0, 1, 0. Sender and receiver compute the same colours. If no position is repeated, as in
// a halo, there is one colour.
#include "geometry/mesh/index_map.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tenon {

namespace {

// For each entry, the index of its position in the sorted list of distinct positions; and the
// length of this list.
std::pair<std::vector<Index>, Index> numbersOf(const std::vector<Index>& positions,
                                               std::size_t dims) {
  const std::size_t count = positions.size() / dims;
  std::vector<Index> order(count), numbers(count);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](Index i) { return positions.data() + i * static_cast<Index>(dims); };
  std::ranges::sort(order, [&](Index a, Index b) {
    return std::lexicographical_compare(at(a), at(a) + dims, at(b), at(b) + dims);
  });
  Index distinct = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && !std::equal(at(order[i]), at(order[i]) + dims, at(order[i - 1])))
      ++distinct;
    numbers[order[i]] = distinct;
  }
  return {std::move(numbers), count == 0 ? 0 : distinct + 1};
}

// The set of colours that are in use at each place (a source or target position), as bits: colour c
// is bit c % 64 of word c / 64. A place has a small hash table of words, addressed by word number.
// It has at most as many words as entries, although colours can be large numbers.
class ColourSets {
public:
  // `entries` is the number of entries of each place; all colours are less than `colours`.
  ColourSets(const std::vector<Index>& entries, Index colours) {
    for (Index count : entries) {
      const auto words = static_cast<std::size_t>(std::min(count, colours / kBits + 1));
      // The colours of a place with a single entry are never queried. A place with one word has
      // word 0 only. Others have at least twice as many slots as words, so the search in slot()
      // always meets a free one, and a power of two, so an index wraps by a mask.
      const std::size_t slots = count < 2 ? 0 : words < 2 ? 1 : std::bit_ceil(2 * words);
      begin_.push_back(begin_.back() + static_cast<Index>(slots));
    }
    words_.resize(static_cast<std::size_t>(begin_.back()));
  }

  void add(Index place, Index colour) {
    if (Word* word = slot(place, colour / kBits)) {
      word->number = colour / kBits;
      word->bits |= std::uint64_t(1) << (colour % kBits);
    }
  }
  std::uint64_t bits(Index place, Index number) {
    const Word* word = slot(place, number);
    return word ? word->bits : 0;
  }
  // Number of the first word from `number` on that has a free colour. Full words on the way are
  // linked to it directly (path compression).
  Index firstFree(Index place, Index number) {
    const auto isFull = [](const Word* word) { return word && word->bits == ~std::uint64_t(0); };
    Index end = number;
    for (const Word* word = nullptr; isFull(word = slot(place, end));)
      end = std::max(end + 1, word->next);
    while (number != end)
      number = std::max(number + 1, std::exchange(slot(place, number)->next, end));
    return end;
  }

  // The smallest colour that is free at both places. A word with a free colour at each place can
  // still have none that is free at both; the search then goes on at the next word.
  static Index smallestFree(ColourSets& sources, Index source, ColourSets& targets, Index target) {
    for (Index number = 0;;) {
      if (const Index next = targets.firstFree(target, sources.firstFree(source, number));
          next != number) {
        number = next;
        continue;
      }
      const std::uint64_t used = sources.bits(source, number) | targets.bits(target, number);
      if (~used != 0)
        return number * kBits + std::countr_one(used);
      ++number;
    }
  }

private:
  static constexpr Index kBits = 64;
  struct Word {
    Index number = -1;
    std::uint64_t bits = 0;
    Index next = 0; // For a full word: a later word, before which all are full.
  };

  // The word with this number, or the slot for it; NULL for a place without colours.
  Word* slot(Index place, Index number) {
    const Index slots = begin_[place + 1] - begin_[place];
    if (slots == 0)
      return nullptr;
    for (Index i = number;; ++i)
      if (Word& word = words_[begin_[place] + (i & (slots - 1))];
          word.number < 0 || word.number == number)
        return &word;
  }

  std::vector<Index> begin_ = {0}; // First word of each place.
  std::vector<Word> words_;
};

// The entries of each colour: each entry gets the first colour that is free at its source and its
// target.
std::vector<std::vector<Index>> coloured(const IndexEntries& entries, std::size_t dims) {
  const auto [sources, sourceCount] = numbersOf(entries.source, dims);
  const auto [targets, targetCount] = numbersOf(entries.target, dims);
  const Index count = static_cast<Index>(sources.size());
  std::vector<std::vector<Index>> colours;
  if (sourceCount == count && targetCount == count) {
    colours.emplace_back(count);
    std::iota(colours[0].begin(), colours[0].end(), 0);
    return colours;
  }
  std::vector<Index> perSource(sourceCount, 0), perTarget(targetCount, 0);
  for (Index i = 0; i < count; ++i) {
    ++perSource[sources[i]];
    ++perTarget[targets[i]];
  }
  // An entry shares its source with at most s - 1 others and its target with at most t - 1, so one
  // of s + t - 1 colours is free for it.
  const Index maxColours =
      *std::ranges::max_element(perSource) + *std::ranges::max_element(perTarget);
  ColourSets ofSources(perSource, maxColours), ofTargets(perTarget, maxColours);
  for (Index i = 0; i < count; ++i) {
    const Index colour = ColourSets::smallestFree(ofSources, sources[i], ofTargets, targets[i]);
    ofSources.add(sources[i], colour);
    ofTargets.add(targets[i], colour);
    colours.resize(std::max(colours.size(), static_cast<std::size_t>(colour) + 1));
    colours[colour].push_back(i);
  }
  return colours;
}

// True if the positions are consecutive.
bool isRun(const std::vector<Index>& positions) {
  for (std::size_t i = 1; i < positions.size(); ++i)
    if (positions[i] != positions[i - 1] + 1)
      return false;
  return true;
}

} // namespace

Shape jointShape(const Layout& layout, const std::vector<int>& dims) {
  Shape shape;
  for (int d : dims)
    shape.push_back(layout.shape()[d]);
  return shape;
}

Shape jointExtent(const Layout& layout, const std::vector<int>& dims, int position) {
  const Box box = layout.box(position);
  Shape shape;
  for (int d : dims)
    shape.push_back(box[d].size());
  return shape;
}

std::vector<Index> unflattened(Index flat, const Shape& extents) {
  std::vector<Index> index(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; flat /= extents[d])
    index[d] = flat % extents[d];
  return index;
}

Index flattened(const Index* index, const Shape& extents) {
  Index flat = 0;
  for (std::size_t d = 0; d < extents.size(); ++d)
    flat = flat * extents[d] + index[d];
  return flat;
}

IndexPlace placeOf(const Layout& layout, const std::vector<int>& dims, int position, Index joint) {
  const Grid& grid = layout.grid();
  const std::vector<Index> index = unflattened(joint, jointShape(layout, dims));
  std::vector<int> coordinates = grid.coordinates(position);
  // Along an R axis only coordinate 0 holds the tensor.
  for (int axis = 0; axis < grid.axes(); ++axis)
    if (layout.property(axis).isRoot())
      coordinates[axis] = 0;
  IndexPlace place{-1, {}};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto& cuts = layout.cuts(dims[i]);
    // Several parts can begin at the same index; the last of them is not empty.
    const int part =
        static_cast<int>(std::upper_bound(cuts.begin(), cuts.end() - 1, index[i]) - cuts.begin()) -
        1;
    const std::vector<int> partCoordinates = layout.partCoordinates(dims[i], part);
    for (std::size_t a = 0; a < partCoordinates.size(); ++a)
      coordinates[layout.splitAxes(dims[i])[a]] = partCoordinates[a];
    place.local.push_back(index[i] - layout.box(dims[i], part).begin);
  }
  place.position = grid.positionAt(coordinates);
  return place;
}

IndexTraffic trafficOf(const IndexMapSpec& spec, int rank) {
  const auto count = [&](const std::vector<IndexEntries>& lists) {
    Traffic traffic;
    for (const IndexEntries& entries : lists)
      if (entries.peer != rank) {
        ++traffic.messages;
        traffic.elements += static_cast<Index>(entries.source.size() / spec.dims.size());
      }
    return traffic;
  };
  return {count(spec.sends), count(spec.receives)};
}

IndexMap::IndexMap(IndexMapSpec spec)
    : from_(std::move(spec.from)), to_(std::move(spec.to)), dims_(std::move(spec.dims)),
      isHalo_(to_.hasLinkedHalos() && to_.withoutHalos() == from_), isUneven_(spec.isUneven),
      traffic_(spec.traffic), most_(spec.most) {
  for (const std::vector<IndexEntries>* entries : {&spec.sends, &spec.receives})
    for (const IndexEntries& list : *entries)
      isWeighted_ = isWeighted_ || !list.weights.empty();
  sends_ = listsOf(spec.sends);
  receives_ = listsOf(spec.receives);
}

bool IndexMap::isJoint(int dim) const {
  return std::ranges::find(dims_, dim) != dims_.end();
}

std::vector<IndexMap::Lists> IndexMap::listsOf(std::vector<IndexEntries>& allEntries) const {
  std::vector<Lists> result;
  const std::size_t dims = dims_.size();
  for (IndexEntries& entries : allEntries) {
    Lists& lists = result.emplace_back(Lists{entries.peer, {}});
    for (const std::vector<Index>& colour : coloured(entries, dims)) {
      if (colour.empty())
        continue;
      ElementList source{dims_, {}, {}}, target{dims_, {}, {}};
      for (Index i : colour) {
        const auto begin = i * static_cast<Index>(dims), end = begin + static_cast<Index>(dims);
        source.positions.insert(source.positions.end(), entries.source.begin() + begin,
                                entries.source.begin() + end);
        target.positions.insert(target.positions.end(), entries.target.begin() + begin,
                                entries.target.begin() + end);
        if (!entries.weights.empty())
          source.weights.push_back(entries.weights[i]);
      }
      target.weights = source.weights;
      Group group{.count = static_cast<Index>(colour.size()), .sourceList = {}, .targetList = {}};
      // A run is a box, whose kernels are faster, and which MPI can send from the array.
      if (dims == 1 && source.weights.empty() && isRun(source.positions) &&
          isRun(target.positions)) {
        group.source = source.positions.front();
        group.target = target.positions.front();
      } else {
        group.sourceList = std::make_shared<const ElementList>(std::move(source));
        group.targetList = std::make_shared<const ElementList>(std::move(target));
      }
      lists.groups.push_back(std::move(group));
    }
    entries = {}; // Frees the list, which is now stored in the groups.
  }
  return result;
}

Layout IndexMap::withFree(const Layout& pattern, const Layout& tensor) const {
  LayoutSpec spec = tensor.spec();
  const LayoutSpec& patternSpec = pattern.spec();
  spec.grid = patternSpec.grid;
  spec.properties = patternSpec.properties;
  for (int d = 0; d < pattern.ndim(); ++d)
    if (isJoint(d)) {
      spec.shape[d] = patternSpec.shape[d];
      spec.splitAxes[d] = patternSpec.splitAxes[d];
      spec.cuts[d] = patternSpec.cuts[d];
      spec.halos[d] = patternSpec.halos[d];
    }
  return Layout(std::move(spec));
}

// The layout on the other side of a layout that matches its pattern.
Layout IndexMap::acrossFrom(const Layout& side, const Layout& pattern, const Layout& other,
                            const char* name) const {
  if (side.ndim() >= pattern.ndim() && side.grid() == pattern.grid() &&
      side.properties() == pattern.properties() && side == withFree(pattern, side))
    return withFree(other, side);
  throw Error(
      TENON_ERR_LAYOUT,
      fmt::format("the {} is {}, but the index map was made for {} (dimensions {} alike, the "
                  "others of any extent)",
                  name, side.describe(), pattern.describe(), fmt::join(dims_, ",")));
}

Layout IndexMap::rangeFor(const Layout& x) const {
  return acrossFrom(x, from_, to_, "domain");
}

Layout IndexMap::domainFor(const Layout& y) const {
  return acrossFrom(y, to_, from_, "range");
}

std::pair<Layout, Layout> IndexMap::layoutsOf(const Shape& shape) const {
  bool fits = static_cast<int>(shape.size()) >= from_.ndim();
  for (int d = 0; fits && d < static_cast<int>(shape.size()); ++d)
    fits = !isJoint(d) || shape[d] == 0;
  if (!fits)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "shape is [{}], but the index map was made for {}; pass 0 in its joint dimensions "
            "{}, and any dimensions behind its {}",
            fmt::join(shape, ","), from_.describe(), fmt::join(dims_, ","), from_.ndim()));
  const auto layoutOf = [&](const Layout& pattern) {
    LayoutSpec spec{.shape = shape, .grid = pattern.gridPtr(), .properties = pattern.properties()};
    spec.cuts.resize(shape.size());
    spec.halos.resize(shape.size());
    spec.splitAxes.resize(shape.size());
    for (int d : dims_) {
      spec.shape[d] = pattern.shape()[d];
      spec.cuts[d] = pattern.cuts(d);
      spec.halos[d] = pattern.halo(d);
      spec.splitAxes[d] = pattern.splitAxes(d);
    }
    return Layout(std::move(spec));
  };
  return {layoutOf(from_), layoutOf(to_)};
}

std::vector<Transfer> IndexMap::transfers(const std::vector<Lists>& rankLists, const Layout& from,
                                          const Layout& to, int rank, Shape free) const {
  const std::size_t dims = free.size();
  for (int d : dims_)
    free[d] = 1;
  const ElementBlock noElements{.extent = free,
                                .sourceBegin = std::vector<Index>(dims, 0),
                                .targetBegin = std::vector<Index>(dims, 0),
                                .sourceStep = std::vector<Index>(dims, 1),
                                .targetStep = std::vector<Index>(dims, 1)};
  const Index elementsPerEntry = elements(free);
  std::vector<Transfer> result;
  for (const Lists& lists : rankLists) {
    Transfer transfer{lists.peer, 0, {}};
    if (isHalo_ && lists.peer == rank) {
      // The elements in both: a halo can exclude some owned elements.
      const Box owned = from.boxOfRank(rank), box = to.boxOfRank(rank);
      ElementBlock block = noElements;
      for (std::size_t d = 0; d < dims; ++d) {
        const Interval common = intersect(owned[d], box[d]);
        block.extent[d] = common.size();
        block.sourceBegin[d] = common.empty() ? 0 : common.begin - owned[d].begin;
        block.targetBegin[d] = common.empty() ? 0 : common.begin - box[d].begin;
      }
      transfer.elements = elements(block.extent);
      if (transfer.elements > 0)
        transfer.blocks.push_back(std::move(block));
    }
    for (const Group& group : lists.groups) {
      ElementBlock block = noElements;
      block.extent[dims_.front()] = group.count;
      block.sourceBegin[dims_.front()] = group.source;
      block.targetBegin[dims_.front()] = group.target;
      block.sourceList = group.sourceList;
      block.targetList = group.targetList;
      transfer.elements += group.count * elementsPerEntry;
      transfer.blocks.push_back(std::move(block));
    }
    if (transfer.elements > 0)
      result.push_back(std::move(transfer));
  }
  return result;
}

Schedule IndexMap::schedule(const Layout& from, const Layout& to, int rank) const {
  Schedule schedule;
  schedule.sourceExtent = extents(from.boxOfRank(rank));
  schedule.targetExtent = extents(to.boxOfRank(rank));
  schedule.sends = transfers(sends_, from, to, rank, schedule.sourceExtent);
  schedule.receives = transfers(receives_, from, to, rank, schedule.targetExtent);
  // Gaps are not listed. Unless each target element has exactly one entry (isUneven_), and in the
  // transpose always, the executor adds, and a sum begins by scaling the whole array.
  schedule.sumsOnReceipt = isUneven_;
  schedule.sumsOnTranspose = true;
  return schedule;
}

std::string IndexMap::describe() const {
  const std::string to = isHalo_ ? "its halo" : to_.describe();
  const std::string most =
      most_ ? fmt::format("; a rank sends at most {}, {}", counted(most_->sent.messages, "message"),
                          counted(most_->sent.elements, "element"))
            : "";
  return fmt::format("index map: {} -> {}, in dimensions {}{}", from_.describe(), to,
                     fmt::join(dims_, ","), most);
}

} // namespace tenon
