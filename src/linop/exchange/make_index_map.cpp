// SPDX-License-Identifier: BSD-2-Clause
// Creates an index map: an operator whose target element i on a rank is a weighted sum of source
// elements anywhere on the process grid, as the user has listed them. For example, with 3 rows on
// each of two ranks, rank 0 lists (target 3, source 4): its element 3, a ghost, is the global row
// 4, which is row 1 of rank 1.
//
// Each rank requests its source elements from their owners in one sparse exchange (messages only
// between ranks that need them). A request is the list of the elements of one later message, so
// afterwards both sender and receiver have this list. It is sorted by target position, which fixes
// the order of sums.
#include "linop/exchange/make_index_map.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/numbering.hpp"
#include "comm/sparse_exchange.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace tenon {

namespace {

// Makes one index map, in calls that all ranks make together: 1. each rank checks its list, and all
// ranks agree on the outcome; 2. requests are sent to the owners of source elements; 3. each rank
// builds its sends from the requests received, and its receives from the requests sent.
class IndexMapMaker {
public:
  IndexMapMaker(Communicator& comm, const Layout& from, const Layout& to,
                const std::vector<int>& dims, const WantedEntries& wanted)
      : comm_(comm), from_(from), to_(to), dims_(dims), wanted_(wanted),
        position_(to.grid().position(comm.rank())), isWeighted_(!wanted.weights.empty()) {}

  IndexMapPtr make() {
    isWeighted_ = collectively(
        comm_, "the index map",
        [&] {
          checkLayouts();
          checkEntries();
          return isWeighted_;
        },
        [&](bool) {
          return fmt::format("{} -> {}, dimensions {}", from_.describe(), to_.describe(),
                             fmt::join(dims_, ","));
        });
    SparseMessages requests = collectively(comm_, [&] { return requestsFor(); });
    const SparseMessages requested = sparseExchange(comm_, std::move(requests));
    auto map = collectively(comm_, [&] { return build(requested); });
    // The largest numbers of any rank, for views and for predictions that all ranks must share.
    std::vector<std::uint64_t> maxima = collectively(comm_, [&] {
      const auto& [sent, received] = map.traffic;
      std::vector<std::uint64_t> numbers;
      for (const Index number :
           {sent.messages, sent.elements, received.messages, received.elements})
        numbers.push_back(static_cast<std::uint64_t>(number));
      return numbers;
    });
    reduceNumbers(comm_, maxima, MPI_MAX);
    return collectively(comm_, [&] {
      const auto trafficAt = [&](std::size_t n) {
        return Traffic{static_cast<Index>(maxima[n]), static_cast<Index>(maxima[n + 1])};
      };
      map.most = IndexTraffic{trafficAt(0), trafficAt(2)};
      return std::make_shared<const IndexMap>(std::move(map));
    });
  }

private:
  // Dimensions in dims_ are joint: entries list positions in all of them together. The others are
  // copied whole.
  bool isJoint(int dim) const { return std::ranges::find(dims_, dim) != dims_.end(); }
  // Whether the map fills the linked halos of `to` from the same layout without halos.
  bool isHalo() const { return to_.hasLinkedHalos() && to_.withoutHalos() == from_; }

  void checkLayouts() const {
    const auto both = [&] {
      return fmt::format("from {} to {}", from_.describe(), to_.describe());
    };
    if (from_.ndim() != to_.ndim() || !(from_.grid() == to_.grid()))
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format(
              "an index map needs two layouts of as many dimensions on one process grid, but "
              "is {}",
              both()));
    if (from_.hasHalos())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the source of an index map has halos: {}; pass the layout "
                              "without them",
                              from_.describe()));
    std::vector<int> sorted = dims_;
    std::ranges::sort(sorted);
    if (dims_.empty() || sorted.front() < 0 || sorted.back() >= from_.ndim() ||
        std::ranges::adjacent_find(sorted) != sorted.end())
      throw Error(TENON_ERR_ARG,
                  fmt::format("an index map has joint dimensions {}; pass distinct ones from "
                              "0 to {}",
                              fmt::join(dims_, ","), from_.ndim() - 1));
    for (int d = 0; d < from_.ndim(); ++d)
      if (!isJoint(d) && (from_.shape()[d] != to_.shape()[d] || from_.cuts(d) != to_.cuts(d) ||
                          from_.splitAxes(d) != to_.splitAxes(d) || to_.halo(d)))
        throw Error(
            TENON_ERR_LAYOUT,
            fmt::format("dimension {} is not among the joint dimensions {} of an index map, but is "
                        "divided unlike on its two sides: {}",
                        d, fmt::join(dims_, ","), both()));
  }

  void checkEntries() const {
    if (position_ < 0 && !wanted_.target.empty())
      throw Error(TENON_ERR_ARG,
                  fmt::format("rank {} is outside process grid {}, but lists {}", comm_.rank(),
                              to_.grid().describe(),
                              counted(static_cast<Index>(wanted_.target.size()), "element")));
    if (position_ < 0)
      return;
    const Shape extent = jointExtent(to_, dims_, position_);
    const Index targets = elements(extent), sources = elements(jointShape(from_, dims_));
    for (std::size_t n = 0; n < wanted_.target.size(); ++n) {
      checkIndex("target", n, wanted_.target[n], targets, "elements of this rank's array");
      checkIndex("source", n, wanted_.source[n], sources, "elements of the source");
      if (isHalo() && isOwned(unflattened(wanted_.target[n], extent)))
        throw Error(
            TENON_ERR_ARG,
            fmt::format("target[{}] is {}, an element that this rank owns; a map that fills linked "
                        "halos leaves those alone, so list ghosts only",
                        n, wanted_.target[n]));
    }
  }

  static void checkIndex(const char* name, std::size_t n, Index value, Index count,
                         const char* what) {
    if (value < 0 || value >= count)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{}[{}] is {}, but there are {} {}", name, n, value, count, what));
  }

  bool isOwned(const std::vector<Index>& local) const {
    const Box box = to_.box(position_), owned = to_.ownedBox(position_);
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const Index at = local[i] + box[dims_[i]].begin;
      if (at < owned[dims_[i]].begin || at >= owned[dims_[i]].end)
        return false;
    }
    return true;
  }

  // The request to each owner. Each entry has 2 d + 1 numbers for d joint dimensions: the position
  // in the owner's array (d), the position in this rank's array (d), and the bits of the weight.
  SparseMessages requestsFor() {
    SparseMessages requests;
    if (position_ < 0)
      return requests;
    std::vector<std::size_t> order(wanted_.target.size());
    std::iota(order.begin(), order.end(), 0);
    // Stable: several entries of one target element are added in the order of the user's list.
    std::ranges::stable_sort(order, {}, [&](std::size_t n) { return wanted_.target[n]; });
    const Shape extent = jointExtent(to_, dims_, position_);
    for (std::size_t n : order) {
      const IndexPlace place = placeOf(from_, dims_, position_, wanted_.source[n]);
      const std::vector<Index> target = unflattened(wanted_.target[n], extent);
      const int owner = from_.grid().rank(place.position);
      std::vector<Index>& request = requests[owner];
      request.insert(request.end(), place.local.begin(), place.local.end());
      request.insert(request.end(), target.begin(), target.end());
      // Each rank decides separately whether it has weights, so the request always has one.
      request.push_back(std::bit_cast<Index>(isWeighted_ ? wanted_.weights[n] : 1.0));
    }
    for (const auto& [owner, request] : requests)
      received_.push_back(entriesOf(owner, request));
    byPosition(received_);
    return requests;
  }

  // Decodes a request.
  IndexEntries entriesOf(int peer, const std::vector<Index>& request) const {
    IndexEntries entries{peer, {}, {}, {}};
    const std::size_t dims = dims_.size(), width = 2 * dims + 1;
    bool areOnes = true;
    for (std::size_t i = 0; i < request.size(); i += width) {
      const auto begin = request.begin() + static_cast<std::ptrdiff_t>(i),
                 middle = begin + static_cast<std::ptrdiff_t>(dims),
                 end = middle + static_cast<std::ptrdiff_t>(dims);
      entries.source.insert(entries.source.end(), begin, middle);
      entries.target.insert(entries.target.end(), middle, end);
      entries.weights.push_back(std::bit_cast<double>(*end));
      areOnes = areOnes && entries.weights.back() == 1;
    }
    // Without weights a run of positions is a box, which is copied by faster kernels and can be
    // sent from the array.
    if (areOnes)
      entries.weights.clear();
    return entries;
  }

  // Sorts lists by the peer's position in the process grid, the order in which sums are added.
  void byPosition(std::vector<IndexEntries>& entries) const {
    std::ranges::sort(entries, {},
                      [&](const IndexEntries& list) { return to_.grid().position(list.peer); });
  }

  // Builds this rank's part of the map from the requests of other ranks and its own.
  IndexMapSpec build(const SparseMessages& requested) {
    IndexMapSpec spec{.from = from_, .to = to_, .dims = dims_};
    for (const auto& [peer, request] : requested)
      spec.sends.push_back(entriesOf(peer, request));
    spec.receives = std::move(received_);
    const int rank = comm_.rank();
    // The owned elements of a halo map are a part of the schedule, also if no entry is local.
    for (std::vector<IndexEntries>* list : {&spec.sends, &spec.receives})
      if (isHalo() && position_ >= 0 &&
          std::ranges::none_of(*list,
                               [&](const IndexEntries& entries) { return entries.peer == rank; }))
        list->push_back({rank, {}, {}, {}});
    byPosition(spec.sends);
    byPosition(spec.receives);
    spec.traffic = trafficOf(spec, rank);
    spec.isUneven = isUneven();
    return spec;
  }

  // True if some element of the target has several entries or none.
  bool isUneven() const {
    if (position_ < 0)
      return false;
    std::vector<Index> targets = wanted_.target;
    std::ranges::sort(targets);
    if (std::ranges::adjacent_find(targets) != targets.end())
      return true;
    // Without duplicates, the numbers of entries and of target elements are equal if and only if
    // each element has one entry. Owned elements of a halo have none.
    Index targetElements = elements(jointExtent(to_, dims_, position_));
    if (isHalo()) {
      Shape owned;
      for (int d : dims_)
        owned.push_back(intersect(to_.box(position_)[d], to_.ownedBox(position_)[d]).size());
      targetElements -= elements(owned);
    }
    return static_cast<Index>(targets.size()) != targetElements;
  }

  Communicator& comm_;
  const Layout &from_, &to_;
  const std::vector<int>& dims_;
  const WantedEntries& wanted_;
  int position_;
  bool isWeighted_;
  std::vector<IndexEntries> received_;
};

} // namespace

IndexMapPtr makeIndexMap(Communicator& comm, const Layout& from, const Layout& to,
                         const std::vector<int>& dims, const WantedEntries& wanted) {
  return IndexMapMaker(comm, from, to, dims, wanted).make();
}

IndexMapPtr makeIndexMapFromIds(Communicator& comm, Index owned, const std::vector<Index>& ids) {
  const auto lists = collectively(comm, [&] {
    return std::pair(std::vector<Index>(ids.begin(), ids.begin() + owned),
                     std::vector<Index>(ids.begin() + owned, ids.end()));
  });
  // The numbering makes owned nodes consecutive rows, so layouts describe them by split points.
  Numbering numbering = numberRows(comm, lists.first, lists.second);
  std::vector<std::uint64_t> ghosts = collectively(comm, [&] {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(comm.size()), 0);
    counts[comm.rank()] = lists.second.size();
    return counts;
  });
  // Each rank has filled its own entry and left 0 elsewhere: the sum gives every rank all entries.
  reduceNumbers(comm, ghosts, MPI_SUM);
  struct Pattern {
    Layout plain, ghosted;
    WantedEntries wanted;
  };
  const Pattern pattern = collectively(comm, [&] {
    const Layout plain({.shape = {numbering.cuts.back()},
                        .grid = Grid::make({comm.size()}),
                        .properties = {Property::shard(0)},
                        .cuts = {numbering.cuts}});
    LayoutSpec spec = plain.spec();
    Halo halo{.boxes = {}, .low = Boundary::Linked, .high = Boundary::Linked};
    // The box of a rank has its rows, followed by one index per ghost: with 3 + 2 rows on two ranks
    // and one ghost each, the boxes are [0, 4) and [3, 6).
    for (int rank = 0; rank < comm.size(); ++rank)
      halo.boxes.push_back(
          {numbering.cuts[rank], numbering.cuts[rank + 1] + static_cast<Index>(ghosts[rank])});
    spec.halos = {halo};
    WantedEntries wanted{{}, std::move(numbering.wanted), {}};
    for (std::size_t i = 0; i < wanted.source.size(); ++i)
      wanted.target.push_back(owned + static_cast<Index>(i));
    return Pattern{plain, Layout(std::move(spec)), std::move(wanted)};
  });
  return makeIndexMap(comm, pattern.plain, pattern.ghosted, {0}, pattern.wanted);
}

IndexMapPtr makeSortedIndexMap(Communicator& comm, const IndexMapObject& nodes) {
  const Layout& from = nodes.map()->from();
  const Layout to = collectively(comm, [&] {
    if (from.ndim() != 1 || !nodes.map()->isHalo() ||
        static_cast<Index>(nodes.ids().size()) != from.boxOfRank(comm.rank())[0].size())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("{} knows no ids; pass a map of TenonIndexMapCreateFromIds()",
                              nodes.title()));
    return Layout({.shape = from.shape(), .grid = from.gridPtr(), .properties = from.properties()});
  });
  std::vector<Index> rows =
      rowsById(comm, nodes.ids(), from.boxOfRank(comm.rank())[0].begin, to.cuts(0));
  const WantedEntries wanted = collectively(comm, [&] {
    std::vector<Index> places(rows.size());
    std::iota(places.begin(), places.end(), 0);
    return WantedEntries{std::move(places), std::move(rows), {}};
  });
  return makeIndexMap(comm, from, to, {0}, wanted);
}

std::string IndexMapObject::describe() const {
  return fmt::format("{}: {}\n  rank {} sends {}, {}\n", headingOf(*this), map_->describe(),
                     comm_->rank(), counted(map_->sent().messages, "message"),
                     counted(map_->sent().elements, "element"));
}

} // namespace tenon
