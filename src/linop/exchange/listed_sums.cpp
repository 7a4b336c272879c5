// SPDX-License-Identifier: BSD-2-Clause
// Sorts the entries of several lists by their target positions (listed_sums.hpp). A list has each
// position once, so the entries of a target are in the order of the lists.
#include "linop/exchange/listed_sums.hpp"

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

Index entriesOf(const Region& region) {
  return region.extent[static_cast<std::size_t>(region.list->dims.front())];
}

} // namespace

MergedLists::MergedLists(KernelContext& context, std::span<Region* const> regions) {
  std::vector<std::pair<Index, Index>> order; // position, and list and entry (ListedSums::entries)
  for (std::size_t number = 0; number < regions.size(); ++number) {
    const Region& region = *regions[number];
    for (Index i = 0; i < entriesOf(region); ++i)
      order.emplace_back(region.list->positions[static_cast<std::size_t>(region.first + i)],
                         static_cast<Index>(number) << 32 | i);
  }
  std::ranges::sort(order);
  std::vector<Index> targets, begins, entries;
  for (const auto& [target, entry] : order) {
    if (targets.empty() || targets.back() != target) {
      targets.push_back(target);
      begins.push_back(std::ssize(entries));
    }
    entries.push_back(entry);
  }
  begins.push_back(std::ssize(entries));
  const Index rows = std::ssize(targets);
  targets_ = {context, std::move(targets)};
  begins_ = {context, std::move(begins)};
  entries_ = {context, std::move(entries)};
  sums_ = {targets_.data(), begins_.data(), entries_.data(), rows};
  for (std::size_t number = 0; number < regions.size(); ++number) {
    regions[number]->sums = &sums_;
    regions[number]->numberInSums = static_cast<int>(number);
  }
}

std::vector<std::unique_ptr<MergedLists>> mergeLists(KernelContext& context, Direction& direction) {
  constexpr Index kMaxEntries = Index(1) << 31; // of a list: an index has 32 bits
  std::vector<std::unique_ptr<MergedLists>> merged;
  for (int field = 0; field < static_cast<int>(direction.targets.size()); ++field) {
    if (!direction.targets[static_cast<std::size_t>(field)].sums)
      continue;
    std::vector<Region*> regions;
    for (Part& part : direction.unpacks)
      for (Region& to : part.to)
        if (to.field == field && to.list && to.list->dims.size() == 1 && to.list->weights.empty() &&
            to.sign == 1 && entriesOf(to) < kMaxEntries)
          regions.push_back(&to);
    if (regions.size() > 1)
      merged.push_back(std::make_unique<MergedLists>(context, regions));
  }
  return merged;
}

} // namespace tenon
