// SPDX-License-Identifier: BSD-2-Clause
// LayoutObject, the object of the handle TenonLayout: a layout with the communicator of its process
// grid. It is created complete, or as a draft that is specified and then set up; after that it is
// constant.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/layout/layout.hpp"
#include "geometry/layout/layout_draft.hpp"
#include "sys/errors/object.hpp"
#include "sys/options/settings.hpp"

namespace tenon {

class LayoutObject : public Object {
public:
  static constexpr const char* kClass = "Layout";
  LayoutObject(CommPtr comm, Layout layout)
      : Object(kClass), comm_(std::move(comm)), layout_(std::move(layout)) {}
  LayoutObject(CommPtr comm, GridPtr grid)
      : Object(kClass), comm_(std::move(comm)), draft_(std::move(grid)) {}
  LayoutObject(CommPtr comm, LayoutDraft draft)
      : Object(kClass), comm_(std::move(comm)), draft_(std::move(draft)) {}

  const CommPtr& comm() const noexcept { return comm_; }
  bool isSetUp() const noexcept { return layout_.has_value(); }
  // Throws TENON_ERR_STATE before setUp().
  const Layout& layout() const;
  // The number of dimensions, known once the shape is set. Throws TENON_ERR_STATE before that.
  int ndim() const { return layout_ ? layout_->ndim() : draft_->ndim(); }

  // Changes the draft by set(draft). `what` is the name of the setter, for errors. Throws
  // TENON_ERR_STATE after setUp().
  template <class Set>
  void specify(std::string_view what, Set&& set) {
    checkOpen();
    failedSets_.run(what, [&] { set(*draft_); });
  }
  // Completes the layout; no effect if it is complete. Collective.
  void setUp();
  std::string describe() const override;

private:
  void checkOpen() const;

  CommPtr comm_;
  std::optional<Layout> layout_;
  std::optional<LayoutDraft> draft_;
  FailedSets failedSets_;
};

// Makes the layout in which each rank has the box that it passes; a box can be empty. Without a
// shape, it is computed from the boxes. Collective.
Layout gatherBoxes(Communicator& comm, const Box& mine, const std::optional<Shape>& shape);

} // namespace tenon
