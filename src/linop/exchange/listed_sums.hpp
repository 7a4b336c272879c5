// SPDX-License-Identifier: BSD-2-Clause
// MergedLists: the lists of element positions (Region::list) at which a rank adds what it receives,
// by the elements of its array, to let one kernel add the contributions of all ranks. An example
// are the nodes of a mesh that several neighbours have as ghosts: in the adjoint of the halo, each
// neighbour sends a list of contributions, and an element at a corner is in several lists.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/several_blocks.hpp"
#include "linop/exchange/part.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tenon {

class MergedLists {
public:
  // In device memory. The regions, whose lists have one dimension, get `sums` and their number.
  MergedLists(KernelContext& context, std::span<Region* const> regions);
  MergedLists(const MergedLists&) = delete;
  MergedLists& operator=(const MergedLists&) = delete;

private:
  ReadList<Index> targets_, begins_, entries_;
  functors::ListedSums sums_{};
};

// Merges the lists of each field of the direction that are added to the array without factors, in
// the order in which they are added. The result must exist as long as the direction is used.
std::vector<std::unique_ptr<MergedLists>> mergeLists(KernelContext& context, Direction& direction);

} // namespace tenon
