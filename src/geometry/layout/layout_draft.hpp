// SPDX-License-Identifier: BSD-2-Clause
// LayoutDraft: a layout that is set piece by piece, in any order once the shape is set, before
// build() makes it. Used by the C API (TenonLayoutSet...() before TenonLayoutSetUp()). A halo can
// be set by widths, which become boxes when the parts are known: part [b, e) gets the box [b - low,
// e + high), an empty part gets an empty box.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

class LayoutDraft {
public:
  explicit LayoutDraft(GridPtr grid);
  explicit LayoutDraft(const Layout& model);

  // A dimension whose extent changes is reset to default cuts and loses the boxes of its halo, but
  // not its halo widths. If the number of dimensions changes, all dimensions are reset.
  void setShape(Shape shape);
  // If the set of axes that split a dimension changes, its split order, cuts and halo boxes are
  // reset, but not its halo widths.
  void setProperties(Properties properties);
  // The following functions throw TENON_ERR_STATE before the shape is set, and TENON_ERR_ARG for a
  // dimension that does not exist.
  int ndim() const;
  void setSplitOrder(int dim, std::vector<int> axes);
  void setCuts(int dim, std::vector<Index> cuts);
  // Adds one element at the end of a dimension, in its last nonempty part: the points between and
  // around the cells, distributed like the cells.
  void stagger(int dim);
  // Halos hold values; a draft of a dual layout keeps its halos of partial sums.
  void setHaloWidths(int dim, Index low, Index high, Boundary lowMode, Boundary highMode);
  void setHaloBoxes(int dim, std::vector<Interval> boxes, Boundary lowMode, Boundary highMode);

  // Throws TENON_ERR_STATE if shape or properties are missing, and TENON_ERR_LAYOUT if the settings
  // are inconsistent.
  Layout build() const;

private:
  struct Widths {
    Index low, high;
  };

  void checkDim(int dim) const;
  // Resets the halo boxes of a dimension; or also its split order and cuts.
  void forgetBoxes(std::size_t dim);
  void forgetParts(std::size_t dim);

  LayoutSpec spec_;
  std::vector<std::optional<Widths>> widths_;
  bool hasProperties_ = false;
};

} // namespace tenon
