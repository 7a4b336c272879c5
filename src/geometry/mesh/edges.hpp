// SPDX-License-Identifier: BSD-2-Clause
// The edges of a mesh, or the entries of a sparse matrix: each joins a source row to a target row.
// Rows are numbered by their position in this rank's list of nodes, which is that of an index map
// (index_map.hpp): first the nodes that the rank owns, then its ghosts, copies of nodes of other
// ranks. For example, if rank 0 owns the nodes 10 and 11 and has the ghost 20, the edges 11 -> 10
// and 20 -> 11 have source.at = {1, 2} and target.at = {0, 1}. A rank has the edges that the user
// listed on it, usually those whose targets it owns; then isOwned is true for targets. The
// layouts of nodes and edges, which contain the counts of all ranks, are the same on all ranks; the
// lists are those of this rank. makeEdges() in
// linop/exchange/make_edges.hpp makes the object, collectively.
#pragma once

#include "geometry/mesh/index_map.hpp"

#include <optional>

namespace tenon {

// The two ends of an edge.
enum class EdgeEnd { Target, Source };

class Edges {
public:
  // One end of all edges of this rank.
  struct End {
    IndexMapPtr nodes;     // Map from owned nodes to the same with ghosts, along dimension 0.
    std::vector<Index> at; // By edge: the position of its node in this rank's list of nodes.
    bool isOwned = true;   // True if no edge of any rank ends at a ghost.
    // By listed node: sum of the weights of its edges on all ranks, by which a mean over these
    // edges is divided. Only for targets, and only if isOwned is false: otherwise all edges of a
    // node are on this rank.
    std::optional<std::vector<double>> totals = {};
  };

  Edges(End target, End source, Layout pattern, std::vector<Index> key, std::vector<double> weights)
      : target_(std::move(target)), source_(std::move(source)), pattern_(std::move(pattern)),
        key_(std::move(key)), weights_(std::move(weights)) {}

  const End& end(EdgeEnd side) const { return side == EdgeEnd::Target ? target_ : source_; }
  bool joinsTwoSets() const { return target_.nodes != source_.nodes; }
  // Number of edges on this rank.
  Index count() const { return static_cast<Index>(target_.at.size()); }
  // By edge: a number by which edges at one node are ordered, so a sum over them does not depend on
  // the number of ranks. Empty if edges are ordered as listed.
  const std::vector<Index>& key() const noexcept { return key_; }
  // Empty for weights of 1.
  const std::vector<double>& weights() const noexcept { return weights_; }
  // The layout [edges] with S(0) of a tensor with one row per edge, in the order of the lists.
  const Layout& pattern() const noexcept { return pattern_; }
  // The layouts of nodes and edges; the same text on all ranks.
  std::string describe() const;

private:
  End target_, source_;
  Layout pattern_;
  std::vector<Index> key_;
  std::vector<double> weights_;
};

using EdgesPtr = std::shared_ptr<const Edges>;

// The layout of a tensor [rows, trailing...] whose rows are distributed as in the layout `pattern`,
// [rows].
Layout rowsLayout(const Layout& pattern, const Shape& trailing);

} // namespace tenon
