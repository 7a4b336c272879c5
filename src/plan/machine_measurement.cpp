// SPDX-License-Identifier: BSD-2-Clause
#include "plan/machine_measurement.hpp"

#include "comm/job_machine.hpp"
#include "comm/mpi.hpp"
#include "dtensor/fill.hpp"
#include "linop/make_conversion.hpp"
#include "machine/price.hpp"
#include "plan/kernel_measurement.hpp"
#include "plan/price_parts.hpp"
#include "plan/timing.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr Index kMoved[] = {1 << 10, 16 << 10, 256 << 10, 4 << 20}; // bytes of a rank
constexpr Index kCellBytes = 8;
constexpr double kMostOfCopies = 100; // times the one of two bandwidths that is the other at most
constexpr int kFits = 3;              // since the rates say which way of a move is the cheapest

// Ranks on both sides of a level, as a grid with one pair in each row.
MeshPtr pairsAcross(const JoinedPlaces& found, int level) {
  const Index each = found.machine.devicesIn(level), units = found.machine.levels()[level].size;
  std::vector<int> ranks;
  for (Index device = 0; device < found.machine.devices(); ++device) {
    const Index unit = device / each % units;
    if (unit % 2 == 0 && unit + 1 < units)
      for (const Index one : {device, device + each})
        ranks.push_back(static_cast<int>(found.order[one]));
  }
  const int pairs = static_cast<int>(ranks.size()) / 2;
  return std::make_shared<const Mesh>(std::vector<int>{pairs, 2}, std::move(ranks));
}

struct PairMove {
  Layout from, to;
};

// A transpose, a sum and a gather within each pair.
std::vector<PairMove> pairMoves(const MeshPtr& pairs, Index bytes) {
  const Index rows = std::max<Index>(2, bytes / kCellBytes / 64);
  const auto layout = [&](const char* property) {
    return Layout({.shape = {pairs->extent(0), rows, 64},
                   .mesh = pairs,
                   .properties = parseProperties(property)});
  };
  const Layout rowsSplit = layout("S0,S1"), columnsSplit = layout("S0,S2"), all = layout("S0,B"),
               addends = layout("S0,P");
  return {{rowsSplit, columnsSplit}, {addends, all}, {rowsSplit, all}};
}

class LinkMeasurement {
public:
  LinkMeasurement(const CommPtr& comm, const MeshPtr& pairs, Space space, int rounds) {
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

  LinkRates fitted(LinkRates rates, bool keepsCopies) const {
    for (int fit = 0; fit < kFits; ++fit) {
      std::vector<MeasuredMove> measured;
      for (std::size_t m = 0; m < moves_.size(); ++m)
        measured.push_back({.parts = partsOfPrice(rates,
                                                  [&](const LinkRates& some) {
                                                    return priceOfMove(moves_[m].from, moves_[m].to,
                                                                       kCellBytes, some,
                                                                       Looks::First)
                                                        .seconds;
                                                  }),
                            .seconds = seconds_[m]});
      if (keepsCopies)
        for (MeasuredMove& move : measured) {
          move.seconds = std::max(move.seconds - move.parts[2], move.seconds / 10);
          move.parts[2] = 0;
        }
      rates = scaledRates(rates, fittedFactors(measured));
      // Where copies explain all, transfers take no time; but a description's rates are finite.
      rates.bandwidth = std::min(rates.bandwidth, kMostOfCopies * rates.copyBandwidth);
      rates.copyBandwidth = std::min(rates.copyBandwidth, kMostOfCopies * rates.bandwidth);
    }
    return rates;
  }

private:
  std::vector<PairMove> moves_;
  std::vector<double> seconds_;
};

Link linkOf(const Machine& machine, int level, const LinkRates& rates) {
  const std::string& unit = machine.levels()[level].name;
  return {fmt::format("between units of {}", unit),
          level,
          1,
          rates.bandwidth * static_cast<double>(machine.devicesIn(level)),
          rates.latency,
          {{LinkRule::Leaving}}};
}

} // namespace

// From the innermost level, on which the rates of copies are fitted.
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
    if (measured.levels()[level].size == 1)
      continue;
    links =
        LinkMeasurement(comm, pairsAcross(found, level), space, rounds).fitted(links, !isInnermost);
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
