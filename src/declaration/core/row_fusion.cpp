// SPDX-License-Identifier: BSD-2-Clause
// Fuses row kernels, as in message passing on a graph: y[r] = sum over edges e to node r of
// f(x[s(e)], ...), with source s(e) of edge e and a network f (a perceptron on each row). Three
// maps of the list become one, and the rows of edges need only cache, not memory:
//
//   taken     v[e] = x[s(e)]          copies rows of nodes to edges, by a list
//   network   w[e] = f(v[e])          computes on each row
//   summed    y[r] = sum of w[e]      adds the rows of the edges of a node
//
// The sum is included only if nothing else reads the rows before it. A residual connection, which
// adds copied rows to the result of f, is included as well.
//
// MapList::fuseRows() is called once per network before it runs, by rewriting.cpp on the host. It
// only changes the description; the module `layer` makes the fused kernel from it
// (mesh/edge_network.cpp). One object, such as a perceptron, can be called several times in a
// network. All its calls are fused, or none. MapList::fuseRows() is declared in map_list.hpp.
#include "declaration/core/map_list.hpp"

#include <algorithm>
#include <functional>

namespace tenon {

// Maps that one fused kernel replaces, by their numbers. `taken` gather rows; `network` computes on
// each row; the two maps `added`, if any, add its result and the rows of taken[contribution];
// `summed`, if not -1, sums the rows.
struct MapList::RowRun {
  std::vector<int> taken;
  int network = -1;
  std::vector<int> added = {};
  int contribution = -1; // index into `taken`
  int summed = -1;
};

class MapList::RowRunSearch {
public:
  explicit RowRunSearch(const MapList& list) : list_(list) {}

  // The calls of the next kernel to fuse: all of them can be fused with the same other kernels.
  // Empty if no kernel has such calls. A fused kernel is not found again, since fuse() changes its
  // row work.
  std::vector<RowRun> next() const {
    for (const Map& map : list_.maps()) {
      if (!works(map, RowWork::Each))
        continue;
      const std::vector<int> calls = mapsWith([&](const Map& other) {
        return other.kind == Map::Kind::Kernel && other.object == map.object;
      });
      std::vector<RowRun> runs;
      for (const int call : calls)
        if (const std::optional<RowRun> run = at(call))
          runs.push_back(*run);
      const auto isAsFirst = [&](const RowRun& run) {
        return kernelsOf(run) == kernelsOf(runs.front());
      };
      if (runs.size() == calls.size() && std::ranges::all_of(runs, isAsFirst))
        return runs;
    }
    return {};
  }

  // The kernels, instead of the maps, that a fused kernel replaces.
  FusedRows kernelsOf(const RowRun& run) const {
    FusedRows kernels{.taken = {}, .contribution = run.contribution, .given = kNoValue};
    for (const int map : run.taken)
      kernels.taken.push_back(list_.maps()[map].object);
    if (run.summed >= 0)
      kernels.summed = list_.maps()[run.summed].object;
    return kernels;
  }

private:
  // The maps around a call of a network that can be fused with it, or none.
  std::optional<RowRun> at(int network) const {
    const Map& map = list_.maps()[network];
    RowRun run{.taken = writersOf(map.x.front()), .network = network};
    if (!works(map, RowWork::Each) || !isOwn(map.y) || !areTaken(run.taken) ||
        !isReadByNetworks(map.x.front()))
      return {};
    findAddition(run);
    const ValueId given = run.added.empty() ? map.y : list_.maps()[run.added.front()].y;
    const std::vector<int> readers = readersOf(given);
    if (readers.size() == 1 && works(list_.maps()[readers[0]], RowWork::Summed))
      run.summed = readers[0];
    return run;
  }

  // Whether the map's kernel does this work with rows, in training and in inference.
  bool works(const Map& map, RowWork work) const {
    return map.kind == Map::Kind::Kernel && map.when == When::Always && !map.fixed &&
           list_.kernels()[map.object].rows == work;
  }
  // Whether the map is a conversion between equal layouts.
  bool isSameRows(const Map& map) const {
    if (map.kind != Map::Kind::Operator || map.when != When::Always)
      return false;
    const OperatorEntry& op = list_.operators()[map.object];
    return op.kind == OperatorKind::Conversion && op.from == op.to;
  }
  // Whether the value is in memory of the library, which need not exist after the fusion.
  bool isOwn(ValueId v) const {
    return list_.values()[v].place == Value::Place::Own && !list_.values()[v].isUserSupplied();
  }
  std::vector<int> mapsWith(const std::function<bool(const Map&)>& condition) const {
    std::vector<int> numbers;
    for (std::size_t m = 0; m < list_.maps().size(); ++m)
      if (list_.maps()[m].kind != Map::Kind::Source && condition(list_.maps()[m]))
        numbers.push_back(static_cast<int>(m));
    return numbers;
  }
  std::vector<int> writersOf(ValueId v) const {
    return mapsWith([=](const Map& map) { return map.y == v; });
  }
  std::vector<int> readersOf(ValueId v) const {
    return mapsWith([=](const Map& map) { return std::ranges::count(map.x, v) > 0; });
  }

  // Whether these maps copy rows, by a list of nodes (Taken) or one row per edge (Placed).
  bool areTaken(const std::vector<int>& writers) const {
    return !writers.empty() && std::ranges::all_of(writers, [&](int map) {
      return works(list_.maps()[map], RowWork::Taken) || works(list_.maps()[map], RowWork::Placed);
    });
  }
  // Whether only networks read the rows; several networks then gather the rows separately.
  bool isReadByNetworks(ValueId rows) const {
    return isOwn(rows) && std::ranges::all_of(readersOf(rows), [&](int map) {
             return works(list_.maps()[map], RowWork::Each);
           });
  }

  // Finds an addition of the network's output and rows that the network reads, if nothing else
  // reads the output.
  void findAddition(RowRun& run) const {
    const std::vector<int> readers = readersOf(list_.maps()[run.network].y);
    if (readers.size() != 1 || !isSameRows(list_.maps()[readers[0]]))
      return;
    const ValueId sum = list_.maps()[readers[0]].y;
    const std::vector<int> writers = writersOf(sum);
    if (writers.size() != 2 || !isOwn(sum))
      return;
    const int otherWriter = writers[0] == readers[0] ? writers[1] : writers[0];
    if (!isSameRows(list_.maps()[otherWriter]))
      return;
    const ValueId contribution = list_.maps()[otherWriter].x.front();
    for (std::size_t k = 0; k < run.taken.size(); ++k) {
      const ValueId x = list_.maps()[run.taken[k]].x.front();
      if (works(list_.maps()[run.taken[k]], RowWork::Placed) &&
          (x == contribution || list_.values()[x].sharesMemoryOf == contribution)) {
        run.added = writers;
        run.contribution = static_cast<int>(k);
      }
    }
  }

  const MapList& list_;
};

void MapList::fuseRows() {
  isRewritten_ = true;
  for (std::vector<RowRun> runs; !(runs = RowRunSearch(*this).next()).empty();)
    fuse(runs);
}

// Replaces the maps of each run by one map of the network's kernel, at the place of the last of
// them. Maps are erased at the end, because the runs hold their numbers.
void MapList::fuse(const std::vector<RowRun>& runs) {
  KernelEntry& kernel = kernels_[maps_[runs.front().network].object];
  kernel.fused = RowRunSearch(*this).kernelsOf(runs.front());
  kernel.fused->given = maps_[runs.front().network].y;
  kernel.anyStrides = false;
  kernel.rows = RowWork::Other;
  std::vector<int> replaced;
  for (const RowRun& run : runs) {
    const ValueId rows = maps_[run.network].x.front();
    std::vector<int> between = run.added;
    between.push_back(run.network);
    if (run.summed >= 0)
      between.push_back(run.summed);
    const int last = std::ranges::max(between);
    Map fused = maps_[run.network];
    fused.y = maps_[last].y;
    fused.x.clear();
    for (const int map : run.taken)
      fused.x.push_back(maps_[map].x.front());
    for (const int map : between)
      if (maps_[map].y != fused.y)
        values_[maps_[map].y].saved = false;
    for (const ValueId x : fused.x)
      values_[x].saved = values_[x].place != Value::Place::Constant;
    maps_[run.network].x.clear(); // no longer reads the rows
    maps_[last] = std::move(fused);
    std::erase(between, last);
    replaced.insert(replaced.end(), between.begin(), between.end());
    // The copies of rows are only erased if no other network reads them.
    if (std::ranges::none_of(maps_,
                             [&](const Map& map) { return std::ranges::count(map.x, rows) > 0; })) {
      values_[rows].saved = false;
      replaced.insert(replaced.end(), run.taken.begin(), run.taken.end());
    }
  }
  std::ranges::sort(replaced, std::greater<>());
  for (const int map : replaced)
    maps_.erase(maps_.begin() + map);
}

} // namespace tenon
