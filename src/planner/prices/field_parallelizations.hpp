// SPDX-License-Identifier: BSD-2-Clause
// Parallelizations on the process grid of a pinned layout, such as a solver's field. Each axis
// keeps the property that it has there, or splits the batch, or channels, of one label in a
// parallelization. With the layout S2,S3 on a grid of 4 x 2:
//
//     k,k   a layer lies where the field does     o,k   4 parts of the output channels, space by 2
//
// Where the same axes split a dimension as in the field, it is cut as the field is, or as what lies
// with the field: cuts are known by dimension and extent, and learnt from the outputs of layers
// that stay.
#pragma once

#include "geometry/layout/layout.hpp"

#include <map>

namespace tenon {

struct FieldParallelization {
  int field = 0;
  std::string labels; // of each axis: k, n, o or i
};

class Field {
public:
  // `name` says which end of the network it is: "input".
  Field(std::string name, const Layout& layout);

  const std::string& name() const noexcept { return name_; }
  const GridPtr& grid() const noexcept { return layout_.gridPtr(); }
  Property property(int axis) const { return layout_.property(axis); }
  bool hasEmptyParts() const;
  // The parallelizations, those that keep the most first. An axis of one process keeps its
  // property, since any other would change nothing; on a grid of more than 5 other axes all these
  // have the same label, and on one of 5 no parallelization splits channels of both input and
  // output.
  std::vector<std::string> parallelizations(bool inputChannels) const;
  bool isLike(const Layout& layout) const;

  // Remembers the cuts of a tensor that lies with the field.
  void learn(const Layout& layout);
  // Cut as `native` is, where that lies on this grid with the same axes; else as what was learnt.
  Layout layout(const Shape& shape, const Properties& properties,
                const Layout* native = nullptr) const;

private:
  std::string name_;
  Layout layout_;
  std::map<std::pair<int, Index>, std::vector<Index>> cuts_; // by dimension and extent
};

} // namespace tenon
