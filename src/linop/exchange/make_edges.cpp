// SPDX-License-Identifier: BSD-2-Clause
// Edges are checked where they are listed; that no rank's edges end at ghosts is agreed on, since
// layers of the edges then send nothing on that side. Of an edge that several ranks have each sum
// takes a share, a factor of its weight.
#include "linop/exchange/make_edges.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/numbering.hpp"
#include "comm/sparse_exchange.hpp"
#include "dtensor/host_view.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

// The numbers of nodes that a rank has: its own, and with ghosts.
struct Listed {
  Index owned, all;
};

Listed listedOf(const IndexMap& nodes, int rank) {
  return {nodes.from().boxOfRank(rank)[0].size(), nodes.to().boxOfRank(rank)[0].size()};
}

void checkMap(const IndexMap& nodes, const char* name) {
  if (nodes.from().rank() != 1 || !nodes.isHalo())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} is an index map from {} to {}; edges need one from the nodes that "
                            "ranks own to the same with ghosts (TenonIndexMapCreateFromIds())",
                            name, nodes.from().describe(), nodes.to().describe()));
}

void checkEnds(const std::vector<Index>& at, const char* name, const Listed& nodes, int rank) {
  for (std::size_t e = 0; e < at.size(); ++e)
    if (at[e] < 0 || at[e] >= nodes.all)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{}[{}] of rank {} is {}, but its list of nodes has {}; pass "
                              "positions in the list of TenonIndexMapCreateFromIds(), not ids",
                              name, e, rank, at[e], nodes.all));
}

bool areOwned(const std::vector<Index>& at, const Listed& nodes) {
  return std::ranges::all_of(at, [&](Index position) { return position < nodes.owned; });
}

void checkTargets(const std::vector<Index>& at, const Listed& nodes, int rank) {
  const auto ghost =
      std::ranges::find_if(at, [&](Index position) { return position >= nodes.owned; });
  if (ghost != at.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("target[{}] of rank {} is {}, a ghost, since the rank owns {}; list "
                            "the edge on the rank that owns its target",
                            ghost - at.begin(), rank, *ghost, counted(nodes.owned, "node")));
}

void checkFinite(const std::vector<double>& list, const char* name, int rank) {
  const auto bad = std::ranges::find_if(list, [](double value) { return !std::isfinite(value); });
  if (bad != list.end())
    throw Error(TENON_ERR_ARG, fmt::format("{}[{}] of rank {} is {}; expected finite numbers", name,
                                           bad - list.begin(), rank, *bad));
}

// The sums at the nodes of what this rank has for them, from all ranks, for each node that the rank
// lists.
std::vector<double> totalsOf(const CommPtr& comm, const IndexMapPtr& nodes,
                             const std::vector<double>& mine) {
  IndexMapOp op(comm, nodes, nodes->from(), TENON_FLOAT64, CarrierPolicy::fromOptions());
  const auto contributions = makeRef<DTensor>(comm, op.range().dual(), TENON_FLOAT64),
             owned = makeRef<DTensor>(comm, op.domain(), TENON_FLOAT64),
             listed = makeRef<DTensor>(comm, op.range(), TENON_FLOAT64);
  {
    HostView<double> to(*contributions);
    for (std::size_t i = 0; i < mine.size(); ++i)
      to[static_cast<Index>(i)] = mine[i];
  }
  op.applyAdjoint(*contributions, *owned);
  op.apply(*owned, *listed);
  std::vector<double> totals;
  const HostView<const double> from(*listed);
  for (std::size_t i = 0; i < mine.size(); ++i)
    totals.push_back(from[static_cast<Index>(i)]);
  return totals;
}

// Shares by a directory of keys, in which each rank finds what all ranks have of an edge.
class Shares {
public:
  Shares(const CommPtr& comm, const std::vector<Index>& key, std::vector<double> given)
      : comm_(*comm), key_(key), given_(std::move(given)) {}

  std::vector<double> find() {
    SparseMessages claims = collectively(comm_, [&] {
      SparseMessages made;
      for (std::size_t e = 0; e < key_.size(); ++e) {
        if (!given_.empty() && !std::isfinite(given_[e]))
          throw Error(TENON_ERR_ARG,
                      fmt::format("shares[{}] of rank {} is {}", e, comm_.rank(), given_[e]));
        std::vector<Index>& to = made[directoryRankOf(key_[e], comm_.size())];
        to.push_back(key_[e]);
        to.push_back(std::bit_cast<Index>(given_.empty() ? kNone : given_[e]));
      }
      return made;
    });
    const SparseMessages taken = sparseExchange(comm_, std::move(claims));
    SparseMessages answers = collectively(comm_, [&] { return answersTo(taken); });
    const SparseMessages counts = sparseExchange(comm_, std::move(answers));
    return collectively(comm_, [&] {
      // Answers come in the order of the claims.
      std::vector<double> shares;
      std::map<int, std::size_t> read;
      for (std::size_t e = 0; e < key_.size(); ++e) {
        const int at = directoryRankOf(key_[e], comm_.size());
        const Index holders = counts.at(at)[read[at]++];
        shares.push_back(given_.empty() ? 1 / double(holders) : given_[e]);
      }
      return shares;
    });
  }

private:
  // How many ranks have an edge, to each of them.
  SparseMessages answersTo(const SparseMessages& taken) const {
    struct Known {
      double sum = 0;
      std::size_t unsaid = 0; // ranks that leave their share open
      std::vector<int> ranks = {};
    };
    std::map<Index, Known> known;
    for (const auto& [peer, data] : taken)
      for (std::size_t i = 0; i < data.size(); i += 2) {
        Known& edge = known[data[i]];
        const auto share = std::bit_cast<double>(data[i + 1]);
        edge.unsaid += std::isnan(share) ? 1 : 0;
        edge.sum += std::isnan(share) ? 0 : share;
        edge.ranks.push_back(peer);
      }
    for (const auto& [key, edge] : known) {
      if (std::ranges::adjacent_find(edge.ranks) != edge.ranks.end())
        throw Error(TENON_ERR_ARG, fmt::format("rank {} lists two edges with key {}; give each "
                                               "edge a key of its own",
                                               *std::ranges::adjacent_find(edge.ranks), key));
      if (edge.unsaid == edge.ranks.size())
        continue;
      if (edge.unsaid > 0)
        throw Error(TENON_ERR_ARG,
                    fmt::format("of the edge with key {} some of ranks {} pass a share and others "
                                "none; pass shares on all ranks or NULL on all",
                                key, fmt::join(edge.ranks, ", ")));
      if (!(std::abs(edge.sum - 1) <= 1e-12 * double(edge.ranks.size())))
        throw Error(TENON_ERR_ARG,
                    fmt::format("the shares of the edge with key {} add up to {} (ranks {}); "
                                "expected 1",
                                key, edge.sum, fmt::join(edge.ranks, ", ")));
    }
    SparseMessages answers;
    for (const auto& [peer, data] : taken)
      for (std::size_t i = 0; i < data.size(); i += 2)
        answers[peer].push_back(static_cast<Index>(known.at(data[i]).ranks.size()));
    return answers;
  }

  // A rank that is given none says so.
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  Communicator& comm_;
  const std::vector<Index>& key_;
  std::vector<double> given_;
};

enum class Owners { WithTargets, Anywhere };

EdgesPtr make(const CommPtr& comm, const IndexMapPtr& targets, const IndexMapPtr& sources,
              ListedEdges listed, Owners owners) {
  const int rank = comm->rank();
  std::vector<std::uint64_t> counts = collectively(*comm, [&] {
    checkMap(*targets, "targets");
    checkMap(*sources, "sources");
    const Listed there = listedOf(*targets, rank), here = listedOf(*sources, rank);
    checkEnds(listed.target, "target", there, rank);
    checkEnds(listed.source, "source", here, rank);
    checkFinite(listed.weights, "weights", rank);
    if (owners == Owners::WithTargets)
      checkTargets(listed.target, there, rank);
    // The edges of each rank, and the ranks with targets and with sources at ghosts.
    std::vector<std::uint64_t> mine(static_cast<std::size_t>(comm->size()) + 2, 0);
    mine[rank] = listed.target.size();
    mine[comm->size()] = areOwned(listed.target, there) ? 0 : 1;
    mine[comm->size() + 1] = areOwned(listed.source, here) ? 0 : 1;
    return mine;
  });
  reduceNumbers(*comm, counts, MPI_SUM);
  const bool targetsOwned = counts[comm->size()] == 0, sourcesOwned = counts.back() == 0;
  std::optional<std::vector<double>> totals;
  if (!targetsOwned) {
    const std::vector<double> mine = collectively(*comm, [&] {
      std::vector<double> sums(static_cast<std::size_t>(listedOf(*targets, rank).all), 0);
      for (std::size_t e = 0; e < listed.target.size(); ++e)
        sums[listed.target[e]] += listed.weights.empty() ? 1 : listed.weights[e];
      return sums;
    });
    totals = totalsOf(comm, targets, mine);
  }
  return collectively(*comm, [&] {
    std::vector<Index> cuts{0};
    for (int r = 0; r < comm->size(); ++r)
      cuts.push_back(cuts.back() + static_cast<Index>(counts[r]));
    const Layout pattern({.shape = {cuts.back()},
                          .grid = targets->from().gridPtr(),
                          .properties = {Property::shard(0)},
                          .cuts = {cuts}});
    return std::make_shared<const Edges>(
        Edges::End{targets, std::move(listed.target), targetsOwned, std::move(totals)},
        Edges::End{sources, std::move(listed.source), sourcesOwned}, pattern, std::move(listed.key),
        std::move(listed.weights));
  });
}

} // namespace

EdgesPtr makeEdges(const CommPtr& comm, const IndexMapPtr& targets, const IndexMapPtr& sources,
                   ListedEdges listed) {
  return make(comm, targets, sources, std::move(listed), Owners::WithTargets);
}

EdgesPtr makeSharedEdges(const CommPtr& comm, const IndexMapPtr& targets,
                         const IndexMapPtr& sources, ListedEdges listed,
                         std::vector<double> shares) {
  collectively(*comm, [&] {
    checkFinite(listed.weights, "weights", comm->rank());
    checkFinite(shares, "shares", comm->rank());
    return true;
  });
  const std::vector<double> found = Shares(comm, listed.key, std::move(shares)).find();
  collectively(*comm, [&] {
    listed.weights.resize(found.size(), 1);
    for (std::size_t e = 0; e < found.size(); ++e)
      listed.weights[e] *= found[e];
    return true;
  });
  return make(comm, targets, sources, std::move(listed), Owners::Anywhere);
}

std::string EdgesObject::describe() const {
  return fmt::format("{}: {}\n  rank {} has {}\n", headingOf(*this), edges_->describe(),
                     comm_->rank(), counted(edges_->count(), "edge"));
}

} // namespace tenon
