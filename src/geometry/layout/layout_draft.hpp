// SPDX-License-Identifier: BSD-2-Clause
// A layout in the making: what a caller sets piece by piece, in any order once the shape is known.
// A halo may be given by widths, which become boxes when the parts are known: the part [b, e)
// gets the box [b - low, e + high), an empty part an empty box.
#pragma once

#include "geometry/layout/layout.hpp"

namespace tenon {

class LayoutDraft {
public:
  explicit LayoutDraft(GridPtr grid);
  explicit LayoutDraft(const Layout& model);

  // A dimension whose extent changes forgets its cuts and the boxes of its halo; the widths of a
  // halo stay. If the number of dimensions changes, each forgets all.
  void setShape(Shape shape);
  // If other axes split a dimension than before, it forgets their order, its cuts and the boxes of
  // its halo; the widths of a halo stay.
  void setProperties(Properties properties);
  // The functions that follow throw TENON_ERR_STATE before the shape is set, and TENON_ERR_ARG if
  // there is no such dimension.
  int rank() const;
  void setSplitOrder(int dim, std::vector<int> axes);
  void setCuts(int dim, std::vector<Index> cuts);
  // One element more at the end of a dimension, in the last part that has elements: points between
  // and around cells, on the cells' parts.
  void stagger(int dim);
  void setHaloWidths(int dim, Index low, Index high, Boundary lowMode, Boundary highMode);
  void setHaloBoxes(int dim, std::vector<Interval> boxes, Boundary lowMode, Boundary highMode);
  // Throws TENON_ERR_ARG if the dimension has no halo.
  void setHaloPartial(int dim, bool isPartial);

  // Throws TENON_ERR_STATE if shape or properties are missing, TENON_ERR_LAYOUT if the pieces do
  // not fit.
  Layout build() const;

private:
  struct Widths {
    Index low, high;
  };

  void checkDim(int dim) const;
  void forgetBoxes(std::size_t dim);
  void forgetParts(std::size_t dim);

  LayoutSpec spec_;
  std::vector<std::optional<Widths>> widths_;
  bool hasProperties_ = false;
};

} // namespace tenon
