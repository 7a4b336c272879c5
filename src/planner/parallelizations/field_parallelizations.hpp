// SPDX-License-Identifier: BSD-2-Clause
// Parallelizations on the process grid of a field: an input or output of the network whose layout
// the program has fixed, such as the solution of a solver. Along each axis of this grid, a layer
// keeps the field's property (k), or splits the batch (n), output channels (o) or input channels
// (i). For a field whose rows and columns are split (S2,S3) on a grid of 4 x 2:
//
//     k,k   the layer is distributed like the field
//     o,k   4 parts of the output channels, 2 parts of space
//
// If a layer splits a dimension by the same axes as the field, it uses the split points of the
// field, or, for another extent, of another tensor with this extent that is distributed like the
// field. learn() stores such split points by dimension and extent, from the outputs of layers that
// keep the distribution (k on all axes).
#pragma once

#include "geometry/layout/layout.hpp"

#include <map>

namespace tenon {

// A parallelization on the grid of a field.
struct FieldParallelization {
  int field = 0;
  std::string labels; // one per axis: k, n, o or i
};

// A pinned input or output, and the split points that are known from it.
class Field {
public:
  // `name` is "input" or "output", for texts.
  Field(std::string name, const Layout& layout);

  const std::string& name() const noexcept { return name_; }
  const GridPtr& grid() const noexcept { return layout_.gridPtr(); }
  Property property(int axis) const { return layout_.property(axis); }
  bool hasEmptyParts() const;
  // All parallelizations, those that change least first. An axis of one process keeps its property,
  // since any other would be equivalent. The number of parallelizations grows exponentially with
  // the other axes. Therefore on a grid of more than 5 of them all axes have the same label, and on
  // one of 5 no parallelization splits the channels of both input and output.
  std::vector<std::string> parallelizations(bool inputChannels) const;
  bool isLike(const Layout& layout) const;

  // Remembers the split points of a tensor that is distributed like the field.
  void learn(const Layout& layout);
  // Uses the split points of `native` if it is on this grid with the same axes, otherwise the
  // learnt ones.
  Layout layout(const Shape& shape, const Properties& properties,
                const Layout* native = nullptr) const;

private:
  std::string name_;
  Layout layout_;
  std::map<std::pair<int, Index>, std::vector<Index>> cuts_; // by dimension and extent
};

} // namespace tenon
