// SPDX-License-Identifier: BSD-2-Clause
// A layout together with the communicator whose ranks its mesh names: what the handle TenonLayout
// points to.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/layout.hpp"
#include "sys/object.hpp"

namespace tenon {

class LayoutObject : public Object {
public:
  static constexpr const char* kClass = "Layout";
  LayoutObject(CommPtr comm, Layout layout)
      : Object(kClass), comm_(std::move(comm)), layout_(std::move(layout)) {}

  const CommPtr& comm() const noexcept { return comm_; }
  const Layout& layout() const noexcept { return layout_; }

private:
  CommPtr comm_;
  Layout layout_;
};

// The layout in which each rank holds the box that it passes; an empty box is legal. Collective.
Layout gatherBoxes(Communicator& comm, const Box& mine);

} // namespace tenon
