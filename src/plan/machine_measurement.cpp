// SPDX-License-Identifier: BSD-2-Clause
// Measures a job's links and kernels by running the library's own conversions (exchanges of a
// distributed tensor between ranks) and layers, and fits to these times the rates by which plans
// predict: latency and bandwidth of each level of the machine (socket, node, ...), and for each
// kind of kernel the time per operation, byte, row and column. All functions that measure are
// collective.
//
//   measuredMachine()     the whole; below it, from top to bottom of the file:
//   leastSeconds()        the time of one call
//   measuredKernels()     layers of several types and shapes, on each rank separately
//   LinkMeasurement       moves of data between pairs of ranks across a level
//
// All ranks run each measurement at the same time, as in a program: memory and links are shared,
// and a single rank would find rates that no rank has in a run.
#include "plan/machine_measurement.hpp"

#include "comm/communicator.hpp"
#include "comm/machine_object.hpp"
#include "comm/mpi.hpp"
#include "compile/prices/kernel_cost.hpp"
#include "dtensor/fill.hpp"
#include "kernels/base/context.hpp"
#include "layer/core/layer_types.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "machine/kernel_rates.hpp"
#include "machine/price.hpp"
#include "plan/calibration.hpp"
#include "sys/data_type.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tenon {

// Collective. The seconds of a call that all ranks make together, on the slowest rank, in the
// fastest round: other users of the machine make rounds slower, never faster. A round repeats the
// call until it lasts longer than a clock tick and a barrier, and then waits for the stream of the
// context if it is on a device.

double leastSeconds(const Communicator& comm, int rounds, const KernelContext& at,
                    const std::function<void()>& call);

namespace {

// Target duration of a round: long compared with a barrier, which takes tens of microseconds.
constexpr double kRound = 500e-6;
constexpr double kMaxCalls = 1000; // of a round

// The seconds of one of `calls` calls in a row, on the slowest rank.
double secondsOfACall(const Communicator& comm, int calls, const KernelContext& at,
                      const std::function<void()>& call) {
  checkMpi(MPI_Barrier(comm.mpi()), "MPI_Barrier");
  const Stopwatch watch;
  for (int i = 0; i < calls; ++i)
    call();
  if (at.space() == Space::Device)
    at.stream().synchronise();
  const double ownSeconds = watch.seconds();
  double slowest = ownSeconds;
  checkMpi(MPI_Allreduce(&ownSeconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm.mpi()),
           "MPI_Allreduce");
  return slowest / calls;
}

} // namespace

double leastSeconds(const Communicator& comm, int rounds, const KernelContext& at,
                    const std::function<void()>& call) {
  secondsOfACall(comm, 1, at, call); // the first call can allocate
  const double once = secondsOfACall(comm, 1, at, call);
  const int calls = static_cast<int>(std::clamp(kRound / once, 1.0, kMaxCalls));
  double least = once;
  for (int round = 0; round < rounds; ++round)
    least = std::min(least, secondsOfACall(comm, calls, at, call));
  return least;
}

// Collective. Measures kernels of several types of layers in a space, on all ranks at once. For
// each kind the times per unit of work (operation, byte, row, column) are fitted to all measured
// shapes.

// The times are those of the slowest rank.
KernelRates measuredKernels(const Communicator& comm, Space space, int rounds);

namespace {

constexpr std::uint64_t kSeed = 1;
// Least share of a time that remains after the time of the call, or of Apply, is subtracted: a
// difference of two measured times can be negative.
constexpr double kMinShare = 0.1;

// A layer that is measured.
struct Subject {
  std::string type;
  std::vector<std::pair<std::string, SettingValue>> settings;
  Shape input;
};

Subject convolution(Index in, Index out, Index kernel, Index stride, Index pixels, Index batch) {
  const std::vector<Index> window = {kernel, kernel}, padding = {kernel / 2, kernel / 2},
                           strides = {stride, stride};
  return {"conv",
          {{"in_channels", in},
           {"out_channels", out},
           {"kernel", window},
           {"stride", strides},
           {"padding", padding}},
          {batch, in, pixels, pixels}};
}

Subject affine(Index inputs, Index outputs, Index batch) {
  return {"affine", {{"inputs", inputs}, {"outputs", outputs}}, {batch, inputs}};
}

Subject pooling(const char* type, Index kernel, Index stride, Shape input) {
  return {type,
          {{"kernel", std::vector<Index>{kernel, kernel}},
           {"stride", std::vector<Index>{stride, stride}}},
          std::move(input)};
}

// {inputs, outputs, kernel, stride, pixels, batch}
constexpr Index kConvolutions[][6] = {
    {1, 4, 3, 1, 64, 16},  {1, 8, 5, 1, 40, 8},    {1, 16, 3, 1, 12, 64}, {2, 12, 7, 1, 24, 8},
    {3, 8, 5, 1, 10, 64},  {4, 8, 3, 1, 32, 32},   {4, 24, 3, 1, 6, 128}, {8, 4, 3, 1, 9, 64},
    {8, 8, 5, 1, 16, 32},  {10, 20, 3, 1, 8, 64},  {12, 6, 5, 1, 6, 64},  {16, 16, 3, 1, 16, 32},
    {24, 8, 3, 1, 13, 32}, {32, 32, 3, 1, 7, 32},  {64, 64, 3, 1, 8, 8},  {16, 64, 3, 1, 20, 8},
    {1, 8, 3, 2, 40, 32},  {3, 16, 5, 2, 32, 16},  {3, 6, 7, 2, 48, 8},   {4, 12, 3, 2, 12, 64},
    {8, 16, 3, 2, 20, 32}, {16, 32, 3, 2, 16, 16}, {32, 8, 5, 2, 10, 16}, {48, 64, 3, 2, 14, 8},
    {1, 8, 1, 1, 32, 64},  {4, 16, 1, 1, 16, 64},  {8, 4, 1, 1, 24, 64},  {16, 16, 1, 1, 12, 64},
    {32, 64, 1, 1, 8, 32}, {64, 32, 1, 1, 14, 16}};
// {inputs, outputs, batch}
constexpr Index kAffine[][3] = {{16, 16, 64},     {64, 64, 64},  {256, 256, 64},
                                {1024, 1024, 64}, {512, 16, 64}, {16, 512, 64}};
// {kernel, stride}
constexpr Index kPooling[][2] = {{2, 2}, {3, 3}, {2, 1}, {3, 2}, {5, 2}};

// Few and many channels, small and large windows, short and long rows: enough shapes of each kind
// to distinguish the times per operation, byte, row and column. Large activations do not fit into
// the private caches of a core, and small ones do.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const auto& [in, out, kernel, stride, pixels, batch] : kConvolutions)
    all.push_back(convolution(in, out, kernel, stride, pixels, batch));
  for (const auto& [inputs, outputs, batch] : kAffine)
    all.push_back(affine(inputs, outputs, batch));
  const Shape large = {64, 8, 32, 32}, small = {32, 16, 8, 8};
  for (const char* type : {"relu", "tanh", "sigmoid", "flatten", "dropout"})
    for (const Shape& input : {large, small})
      all.push_back({type, {}, input});
  for (const char* type : {"maxpooling", "averagepooling"})
    for (const Shape& input : {large, small})
      for (const auto& [kernel, stride] : kPooling)
        all.push_back(pooling(type, kernel, stride, input));
  all.push_back({"batchnorm", {{"channels", Index(8)}}, large});
  return all;
}

// A layer on one process, with the tensors for its calls. Ranks measure the same layer side by
// side, without messages.
class Measured {
public:
  Measured(const Subject& subject, TenonDataType type, Space space)
      : self_(Communicator::of(MPI_COMM_SELF)), layer_(makeLayer(self_, subject.type)),
        elementBytes_(dataTypeSize(type)) {
    layer_->setDataType(type);
    layer_->setSpace(space);
    for (const auto& [name, value] : subject.settings)
      layer_->set(name, value);
    const Layout input(
        {.shape = subject.input, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
    layer_->setUp(input);
    layer_->initialize(kSeed, 0);
    const Layout& output = layer_->outputLayout(input);
    x_ = makeRef<DTensor>(self_, input, type, space);
    y_ = makeRef<DTensor>(self_, output, type, space);
    dy_ = makeRef<DTensor>(self_, output.dual(), type, space);
    dx_ = makeRef<DTensor>(self_, input.dual(), type, space);
    fillUniform(*x_, kSeed, 1, -1, 1);
    fillUniform(*dy_, kSeed, 2, -1, 1);
  }

  void apply() {
    layer_->apply(*x_, *y_);
    // Without an adjoint the saved activations would fill the stack.
    layer_->forgetLast();
  }
  void applyAndAdjoint(bool wantsInput) {
    layer_->apply(*x_, *y_);
    layer_->applyAdjoint(*dy_, wantsInput ? dx_.get() : nullptr);
  }
  KernelCost cost(bool wantsInput) const {
    return kernelCost(layer_->declaration(), layer_->form(layer_->inputLayouts()), wantsInput,
                      elementBytes_, {});
  }
  std::string kind() const { return layer_->declaration().kernelKind(); }
  bool hasParameters() const { return !layer_->form(layer_->inputLayouts()).parameters.empty(); }

private:
  CommPtr self_;
  Ref<Layer> layer_;
  Index elementBytes_;
  Ref<DTensor> x_, y_, dy_, dx_;
};

// Measured times of kernels by kind and pass, and the fitted times per unit of work.
class Fit {
public:
  void add(const std::string& kind, const KernelWork& work, double seconds) {
    sums_[{kind, work.pass}].push_back(
        {.parts = {work.flops, work.bytes, work.rows, work.columns}, .seconds = seconds});
  }
  void addTo(std::vector<KernelTimes>& all, Index elementBytes) const {
    for (const auto& [name, sums] : sums_)
      if (const auto times = leastRatios(sums))
        all.push_back({.kind = name.first,
                       .pass = name.second,
                       .elementBytes = elementBytes,
                       .flop = (*times)[0],
                       .byte = (*times)[1],
                       .row = (*times)[2],
                       .column = (*times)[3]});
  }

private:
  std::map<std::pair<std::string, KernelPass>, std::vector<MeasuredSum<4>>> sums_;
};

// The overhead of a call: the time of a kernel on a few elements.
double secondsOfACall(const Communicator& comm, const KernelContext& at, int rounds) {
  Measured few({"relu", {}, {1, 8}}, TENON_FLOAT64, at.space());
  return leastSeconds(comm, rounds, at, [&] { few.apply(); });
}

} // namespace

KernelRates measuredKernels(const Communicator& comm, Space space, int rounds) {
  const KernelContextPtr at = contextOf(Communicator::of(MPI_COMM_SELF), space);
  const auto timed = [&](const std::function<void()>& call) {
    return leastSeconds(comm, rounds, *at, call);
  };
  KernelRates rates{.flops = 0, .memory = 0, .call = secondsOfACall(comm, *at, rounds)};
  for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
    Fit fit;
    for (const Subject& subject : subjects()) {
      Measured one(subject, type, space);
      const auto add = [&](const KernelWork& work, double took) {
        const double seconds = std::max(took - rates.call, kMinShare * took);
        fit.add(one.kind(), work, seconds);
        rates.flops = std::max(rates.flops, work.flops / seconds);
        // A rectifier hardly computes, so its time is that of memory accesses.
        if (subject.type == "relu")
          rates.memory = std::max(rates.memory, work.bytes / seconds);
      };
      const double apply = timed([&] { one.apply(); });
      add(one.cost(/*wantsInput=*/true).apply, apply);
      for (const bool wantsInput : {true, false})
        if (wantsInput || one.hasParameters()) {
          // An adjoint needs its Apply, whose known time is subtracted.
          const double both = timed([&] { one.applyAndAdjoint(wantsInput); });
          add(one.cost(wantsInput).adjoint, std::max(both - apply, kMinShare * both));
        }
    }
    fit.addTo(rates.measured, dataTypeSize(type));
  }
  return rates;
}

namespace {

// Bytes per rank, from sizes where latency dominates to sizes where bandwidth does.
constexpr Index kMoved[] = {1 << 10, 16 << 10, 256 << 10, 4 << 20};
constexpr Index kElementBytes = 8; // of float64
constexpr Index kColumns = 64;     // of the matrix that a pair of ranks moves
constexpr int kCopying = 2;        // index of the part of a price that copies take
// Largest ratio between the bandwidths of transfers and of copies.
constexpr double kMaxOfCopies = 100;
// The rates decide which algorithm of a move is the cheapest, and hence what is fitted; after a few
// fits neither changes.
constexpr int kFits = 3;

// Pairs of ranks on both sides of a level, as a grid with one pair per row. All pairs communicate
// at once and share the links of their units, as the ranks of a job do. If the number of units is
// odd, the last one has no partner.
GridPtr pairsAcross(const JoinedPlaces& found, int level) {
  const Index each = found.machine.devicesIn(level), units = found.machine.levels()[level].size;
  std::vector<int> ranks;
  for (Index device = 0; device < found.machine.devices(); ++device) {
    const Index unit = device / each % units;
    if (unit % 2 == 0 && unit + 1 < units)
      for (const Index one : {device, device + each})
        ranks.push_back(static_cast<int>(found.order[one]));
  }
  const int pairs = static_cast<int>(ranks.size()) / 2;
  return std::make_shared<const Grid>(std::vector<int>{pairs, 2}, std::move(ranks));
}

struct PairMove {
  Layout from, to;
};

// A transpose, a reduction and a gather within each pair: for the same bytes they differ in the
// data sent, copied and added.
std::vector<PairMove> pairMoves(const GridPtr& pairs, Index bytes) {
  const Index rows = std::max<Index>(2, bytes / kElementBytes / kColumns);
  const auto layout = [&](const char* property) {
    return Layout({.shape = {pairs->extent(0), rows, kColumns},
                   .grid = pairs,
                   .properties = parseProperties(property)});
  };
  const Layout rowsSplit = layout("S0,S1"), columnsSplit = layout("S0,S2"), all = layout("S0,B"),
               contributions = layout("S0,P");
  return {{rowsSplit, columnsSplit}, {contributions, all}, {rowsSplit, all}};
}

// The times of moves within pairs of ranks across one level, and the link rates that explain them.
class LinkMeasurement {
public:
  LinkMeasurement(const CommPtr& comm, const GridPtr& pairs, Space space, int rounds) {
    const MovementPolicy policy = MovementPolicy::fromOptions(space);
    for (const Index bytes : kMoved)
      for (const PairMove& move : pairMoves(pairs, bytes)) {
        const LinearOpRef op = makeConversion(comm, move.from, move.to, TENON_FLOAT64, policy);
        DTensor x(comm, move.from, TENON_FLOAT64, space), y(comm, move.to, TENON_FLOAT64, space);
        fillConstant(x, 1);
        moves_.push_back(move);
        seconds_.push_back(leastSeconds(*comm, rounds, x.context(), [&] { op->apply(x, y); }));
      }
  }

  // `keepsCopies`: the rate of copies is known and not fitted. The parts of a price are latency,
  // transfer and copying.
  LinkRates fitted(LinkRates rates, bool keepsCopies) const {
    for (int fit = 0; fit < kFits; ++fit) {
      std::vector<MeasuredMove> measured;
      for (std::size_t m = 0; m < moves_.size(); ++m)
        measured.push_back({.parts = partsOfPrice(rates,
                                                  [&](const LinkRates& some) {
                                                    return priceOfMove(moves_[m].from, moves_[m].to,
                                                                       kElementBytes, some,
                                                                       Sampling::First)
                                                        .seconds;
                                                  }),
                            .seconds = seconds_[m]});
      // Copies are local to a rank, so their rate is fitted on the innermost level; on other levels
      // their known time is subtracted, of which a tenth of the time remains at least (as with
      // kMinShare).
      if (keepsCopies)
        for (MeasuredMove& move : measured) {
          move.seconds = std::max(move.seconds - move.parts[kCopying], move.seconds / 10);
          move.parts[kCopying] = 0;
        }
      rates = scaledRates(rates, fittedFactors(measured));
      // If copies explain all of the time, transfers take none, but the rates of a machine
      // description are finite.
      rates.bandwidth = std::min(rates.bandwidth, kMaxOfCopies * rates.copyBandwidth);
      rates.copyBandwidth = std::min(rates.copyBandwidth, kMaxOfCopies * rates.bandwidth);
    }
    return rates;
  }

private:
  std::vector<PairMove> moves_;
  std::vector<double> seconds_;
};

Link linkOf(const Machine& machine, int level, const LinkRates& rates) {
  const std::string& unit = machine.levels()[level].name;
  return {.name = fmt::format("between units of {}", unit),
          .level = level,
          .units = 1,
          // The fitted bandwidth is that of one rank while all ranks use the link; the link has the
          // total of all ranks in its unit.
          .bandwidth = rates.bandwidth * static_cast<double>(machine.devicesIn(level)),
          .latency = rates.latency,
          .rules = {{LinkRule::Leaving}}};
}

} // namespace

// Measures the levels from the innermost, on which the rates of copies are fitted, to the
// outermost.
JoinedPlaces measuredMachine(const CommPtr& comm, Space space, int rounds) {
  if (rounds < 1)
    throw Error(TENON_ERR_ARG, fmt::format("rounds is {}; it must be >= 1", rounds));
  JoinedPlaces found = findJobMachine(*comm);
  Machine measured = Machine::make("this job", found.machine.levels());
  found.machine = measured;
  MachineRates rates;
  LinkRates links;
  bool isInnermost = true;
  for (int level = static_cast<int>(measured.levels().size()); level-- > 0;) {
    // A level of one unit has no links.
    if (measured.levels()[level].size == 1)
      continue;
    links = LinkMeasurement(comm, pairsAcross(found, level), space, rounds)
                .fitted(links, /*keepsCopies=*/!isInnermost);
    measured = measured.linkedBy(linkOf(measured, level, links));
    if (isInnermost)
      rates = {.overhead = links.overhead, .copyBandwidth = links.copyBandwidth, .kernels = {}};
    isInnermost = false;
  }
  rates.space = space;
  rates.kernels = measuredKernels(*comm, space, rounds);
  found.machine = measured.ratedBy(std::move(rates));
  return found;
}

} // namespace tenon
