// SPDX-License-Identifier: BSD-2-Clause
// The edges of a mesh, or the entries of a sparse matrix: each joins a row of targets to a row of
// sources, both in lists of nodes that index maps know, owned nodes and ghosts. As everywhere
// layouts know counts, and the lists are this rank's.
#pragma once

#include "geometry/mesh/index_map.hpp"

#include <optional>

namespace tenon {

enum class EdgeEnd { Target, Source };

class Edges {
public:
  // One end of all edges of this rank.
  struct End {
    IndexMapPtr nodes;     // from owned nodes to the same with ghosts, along dimension 0
    std::vector<Index> at; // of each edge: the position in this rank's list of nodes
    bool isOwned = true;   // no edge of any rank ends at a ghost
    // Of each listed node the sum of the weights of its edges on all ranks: of targets that are not
    // owned, on all ranks.
    std::optional<std::vector<double>> totals = {};
  };

  Edges(End target, End source, Layout pattern, std::vector<Index> key, std::vector<double> weights)
      : target_(std::move(target)), source_(std::move(source)), pattern_(std::move(pattern)),
        key_(std::move(key)), weights_(std::move(weights)) {}

  const End& end(EdgeEnd which) const { return which == EdgeEnd::Target ? target_ : source_; }
  bool joinsTwoSets() const { return target_.nodes != source_.nodes; }
  // Of this rank.
  Index count() const { return static_cast<Index>(target_.at.size()); }
  const std::vector<Index>& key() const noexcept { return key_; } // none: as they are listed
  const std::vector<double>& weights() const noexcept { return weights_; } // none: ones
  // [edges], S(0): how many each rank has.
  const Layout& pattern() const noexcept { return pattern_; }
  // Patterns and what all ranks know alike.
  std::string describe() const;

private:
  End target_, source_;
  Layout pattern_;
  std::vector<Index> key_;
  std::vector<double> weights_;
};

using EdgesPtr = std::shared_ptr<const Edges>;

// The layout of a tensor [rows, trailing...] whose rows lie as those of a pattern [rows].
Layout rowsLayout(const Layout& pattern, const Shape& trailing);

} // namespace tenon
