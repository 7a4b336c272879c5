// SPDX-License-Identifier: BSD-2-Clause
// The halo exchange between the patches of a field [patch, channel, spatial...], as an index map of
// one rank. Links define the element that each ghost (an element beyond the edge of a patch)
// copies (patch_links.hpp). The elements that the rank receives are found by a loop over its
// ghosts. The elements that it sends are found by the same loop over the ghosts of the ranks that
// can have copies of its patches. Both loops have the same order, so sender and receiver compute
// the same list without communication.
#include "geometry/patches/patch_links.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tenon {

namespace {

constexpr int kPatchDim = 0, kSpaceDim = 2; // The dimension of patches; the first spatial one.

class LinkedMapMaker {
public:
  LinkedMapMaker(const PatchRule& rule, const Layout& from, const Layout& to, int rank)
      : rule_(rule), from_(from), to_(to), rank_(rank), position_(to.grid().position(rank)) {
    const auto isByChannel = [&](int d) { return to.halo(d) && !to.halo(d)->bands.empty(); };
    if (to.hasPole(/*isPartial=*/false))
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("links fill halos to {}, but not those beyond a pole; link the rows at "
                      "the pole too",
                      to.describe()));
    hasChannels_ = !rule.vectors.empty();
    for (int d = kSpaceDim; d < to.ndim(); ++d)
      hasChannels_ = hasChannels_ || isByChannel(d);
    for (int d = 0; d < to.ndim(); ++d)
      if (d != kChannelDim || hasChannels_)
        dims_.push_back(d);
    extents_.assign(to.shape().begin() + kSpaceDim, to.shape().end());
    for (std::size_t place = 0; place < rule.vectors.size(); ++place)
      placeOfChannel_.emplace(rule.vectors[place], place);
  }

  IndexMapPtr make() {
    IndexMapSpec spec{.from = from_, .to = to_, .dims = dims_};
    if (to_.isHolder(position_)) {
      spec.receives = received();
      spec.sends = sent();
      spec.isUneven = isUneven_;
    }
    spec.traffic = trafficOf(spec, rank_);
    return std::make_shared<const IndexMap>(std::move(spec));
  }

private:
  int rankAt(int position) const { return to_.grid().rank(position); }

  // Calls visit(local, index) for the elements of a grid position beyond its owned ones: the local
  // index in its array, and the global index, both in the joint dimensions. Row-major, the last
  // dimension fastest; owned runs of it are skipped at once.
  template <class Visit>
  void forEachGhost(int position, Visit&& visit) const {
    const Box box = to_.box(position), owned = to_.ownedBox(position);
    std::vector<Index> local(dims_.size(), 0), index(dims_.size());
    for (int d : dims_)
      if (box[d].empty())
        return;
    const auto isOwned = [&](std::size_t i) {
      return index[i] >= owned[dims_[i]].begin && index[i] < owned[dims_[i]].end;
    };
    for (;;) {
      for (std::size_t i = 0; i < dims_.size(); ++i)
        index[i] = box[dims_[i]].begin + local[i];
      std::size_t i = dims_.size() - 1;
      bool isInside = true;
      for (std::size_t k = 0; isInside && k <= i; ++k)
        isInside = isOwned(k);
      if (isInside) // The rest of the run is owned, or after the owned elements.
        local[i] = std::min(owned[dims_[i]].end, box[dims_[i]].end) - box[dims_[i]].begin - 1;
      else
        visit(local, index);
      while (++local[i] == box[dims_[i]].size()) {
        local[i] = 0;
        if (i == 0)
          return;
        --i;
      }
    }
  }

  struct WeightedSource {
    Index joint; // Joint index in the source.
    double weight;
  };

  // The element that a ghost copies, or nothing for a zero. Along dimensions whose halo is not
  // linked, the boundary modes lead back into the patch; along the others the links lead to the
  // patch around.
  std::optional<WeightedSource> sourceOf(const std::vector<Index>& index) const {
    const std::size_t first = hasChannels_ ? 2 : 1; // First spatial dimension in `index`.
    std::vector<Index> space(index.begin() + static_cast<std::ptrdiff_t>(first), index.end());
    int factor = 1;
    for (std::size_t s = 0; s < space.size(); ++s) {
      const auto& halo = to_.halo(kSpaceDim + static_cast<int>(s));
      if (!halo || halo->isLinked())
        continue;
      const auto [low, high] = modesOf(*halo, hasChannels_ ? index[kChannelDim] : 0);
      const auto source = extensionSource(space[s], extents_[s], low, high);
      if (!source)
        return std::nullopt;
      factor *= extensionSign(space[s], extents_[s], low, high);
      space[s] = *source;
    }
    std::optional<LinkedElement> linked = rule_.links->source(index[kPatchDim], space, extents_);
    if (!linked)
      return std::nullopt;
    std::vector<Index> joint{linked->patch};
    factor *= linked->factor;
    if (first == 2)
      joint.push_back(channelOf(index[kChannelDim], *linked, factor));
    joint.insert(joint.end(), linked->index.begin(), linked->index.end());
    return WeightedSource{flattened(joint.data(), jointShape(from_, dims_)), double(factor)};
  }

  static std::pair<Boundary, Boundary> modesOf(const Halo& halo, Index channel) {
    const auto band = std::ranges::upper_bound(halo.bands, channel, {}, &ModeBand::end);
    return band == halo.bands.end() ? std::pair(halo.low, halo.high)
                                    : std::pair(band->low, band->high);
  }

  // The channel that the ghosts of a channel copy: another component where the neighbouring patch
  // is rotated.
  Index channelOf(Index channel, const LinkedElement& linked, int& factor) const {
    const auto component = placeOfChannel_.find(static_cast<int>(channel));
    if (component == placeOfChannel_.end())
      return channel;
    const std::size_t place = component->second;
    const std::size_t along = place % linked.dims.size();
    factor *= linked.signs[along];
    return rule_.vectors[place - along + static_cast<std::size_t>(linked.dims[along])];
  }

  void add(IndexEntries& entries, const std::vector<Index>& source,
           const std::vector<Index>& target, double weight) const {
    entries.source.insert(entries.source.end(), source.begin(), source.end());
    entries.target.insert(entries.target.end(), target.begin(), target.end());
    entries.weights.push_back(weight);
  }

  // The lists in the order of grid positions, without weights if all are 1.
  std::vector<IndexEntries> finished(std::map<int, IndexEntries> byPosition) const {
    // The rank's own list always exists: its owned elements are part of it.
    byPosition.try_emplace(position_);
    std::vector<IndexEntries> lists;
    for (auto& [position, entries] : byPosition) {
      entries.peer = rankAt(position);
      if (std::ranges::all_of(entries.weights, [](double w) { return w == 1; }))
        entries.weights.clear();
      lists.push_back(std::move(entries));
    }
    return lists;
  }

  std::vector<IndexEntries> received() {
    std::map<int, IndexEntries> lists;
    forEachGhost(position_, [&](const std::vector<Index>& local, const std::vector<Index>& index) {
      const auto source = sourceOf(index);
      if (!source) {
        isUneven_ = true;
        return;
      }
      const IndexPlace place = placeOf(from_, dims_, position_, source->joint);
      add(lists[place.position], place.local, local, source->weight);
    });
    return finished(std::move(lists));
  }

  std::vector<IndexEntries> sent() const {
    std::map<int, IndexEntries> lists;
    const std::vector<Index> readers = readersOfOwn();
    for (int position = 0; position < to_.grid().size(); ++position) {
      if (!sharesCopies(position) || !ownsSome(position, readers))
        continue;
      forEachGhost(position, [&](const std::vector<Index>& local, const std::vector<Index>& index) {
        if (!std::ranges::binary_search(readers, index[kPatchDim]))
          return;
        const auto source = sourceOf(index);
        if (!source)
          return;
        const IndexPlace place = placeOf(from_, dims_, position, source->joint);
        if (place.position == position_)
          add(lists[position], place.local, local, source->weight);
      });
    }
    return finished(std::move(lists));
  }

  // The patches whose ghosts can be copies of this position's patches.
  std::vector<Index> readersOfOwn() const {
    const Interval own = from_.ownedBox(position_)[kPatchDim];
    std::vector<Index> patches(static_cast<std::size_t>(own.size()));
    std::iota(patches.begin(), patches.end(), own.begin);
    // By spatial dimension, how many patches away the farthest ghost is.
    std::vector<Index> crossings;
    for (std::size_t s = 0; s < extents_.size(); ++s) {
      const int d = kSpaceDim + static_cast<int>(s);
      Index beyond = 0;
      for (int part = 0; part < to_.parts(d); ++part) {
        const Interval box = to_.box(d, part);
        beyond = std::max({beyond, -box.begin, box.end - extents_[s]});
      }
      crossings.push_back(extents_[s] == 0 ? 0 : (beyond + extents_[s] - 1) / extents_[s]);
    }
    return rule_.links->around(patches, crossings);
  }

  // True if a position owns some of these patches, which are sorted.
  bool ownsSome(int position, const std::vector<Index>& patches) const {
    const Interval own = to_.ownedBox(position)[kPatchDim];
    const auto first = std::ranges::lower_bound(patches, own.begin);
    return first != patches.end() && *first < own.end;
  }

  // True if a position has this one's coordinates on all axes that split no joint dimension; its
  // copies are then sent from this position.
  bool sharesCopies(int position) const {
    for (int axis = 0; axis < to_.grid().axes(); ++axis) {
      const bool isSplit = std::ranges::any_of(dims_, [&](int d) {
        return std::ranges::find(from_.splitAxes(d), axis) != from_.splitAxes(d).end();
      });
      if (!isSplit &&
          to_.grid().coordinate(position, axis) != to_.grid().coordinate(position_, axis))
        return false;
    }
    return to_.isHolder(position);
  }

  const PatchRule& rule_;
  const Layout &from_, &to_;
  int rank_, position_;   // -1 outside the grid.
  std::vector<int> dims_; // The joint dimensions.
  // True if channels are joint: there are components of vectors, or boundary modes by channel.
  bool hasChannels_;
  Shape extents_; // Extents of a patch.
  // Place of a channel among the rule's vector components.
  std::unordered_map<int, std::size_t> placeOfChannel_;
  bool isUneven_ = false;
};

} // namespace

IndexMapPtr makeLinkedMap(const PatchRule& rule, const Layout& from, const Layout& to, int rank) {
  return LinkedMapMaker(rule, from, to, rank).make();
}

} // namespace tenon
