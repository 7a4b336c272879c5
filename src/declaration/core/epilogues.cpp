// SPDX-License-Identifier: BSD-2-Clause
// Finds elementwise functions that the preceding kernel can apply to its own output (kernel
// fusion). For y = relu(conv(x)):
//
//   unfused   v = conv(x);  y = relu(v)       v is written to memory and read again
//   fused     y = relu(conv(x))               v needs no memory
//
// The function is then the epilogue of the kernel. Only Apply is fused. Tangent and adjoint follow
// the unfused list, so a value that one of them reads is not fused away. applyPass() and the
// tangent and adjoint (pass.cpp) call epilogues() for the joined map list of a network. The
// functions are declared in pass.hpp.
#include "declaration/core/pass.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The numbers of the maps that read each value, and of those that write it.
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

// Whether the kernels that write a value can apply the function that reads it: either one kernel,
// or several kernels, each on its part of the value.
bool canApply(const MapList& list, const std::vector<int>& writers,
              const std::vector<int>& readers) {
  if (writers.empty() || readers.size() != 1)
    return false;
  const auto kernelOf = [&](int map) -> const KernelEntry* {
    const Map& entry = list.maps()[map];
    return entry.kind == Map::Kind::Kernel && !entry.fixed ? &list.kernels()[entry.object]
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
  const Neighbours neighbours(list, nodes);
  std::vector<int> functions(list.maps().size(), -1);
  for (std::size_t v = 0; v < list.values().size(); ++v) {
    const Value& value = list.values()[v];
    if (value.place != Value::Place::Own || value.isUserSupplied() || (keeps && value.saved) ||
        !canApply(list, neighbours.writers[v], neighbours.readers[v]))
      continue;
    for (const int map : neighbours.writers[v])
      functions[map] = neighbours.readers[v][0];
  }
  return functions;
}

} // namespace tenon
