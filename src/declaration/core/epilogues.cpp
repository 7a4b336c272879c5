// SPDX-License-Identifier: BSD-2-Clause
// Finds the functions of each element that the kernel before them applies to what it writes, as a
// convolution does with a rectifier: what is between is then neither written nor read again, and
// needs no memory. Derivatives know nothing of it, since they go by the list, so that a value which
// one of them reads stays.
#include "declaration/core/pass.hpp"

#include <algorithm>

namespace tenon {

namespace {

// By value: the numbers of the maps that read it, and of those that write it.
struct Neighbours {
  std::vector<std::vector<int>> readers, writers;

  Neighbours(const MapList& list, const InInference& nodes)
      : readers(list.values().size()), writers(readers) {
    for (int m = 0; m < static_cast<int>(list.maps().size()); ++m) {
      const Map& map = list.maps()[m];
      if (map.kind == Map::Kind::Source || !runs(map, nodes))
        continue;
      for (const ValueId x : map.x)
        readers[x].push_back(m);
      writers[map.y].push_back(m);
    }
  }
};

// Whether the kernels, each alone or each for its part, can apply the function that reads what they
// write.
bool canApply(const MapList& list, const std::vector<int>& writers,
              const std::vector<int>& readers) {
  if (writers.empty() || readers.size() != 1)
    return false;
  const auto kernelOf = [&](int map) -> const KernelEntry* {
    const Map& found = list.maps()[map];
    return found.kind == Map::Kind::Kernel && !found.fixed ? &list.kernels()[found.object]
                                                           : nullptr;
  };
  const KernelEntry* const function = kernelOf(readers[0]);
  return function && function->isFunction && !list.maps()[readers[0]].part &&
         std::ranges::all_of(writers, [&](int map) {
           const KernelEntry* const kernel = kernelOf(map);
           const bool isPart = list.maps()[map].part;
           return kernel && kernel->appliesFunction && (writers.size() == 1 || isPart) &&
                  (!isPart || list.appliesToParts());
         });
}

} // namespace

std::vector<int> epilogues(const MapList& list, const InInference& nodes, bool keeps) {
  const Neighbours of(list, nodes);
  std::vector<int> functions(list.maps().size(), -1);
  for (std::size_t v = 0; v < list.values().size(); ++v) {
    const Value& value = list.values()[v];
    if (value.place != Value::Place::Own || value.isUsers() || (keeps && value.saved) ||
        !canApply(list, of.writers[v], of.readers[v]))
      continue;
    for (const int map : of.writers[v])
      functions[map] = of.readers[v][0];
  }
  return functions;
}

} // namespace tenon
