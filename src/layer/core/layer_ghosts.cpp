// SPDX-License-Identifier: BSD-2-Clause
// Looks for NaNs in ghost cells that the caller has filled, before windows read them (setting
// "check_ghosts"). All ghost cells of a window's box are read, including corners and cells past a
// wall, some of which solvers often leave unset.
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

// A network checks its inputs in the nodes that read them.
void Layer::checkGhosts(Inputs x) const {
  for (const Node& node : nodes_) {
    std::vector<const DTensor*> readBox;
    for (const int value : node.reads)
      if (value < inputCount())
        readBox.push_back(x[static_cast<std::size_t>(value)]);
    if (readBox.size() != node.reads.size())
      continue;
    try {
      node.layer->checkGhosts(Inputs(readBox.data(), readBox.size()));
    } catch (const Error& error) {
      rethrowWithPlace(*this, *node.layer, error);
    }
  }
  const auto hasHalos = [](const DTensor* tensor) { return tensor->layout().hasHalos(); };
  if (!nodes_.empty() || std::ranges::none_of(x, hasHalos))
    return;
  Layouts inputs;
  for (const DTensor* tensor : x)
    inputs.push_back(tensor->layout());
  for (const Entry& entry : setups_)
    if (entry.setup->inputs() == inputs)
      checkGhosts(x, form(inputs, false, entry.computedHalo).uses);
}

void Layer::checkGhosts(Inputs x, const Layouts& uses) const {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Layout& input = x[i]->layout();
    if (!input.hasHalos() || !(input.grid() == uses[i].grid()))
      continue;
    // Elements outside the domain can be made from those of the input: check only the input's own.
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
