// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/axis_merge.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Whether b comes right after a in the order of the dimension that they split, if they do.
bool follows(const Layout& layout, int a, int b) {
  if (!layout.property(a).isShard())
    return true;
  const std::vector<int>& order = layout.splitAxes(layout.property(a).dim);
  const auto next = std::find(order.begin(), order.end(), a) + 1;
  return next != order.end() && *next == b;
}

bool mayJoin(const Layout& layout, int a, int b) {
  return layout.property(a) == layout.property(b) && follows(layout, a, b);
}

using Groups = std::vector<std::vector<int>>;

// Joins a group to one that it follows; false if there is none.
bool joinTwo(Groups& groups, const Layout& from, const Layout& to) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const int last = groups[i].back(), first = groups[j].front();
      if (i == j || !mayJoin(from, last, first) || !mayJoin(to, last, first))
        continue;
      groups[i].insert(groups[i].end(), groups[j].begin(), groups[j].end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  return false;
}

MeshPtr meshOf(const Mesh& mesh, const Groups& groups) {
  std::vector<int> extents, ranks(mesh.size());
  for (const std::vector<int>& axes : groups)
    extents.push_back(mesh.extentOf(axes));
  for (int position = 0; position < mesh.size(); ++position) {
    int there = 0;
    for (std::size_t i = 0; i < groups.size(); ++i)
      there = there * extents[i] + mesh.coordinateOn(position, groups[i]);
    ranks[there] = mesh.rank(position);
  }
  return Mesh::make(std::move(extents), std::move(ranks));
}

} // namespace

AxisMerge::AxisMerge(const Layout& from, const Layout& to) : old_(from.meshPtr()) {
  for (int axis = 0; axis < old_->axes(); ++axis)
    if (!old_->isTrivial(axis))
      groups_.push_back({axis});
  while (joinTwo(groups_, from, to)) {
  }
  merged_ = meshOf(*old_, groups_);
}

Layout AxisMerge::merged(const Layout& layout) const {
  LayoutSpec spec = layout.spec();
  spec.mesh = merged_;
  spec.properties.clear();
  for (std::vector<int>& order : spec.splitAxes)
    order.clear();
  for (const std::vector<int>& axes : groups_)
    spec.properties.push_back(layout.property(axes.front()));
  for (int d = 0; d < layout.rank(); ++d)
    for (int axis : layout.splitAxes(d))
      for (std::size_t i = 0; i < groups_.size(); ++i)
        if (groups_[i].front() == axis)
          spec.splitAxes[d].push_back(static_cast<int>(i));
  return Layout(std::move(spec));
}

Layout AxisMerge::unmerged(const Layout& layout) const {
  LayoutSpec spec = layout.spec();
  spec.mesh = old_;
  spec.properties.resize(old_->axes());
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (int axis : groups_[i])
      spec.properties[axis] = layout.property(static_cast<int>(i));
  for (int d = 0; d < layout.rank(); ++d) {
    spec.splitAxes[d].clear();
    for (int one : layout.splitAxes(d))
      spec.splitAxes[d].insert(spec.splitAxes[d].end(), groups_[one].begin(), groups_[one].end());
  }
  return Layout(std::move(spec));
}

} // namespace tenon
