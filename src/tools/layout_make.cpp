// SPDX-License-Identifier: BSD-2-Clause
// From a specification to the library's object, and to text.
#include "tools/layout_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::tools {

namespace {

constexpr const char* kModes[] = {"none", "zero", "periodic", "reflect", "replicate", "values"};

void setMargin(TenonLayout layout, int dim, const MarginSpec& margin) {
  if (margin.widths) {
    require(TenonLayoutSetHalo(layout, dim, margin.widths->begin, margin.widths->end, margin.low,
                               margin.high));
  } else {
    Indices low, high;
    for (const Interval& box : margin.boxes) {
      low.push_back(box.begin);
      high.push_back(box.end);
    }
    require(TenonLayoutSetHaloBoxes(layout, dim, static_cast<int>(low.size()), low.data(),
                                    high.data(), margin.low, margin.high));
  }
  require(TenonLayoutSetHaloPartial(layout, dim, margin.addends));
}

void set(TenonLayout layout, const LayoutSpec& spec) {
  require(TenonLayoutSetShape(layout, spec.ndim(), spec.shape.data()));
  require(TenonLayoutSetProperties(layout, spec.propertyText().c_str()));
  for (int d = 0; d < spec.ndim(); ++d) {
    const std::vector<int>& axes = spec.splitAxes[d];
    if (axes != axesThatSplit(spec, d))
      require(TenonLayoutSetSplitOrder(layout, d, static_cast<int>(axes.size()), axes.data()));
    if (spec.cuts[d] != balancedCuts(spec, d))
      require(TenonLayoutSetCuts(layout, d, static_cast<int>(spec.cuts[d].size()),
                                 spec.cuts[d].data()));
    if (const auto& margin = spec.margins[d])
      setMargin(layout, d, *margin);
  }
}

Box boxFrom(const Indices& low, const Indices& high) {
  Box box;
  for (std::size_t d = 0; d < low.size(); ++d)
    box.push_back({low[d], high[d]});
  return box;
}

void compare(const char* what, const Box& got, const Box& expected) {
  if (cellsOf(got) == 0 && cellsOf(expected) == 0)
    return;
  if (got != expected)
    throw std::runtime_error(
        fmt::format("{} is {}, expected {}", what, boxText(got), boxText(expected)));
}

std::string marginText(int dim, const MarginSpec& m) {
  std::string boxes;
  for (const Interval& box : m.boxes)
    boxes += boxText({box});
  return fmt::format(" halo {}: {} {}|{}{}", dim, boxes, kModes[m.low], kModes[m.high],
                     m.addends ? " partial sums" : "");
}

} // namespace

Layout makeLayout(MPI_Comm comm, const LayoutSpec& spec) {
  Partition partition;
  require(TenonPartitionCreateFromRanks(comm, spec.mesh.axes(), spec.mesh.extents.data(),
                                        spec.mesh.ranks.data(), partition.out()));
  Layout layout;
  require(TenonLayoutCreate(partition, layout.out()));
  set(layout, spec);
  require(TenonLayoutSetUp(layout));
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int position = spec.mesh.positionOf(rank);
  Indices low(spec.shape.size()), high(spec.shape.size());
  require(TenonLayoutGetBox(layout, low.data(), high.data()));
  compare("the box of the layout", boxFrom(low, high), spec.box(position));
  require(TenonLayoutGetOwnedBox(layout, low.data(), high.data()));
  compare("the owned box of the layout", boxFrom(low, high), spec.ownedBox(position));
  return layout;
}

std::string listText(const Indices& list) {
  return fmt::format("({})", fmt::join(list, ","));
}

std::string boxText(const Box& box) {
  std::string text;
  for (const Interval& i : box)
    text += fmt::format("{}[{},{})", text.empty() ? "" : "x", i.begin, i.end);
  return text;
}

std::string LayoutSpec::propertyText() const {
  std::string text;
  for (const Property& p : properties) {
    text += text.empty() ? "" : ",";
    text += p.letter;
    if (p.letter == 'S')
      text += std::to_string(p.dim);
  }
  return text;
}

std::string LayoutSpec::text() const {
  std::string text =
      fmt::format("[{}] {} on process grid {} (ranks {})", fmt::join(shape, ","), propertyText(),
                  fmt::join(mesh.extents, "x"), fmt::join(mesh.ranks, ","));
  for (int d = 0; d < ndim(); ++d) {
    if (splitAxes[d] != axesThatSplit(*this, d))
      text += fmt::format(" order {}: {}", d, fmt::join(splitAxes[d], ","));
    if (cuts[d] != balancedCuts(*this, d))
      text += fmt::format(" cuts {}: {}", d, fmt::join(cuts[d], ","));
    if (const auto& margin = margins[d])
      text += marginText(d, *margin);
  }
  return text;
}

} // namespace tenon::tools
