// SPDX-License-Identifier: BSD-2-Clause
// Measures the memory (heap) and processor time that one rank of many needs to set up a network,
// before it runs: the process grid, the layouts of all values and parameters, the schedules of all
// conversions that do not sum, and the reduction programs of all sums. Networks are ResNet-50 and a
// 3-D U-Net, with the batch, or batch and space, split over 64 to 98,304 ranks on nodes of 64. The
// program runs without MPI: it computes what the rank in the middle would.
//
//   tests/bench/at_scale [ranks...]
#include "bench/processor_time.hpp"
#include "declaration/core/network_file.hpp"
#include "declaration/core/types.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/schedule.hpp"
#include "reduction/reduction_groups.hpp"
#include "reduction/sum_plan.hpp"
#include "sys/files/part_file.hpp"

#include <fmt/format.h>

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace tenon::bench {
namespace {

constexpr Index kMaxBytes = Index(64) << 20; // of one rank
constexpr double kMaxSeconds = 5;
constexpr int kPerNode = 64; // ranks

struct Subject {
  std::string title, file;
  Shape sample; // the input without the batch
  int samples;  // on each part of the batch
  int parts;    // of each spatial dimension
};

const std::vector<Subject> kSubjects{
    {"ResNet-50, batch", "resnet50.json", {3, 224, 224}, 1, 1},
    {"ResNet-50, batch and space", "resnet50.json", {3, 224, 224}, 1, 2},
    {"3-D U-Net, batch", "unet3d.json", {3, 128, 128, 128}, 1, 1},
    {"3-D U-Net, batch and space", "unet3d.json", {3, 128, 128, 128}, 1, 4},
};

// The heap that a step of the set-up uses permanently, and its processor time.
struct Cost {
  Index bytes = 0;
  double seconds = 0;

  Cost& operator+=(const Cost& other) {
    bytes += other.bytes;
    seconds += other.seconds;
    return *this;
  }
};

Index heapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<Index>(heap.uordblks + heap.hblkhd);
}

template <class Make>
Cost costOf(Make&& make) {
  const Index heap = heapBytes();
  const double start = processorSeconds();
  make();
  const double seconds = processorSeconds() - start;
  return {heapBytes() - heap, seconds};
}

// All that a rank stores for one network, and the cost of each kind of it.
class Rank {
public:
  Rank(const Subject& subject, int ranks) : subject_(subject), ranks_(ranks) {}

  void run() {
    const std::string path = TENON_TEST_NETWORKS "/" + subject_.file;
    const LayerDescription network = parseNetwork(
        readWholeFile(path, "network file"), path, [](const std::string&) { return nullptr; }, 1);
    Index copies = 1; // parts of the space
    std::vector<int> extents = {ranks_};
    Shape shape = subject_.sample;
    Properties properties = {Property::shard(0)};
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (subject_.parts > 1) {
        copies *= subject_.parts;
        extents.push_back(subject_.parts);
        properties.push_back(Property::shard(static_cast<int>(d) + 1));
      }
    extents.front() = static_cast<int>(ranks_ / copies);
    shape.insert(shape.begin(), Index(subject_.samples) * extents.front());
    grid_ += costOf([&] { processes_ = Grid::make(extents); });
    layouts_ += costOf([&] {
      outputs_.push_back(Layout({.shape = shape, .grid = processes_, .properties = properties}));
    });
    for (const LayerDescription::Node& node : network.nodes)
      add(node);
    print();
  }

private:
  void add(const LayerDescription::Node& node) {
    const auto declaration = makeDeclaration(node.layer.type);
    for (const auto& [key, value] : node.layer.settings)
      declaration->set(key, value);
    Layouts reads;
    for (const int read : node.reads)
      reads.push_back(outputs_[read + 1]);
    layouts_ += costOf([&] {
      forms_.push_back(declaration->form(reads, {}));
      const Form& form = forms_.back();
      outputs_.push_back(form.output);
      maps_.push_back(declaration->maps(form, declaration->storageLayouts(form)));
    });
    for (const OperatorEntry& entry : maps_.back().operators())
      schedule(entry.from, entry.to);
    for (const ParameterForm& parameter : forms_.back().parameters)
      schedule(parameter.use.dual(), parameter.use);
  }

  void schedule(const Layout& from, const Layout& to) {
    if (from == to)
      return;
    if (const auto change = sumBetween(from, to))
      sums_ += costOf([&] { sum(from, to, *change); });
    else
      conversions_ += costOf([&] { schedules_.push_back(makeSchedule(from, to, ranks_ / 2)); });
  }

  // The same calls as ReductionOp makes for a sum.
  void sum(const Layout& from, const Layout& to, const SumChange& change) {
    ++sumCount_;
    const Layout &contributions = change.isTransposed ? to : from,
                 &sums = change.isTransposed ? from : to;
    const int me = ranks_ / 2;
    const Hierarchy nodes = {ranks_ / kPerNode, kPerNode};
    const Index bytes = mostElements(contributions) * Index(sizeof(float));
    const auto best =
        cheapestPlan(levelsOfSum(from.grid(), change, nodes, withAssumedNodes({}, nodes)),
                     static_cast<double>(bytes));
    if (!best)
      return;
    const std::vector<int> group = reductionGroupOf(from.grid(), change.axes, me, best->plan.order);
    const int member = static_cast<int>(std::find(group.begin(), group.end(), me) - group.begin());
    const SummedArray array = summedArray(contributions, sums, change, me);
    for (const ReductionStep& step : reductionSteps(best->plan, member, array.cuts, bytes))
      schedules_.push_back(reductionSchedule(step, member, group, array.lines));
    plans_.push_back(best->plan);
  }

  void print() const {
    Cost all = grid_;
    all += layouts_;
    all += conversions_;
    all += sums_;
    fmt::print("| {:<26} | {:>6} |", subject_.title, ranks_);
    for (const Cost& cost : {grid_, layouts_, conversions_, sums_, all})
      fmt::print(" {:>8.2f} {:>7.3f} |", static_cast<double>(cost.bytes) / (1 << 20), cost.seconds);
    const bool isMet = all.bytes <= kMaxBytes && all.seconds <= kMaxSeconds;
    fmt::print(" {:>4} | {:<7} |\n", sumCount_, isMet ? "met" : "not met");
    std::fflush(stdout);
  }

  Subject subject_;
  int ranks_;
  GridPtr processes_;
  Layouts outputs_; // of the network's input, and of each node
  std::vector<Form> forms_;
  std::vector<MapList> maps_;
  std::vector<Schedule> schedules_;
  std::vector<ReductionPlan> plans_;
  int sumCount_ = 0;
  Cost grid_, layouts_, conversions_, sums_;
};

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i)
    counts.push_back(std::atoi(argv[i]));
  if (counts.empty())
    counts = {64, 1024, 8192, 65536, 98304};
  fmt::print("MiB of heap and s of processor time of one rank; targets {} MiB and {} s in all\n",
             tenon::bench::kMaxBytes >> 20, tenon::bench::kMaxSeconds);
  fmt::print("| {:<26} | {:>6} | {:^16} | {:^16} | {:^16} | {:^16} | {:^16} | sums | target  |\n",
             "network, split", "ranks", "process grid", "layouts", "conversions", "sums", "all");
  for (const auto& subject : tenon::bench::kSubjects)
    for (const int ranks : counts)
      tenon::bench::Rank(subject, ranks).run();
}
