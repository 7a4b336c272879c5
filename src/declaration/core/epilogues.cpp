// SPDX-License-Identifier: BSD-2-Clause
// Finds the functions of each element that the kernel before them applies to what it writes, as a convolution does with
// a rectifier: what is between is then neither written nor read again, and needs no memory. Derivatives know nothing of
// it, since they go by the list, so that a value which one of them reads stays.
#include "declaration/core/pass.hpp"

namespace tenon {

namespace {

constexpr int kNone = -1, kSeveral = -2;

// By value: the map that reads it, and the one that writes it.
struct Neighbours {
  std::vector<int> reader, writer;

  Neighbours(const MapList& list, const InInference& nodes)
      : reader(list.values().size(), kNone), writer(reader) {
    for (std::size_t m = 0; m < list.maps().size(); ++m) {
      const Map& map = list.maps()[m];
      if (map.kind == Map::Kind::Source || !runs(map, nodes))
        continue;
      for (const ValueId x : map.x)
        note(reader[x], m);
      note(writer[map.y], m);
    }
  }

private:
  static void note(int& of, std::size_t map) {
    of = of == kNone ? static_cast<int>(map) : kSeveral;
  }
};

// Of one that writes all of a value by itself, and is differentiated.
const KernelEntry* wholeKernel(const MapList& list, int map) {
  if (map < 0)
    return nullptr;
  const Map& found = list.maps()[map];
  return found.kind == Map::Kind::Kernel && !found.part && !found.fixed
             ? &list.kernels()[found.object]
             : nullptr;
}

} // namespace

std::vector<int> epilogues(const MapList& list, const InInference& nodes, bool keeps) {
  const Neighbours of(list, nodes);
  std::vector<int> functions(list.maps().size(), kNone);
  for (std::size_t v = 0; v < list.values().size(); ++v) {
    const Value& value = list.values()[v];
    if (value.place != Value::Place::Own || value.isCallers() || (keeps && value.kept))
      continue;
    const KernelEntry *before = wholeKernel(list, of.writer[v]),
                      *behind = wholeKernel(list, of.reader[v]);
    if (before && behind && before->appliesFunction && behind->isFunction)
      functions[of.writer[v]] = of.reader[v];
  }
  return functions;
}

} // namespace tenon
