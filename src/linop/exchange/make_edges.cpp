// SPDX-License-Identifier: BSD-2-Clause
// Creates the edges of a distributed graph from the edges that each rank lists. Each rank has nodes
// that it owns, and ghosts: copies of nodes of other ranks. Each rank checks its edges; a sum over
// ranks then finds whether any edge has a ghost as its target, or as its source. If none has,
// layers on these edges need no halo exchange of targets, or of sources.
//
// With makeSharedEdges() several ranks can list the same edge, identified by a key. Each of them
// has a share of the edge, which multiplies its weight, and the shares of an edge add up to 1: if
// two ranks list an edge and pass no shares, each has 1/2.
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

// Number of nodes in a rank's list: the owned ones, and all including ghosts.
struct NodeCount {
  Index owned, all;
};

NodeCount nodeCountOf(const IndexMap& nodes, int rank) {
  return {nodes.from().boxOfRank(rank)[0].size(), nodes.to().boxOfRank(rank)[0].size()};
}

void checkMap(const IndexMap& nodes, const char* name) {
  if (nodes.from().ndim() != 1 || !nodes.isHalo())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} is an index map from {} to {}; edges need one from the nodes that "
                            "ranks own to the same with ghosts (TenonIndexMapCreateFromIds())",
                            name, nodes.from().describe(), nodes.to().describe()));
}

void checkEnds(const std::vector<Index>& at, const char* name, const NodeCount& nodes, int rank) {
  for (std::size_t e = 0; e < at.size(); ++e)
    if (at[e] < 0 || at[e] >= nodes.all)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{}[{}] of rank {} is {}, but its list of nodes has {}; pass "
                              "positions in the list of TenonIndexMapCreateFromIds(), not ids",
                              name, e, rank, at[e], nodes.all));
}

bool areOwned(const std::vector<Index>& at, const NodeCount& nodes) {
  return std::ranges::all_of(at, [&](Index position) { return position < nodes.owned; });
}

void checkTargets(const std::vector<Index>& at, const NodeCount& nodes, int rank) {
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

// For each node in this rank's list, the sum over all ranks of their contributions to it: the
// adjoint of the halo exchange adds them at the owners, and the exchange copies the sums to ghosts.
std::vector<double> totalsOf(const CommPtr& comm, const IndexMapPtr& nodes,
                             const std::vector<double>& contributions) {
  IndexMapOp op(comm, nodes, nodes->from(), TENON_FLOAT64, CarrierPolicy::fromOptions());
  const auto contributionTensor = makeRef<DTensor>(comm, op.range().dual(), TENON_FLOAT64),
             owned = makeRef<DTensor>(comm, op.domain(), TENON_FLOAT64),
             listed = makeRef<DTensor>(comm, op.range(), TENON_FLOAT64);
  {
    HostView<double> to(*contributionTensor);
    for (std::size_t i = 0; i < contributions.size(); ++i)
      to[static_cast<Index>(i)] = contributions[i];
  }
  op.applyAdjoint(*contributionTensor, *owned);
  op.apply(*owned, *listed);
  std::vector<double> totals;
  const HostView<const double> from(*listed);
  for (std::size_t i = 0; i < contributions.size(); ++i)
    totals.push_back(from[static_cast<Index>(i)]);
  return totals;
}

// Shares of edges that several ranks list. Each rank sends its keys and shares to a directory,
// which is distributed over the ranks by a hash of the key, and receives for each key the number of
// ranks that list the edge. Without shares from the user, each of n ranks has the share 1/n.
class Shares {
public:
  Shares(const CommPtr& comm, const std::vector<Index>& key, std::vector<double> shares)
      : comm_(*comm), key_(key), shares_(std::move(shares)) {}

  std::vector<double> compute() {
    SparseMessages claims = collectively(comm_, [&] {
      SparseMessages messages;
      for (std::size_t e = 0; e < key_.size(); ++e) {
        if (!shares_.empty() && !std::isfinite(shares_[e]))
          throw Error(TENON_ERR_ARG,
                      fmt::format("shares[{}] of rank {} is {}", e, comm_.rank(), shares_[e]));
        std::vector<Index>& message = messages[directoryRankOf(key_[e], comm_.size())];
        message.push_back(key_[e]);
        message.push_back(std::bit_cast<Index>(shares_.empty() ? kNoShare : shares_[e]));
      }
      return messages;
    });
    const SparseMessages claimsHere = sparseExchange(comm_, std::move(claims));
    SparseMessages answers = collectively(comm_, [&] { return answersTo(claimsHere); });
    const SparseMessages counts = sparseExchange(comm_, std::move(answers));
    return collectively(comm_, [&] {
      // The answers of a directory rank have the order of the claims that were sent to it.
      std::vector<double> shares;
      std::map<int, std::size_t> nextAnswer;
      for (std::size_t e = 0; e < key_.size(); ++e) {
        const int directory = directoryRankOf(key_[e], comm_.size());
        const Index holders = counts.at(directory)[nextAnswer[directory]++];
        shares.push_back(shares_.empty() ? 1 / double(holders) : shares_[e]);
      }
      return shares;
    });
  }

private:
  // Checks the shares of each edge. Returns, for each claim, the number of ranks that list its
  // edge.
  SparseMessages answersTo(const SparseMessages& claims) const {
    struct SharedEdge {
      double sum = 0;
      std::size_t withoutShare = 0; // Number of ranks that pass no share.
      std::vector<int> ranks = {};
    };
    std::map<Index, SharedEdge> edges;
    for (const auto& [peer, data] : claims)
      for (std::size_t i = 0; i < data.size(); i += 2) {
        SharedEdge& edge = edges[data[i]];
        const auto share = std::bit_cast<double>(data[i + 1]);
        edge.withoutShare += std::isnan(share) ? 1 : 0;
        edge.sum += std::isnan(share) ? 0 : share;
        edge.ranks.push_back(peer);
      }
    for (const auto& [key, edge] : edges) {
      // The claims are visited by rank, so equal ranks follow each other.
      if (std::ranges::adjacent_find(edge.ranks) != edge.ranks.end())
        throw Error(TENON_ERR_ARG, fmt::format("rank {} lists two edges with key {}; give each "
                                               "edge a key of its own",
                                               *std::ranges::adjacent_find(edge.ranks), key));
      if (edge.withoutShare == edge.ranks.size())
        continue;
      if (edge.withoutShare > 0)
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
    for (const auto& [peer, data] : claims)
      for (std::size_t i = 0; i < data.size(); i += 2)
        answers[peer].push_back(static_cast<Index>(edges.at(data[i]).ranks.size()));
    return answers;
  }

  // Sent by ranks that pass no shares.
  static constexpr double kNoShare = std::numeric_limits<double>::quiet_NaN();

  Communicator& comm_;
  const std::vector<Index>& key_;
  std::vector<double> shares_;
};

// WithTargets: an edge must be listed by the rank that owns its target. Anywhere: by any rank.
enum class Owners { WithTargets, Anywhere };

EdgesPtr make(const CommPtr& comm, const IndexMapPtr& targets, const IndexMapPtr& sources,
              ListedEdges listed, Owners owners) {
  const int rank = comm->rank();
  std::vector<std::uint64_t> counts = collectively(*comm, [&] {
    checkMap(*targets, "targets");
    checkMap(*sources, "sources");
    const NodeCount targetNodes = nodeCountOf(*targets, rank),
                    sourceNodes = nodeCountOf(*sources, rank);
    checkEnds(listed.target, "target", targetNodes, rank);
    checkEnds(listed.source, "source", sourceNodes, rank);
    checkFinite(listed.weights, "weights", rank);
    if (owners == Owners::WithTargets)
      checkTargets(listed.target, targetNodes, rank);
    // Entry r is the number of edges of rank r; the last two entries are the numbers of ranks with
    // an edge whose target, or whose source, is a ghost. The sum over ranks gives every rank all
    // entries.
    std::vector<std::uint64_t> ownCounts(static_cast<std::size_t>(comm->size()) + 2, 0);
    ownCounts[rank] = listed.target.size();
    ownCounts[comm->size()] = areOwned(listed.target, targetNodes) ? 0 : 1;
    ownCounts[comm->size() + 1] = areOwned(listed.source, sourceNodes) ? 0 : 1;
    return ownCounts;
  });
  reduceNumbers(*comm, counts, MPI_SUM);
  const bool targetsOwned = counts[comm->size()] == 0, sourcesOwned = counts.back() == 0;
  std::optional<std::vector<double>> totals;
  // A mean over the edges of a target divides by the sum of their weights. If several ranks list
  // edges of the target, this sum is over the edges of all of them.
  if (!targetsOwned) {
    const std::vector<double> ownTotals = collectively(*comm, [&] {
      std::vector<double> sums(static_cast<std::size_t>(nodeCountOf(*targets, rank).all), 0);
      for (std::size_t e = 0; e < listed.target.size(); ++e)
        sums[listed.target[e]] += listed.weights.empty() ? 1 : listed.weights[e];
      return sums;
    });
    totals = totalsOf(comm, targets, ownTotals);
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
  const std::vector<double> factors = Shares(comm, listed.key, std::move(shares)).compute();
  collectively(*comm, [&] {
    listed.weights.resize(factors.size(), 1);
    for (std::size_t e = 0; e < factors.size(); ++e)
      listed.weights[e] *= factors[e];
    return true;
  });
  return make(comm, targets, sources, std::move(listed), Owners::Anywhere);
}

std::string EdgesObject::describe() const {
  return fmt::format("{}: {}\n  rank {} has {}\n", headingOf(*this), edges_->describe(),
                     comm_->rank(), counted(edges_->count(), "edge"));
}

} // namespace tenon
