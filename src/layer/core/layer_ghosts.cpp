// SPDX-License-Identifier: BSD-2-Clause
// Looks for NaNs in ghost cells (halo cells) that the caller has filled (setting "check_ghosts"). A
// sliding window reads all ghost cells of its box, including corners and cells outside the domain,
// some of which solvers often leave unset. In two dimensions, with a halo of one cell:
//
//   C h h C     h, C: ghost cells, C the corners
//   h o o h     o: owned cells, which are not checked
//   C h h C
//
// Layer::apply() calls checkGhosts() on each rank before the layer reads its inputs; it sends no
// message. Layer::checkGhosts() is declared in layer.hpp.
#include "dtensor/measure.hpp"
#include "layer/core/layer.hpp"
#include "layer/networks/path.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

std::string boxText(const Box& box) {
  std::vector<std::string> intervals;
  for (const Interval& interval : box)
    intervals.push_back(fmt::format("{}:{}", interval.begin, interval.end));
  return fmt::format("[{}]", fmt::join(intervals, ","));
}

} // namespace

// In a network, each node that reads only inputs of the network checks them.
void Layer::checkGhosts(Inputs x) const {
  for (const Node& node : nodes_) {
    std::vector<const DTensor*> readInputs;
    for (const int value : node.reads)
      if (value < inputCount())
        readInputs.push_back(x[static_cast<std::size_t>(value)]);
    if (readInputs.size() != node.reads.size())
      continue;
    try {
      node.layer->checkGhosts(Inputs(readInputs.data(), readInputs.size()));
    } catch (const Error& error) {
      rethrowWithPlace(placeIn(title(), *this, *node.layer), *node.layer, error);
    }
  }
  const auto hasHalos = [](const DTensor* tensor) { return tensor->layout().hasHalos(); };
  if (!nodes_.empty() || std::ranges::none_of(x, hasHalos))
    return;
  Layouts inputs;
  for (const DTensor* tensor : x)
    inputs.push_back(tensor->layout());
  for (const Entry& entry : setups_)
    if (entry.inputs == inputs)
      checkGhosts(
          x, form(inputs, choiceIn(entry.assignment.get()), /*inPieces=*/false, entry.computedHalo)
                 .uses);
}

void Layer::checkGhosts(Inputs x, const Layouts& uses) const {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Layout& input = x[i]->layout();
    if (!input.hasHalos() || !(input.grid() == uses[i].grid()))
      continue;
    // A layer can compute cells outside the domain itself, from other elements of the input.
    // Therefore only the cells that the input's layout contains are checked: `read` is the box that
    // the layer reads, restricted to them.
    Box read = uses[i].boxOfRank(comm_->rank());
    const Box heldBox = input.boxOfRank(comm_->rank());
    for (std::size_t d = 0; d < read.size(); ++d)
      read[d] = intersect(read[d], heldBox[d]);
    const Box owned = uses[i].withoutHalos().boxOfRank(comm_->rank());
    if (const auto cell = firstNaN(*x[i], read, owned))
      throw Error(
          TENON_ERR_NOT_FINITE,
          fmt::format("a ghost cell that {} reads is not a number: element [{}] of input {} on "
                      "rank {}, whose own elements are {}; every ghost cell that a window "
                      "covers is read, corners and those outside the domain included: fill it",
                      title(), fmt::join(*cell, ","), i, comm_->rank(), boxText(owned)));
  }
}

} // namespace tenon
