// SPDX-License-Identifier: BSD-2-Clause
// Plans how a set-up runs Apply in inference, in which nothing is saved for derivatives and
// parameters seldom change. It follows from the kernels of this rank, and no message depends on it.
// Two changes make Apply faster than in training:
//
//   folding          convolution -> batch normalisation   becomes   convolution
//                    whose weights are multiplied by the factor of each channel
//   channels last    images between kernels that take both orders are stored in the order that
//                    vector instructions read best (kernels/convolution/packed.hpp)
//
// Values that a kernel needs in one order, such as the argument and the result of a function of
// each element, form a set. A set has channels last if no kernel or exchange needs one of its
// values row-major, and a convolution reads or writes one:
//
//   x --conv--> a --relu--> b --conv--> c --flatten--> y       {a, b} channels last, {c} first
#include "layer/core/pass_runner.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

bool isForward(const Step& step) {
  return step.what == Do::Forward && !step.recomputed;
}

// Finds the batch normalisations that can be folded, and folds them.
class Folding {
public:
  Folding(const BoundMaps& maps, Pass& pass) : maps_(maps), list_(maps.list()), pass_(pass) {}

  std::vector<FoldedChannels> fold() {
    std::vector<FoldedChannels> folded;
    for (std::size_t s = 0; s < pass_.steps.size(); ++s)
      if (const int to = normalisationAfter(s); to >= 0)
        folded.push_back(foldInto(s, std::size_t(to)));
    std::erase_if(pass_.steps, [](const Step& step) { return step.map == kRemoved; });
    return folded;
  }

private:
  static constexpr int kRemoved = -2;

  LocalKernel& kernelOf(const Step& step) const {
    return *maps_.kernel(list_.maps()[step.map].object).kernel;
  }
  // The step of the normalisation that alone reads what step s writes, or -1. Step s must run a
  // kernel that writes the whole value, in the library's memory, and applies nothing to it yet.
  int normalisationAfter(std::size_t s) const {
    const Step& step = pass_.steps[s];
    if (step.map < 0 || !isForward(step) || step.epilogue >= 0 || list_.maps()[step.map].part ||
        callsOf(step) > 1 || !kernelOf(step).foldsChannels() || isFolded(step))
      return -1;
    const ValueId v = step.writes[0];
    const Value& value = pass_.values[v];
    if (value.place != Value::Place::Own || value.isUserSupplied())
      return -1;
    int found = -1;
    for (std::size_t r = 0; r < pass_.steps.size(); ++r) {
      const Step& other = pass_.steps[r];
      if (r != s && std::ranges::count(other.writes, v) > 0)
        return -1;
      if (std::ranges::count(other.reads, v) == 0 || ignoresInputs(other))
        continue;
      if (found >= 0 || r < s || other.map < 0 || !isForward(other) ||
          !kernelOf(other).scalesChannels() || other.reads.size() != 2 || other.reads[0] != v)
        return -1;
      found = int(r);
    }
    return found;
  }
  // Whether a normalisation is folded in already: the step then also reads its statistics. A second
  // one stays, since a convolution has one factor for each channel.
  bool isFolded(const Step& step) const {
    return step.reads.size() > list_.maps()[step.map].x.size();
  }
  // A kernel that is called several times has one copy of the weights, and could be followed by
  // several normalisations.
  Index callsOf(const Step& step) const {
    return std::ranges::count_if(list_.maps(), [&](const Map& map) {
      return map.kind == Map::Kind::Kernel && map.object == list_.maps()[step.map].object;
    });
  }
  bool ignoresInputs(const Step& step) const {
    return step.map >= 0 && isForward(step) &&
           list_.kernels()[list_.maps()[step.map].object].isSource;
  }
  // The convolution runs in the place of the normalisation, after the step of its statistics, and
  // writes what that would write.
  FoldedChannels foldInto(std::size_t s, std::size_t to) {
    Step &first = pass_.steps[s], &second = pass_.steps[to];
    const ValueId v = first.writes[0];
    for (Step& step : pass_.steps)
      if (ignoresInputs(step))
        std::ranges::replace(step.reads, v, kNoValue); // kernels know their inputs by position
    const Value& written = pass_.values[second.writes[0]];
    const auto channels = std::size_t(maps_.tensor(written)->extent()[1]);
    FoldedChannels folded{.convolution = first.map,
                          .map = second.map,
                          .scale = std::vector<float>(channels),
                          .shift = std::vector<float>(channels)};
    Step joined = first;
    joined.reads.push_back(second.reads[1]);
    joined.writes = second.writes;
    joined.epilogue = second.epilogue;
    second = std::move(joined);
    first = {.what = Do::Zero, .map = kRemoved};
    return folded;
  }

  const BoundMaps& maps_;
  const MapList& list_;
  Pass& pass_;
};

// Sets of values that have one order of channels.
class OrderSets {
public:
  OrderSets(const BoundMaps& maps, const Pass& pass)
      : maps_(maps), list_(maps.list()), pass_(pass), set_(pass.values.size()),
        first_(set_.size(), false), last_(set_.size(), false) {
    std::iota(set_.begin(), set_.end(), 0);
    for (ValueId v = 0; v < ValueId(set_.size()); ++v)
      first_[v] = !canBeLast(pass.values[v]);
    for (const Step& step : pass.steps)
      add(step);
  }

  std::vector<bool> channelsLast() {
    std::vector<bool> chosen(set_.size());
    for (ValueId v = 0; v < ValueId(set_.size()); ++v)
      chosen[v] = last_[find(v)] && !first_[find(v)];
    return chosen;
  }

private:
  static bool canBeLast(const Value& value) {
    return value.place == Value::Place::Own && !value.isUserSupplied() && !value.rounded &&
           value.layout.ndim() > 2 && !value.layout.hasHalos();
  }
  ValueId find(ValueId v) {
    while (set_[v] != v)
      v = set_[v] = set_[set_[v]];
    return v;
  }
  void join(ValueId a, ValueId b) {
    a = find(a);
    b = find(b);
    first_[a] = first_[a] || first_[b];
    last_[a] = last_[a] || last_[b];
    set_[b] = a;
  }
  template <class Visit>
  static void forValues(const Step& step, Visit visit) {
    for (const std::vector<ValueId>* values : {&step.reads, &step.writes})
      for (const ValueId v : *values)
        if (v != kNoValue)
          visit(v);
  }
  void add(const Step& step) {
    const ChannelOrders orders = ordersOf(step);
    forValues(step, [&](ValueId v) {
      if (orders == ChannelOrders::Same)
        join(step.writes[0], v);
      else if (orders == ChannelOrders::First)
        first_[find(v)] = true;
      else if (wantsLast(step))
        last_[find(v)] = true;
    });
  }
  // The kernels that fold channels are convolutions with packed weights, which read and write this
  // order faster.
  bool wantsLast(const Step& step) const {
    return isForward(step) && maps_.kernel(list_.maps()[step.map].object).kernel->foldsChannels();
  }
  ChannelOrders ordersOf(const Step& step) const {
    if (step.map < 0)
      return ChannelOrders::First;
    const Map& map = list_.maps()[step.map];
    if (map.kind == Map::Kind::Source)
      return ChannelOrders::Any;
    if (map.kind == Map::Kind::Operator) {
      // A conversion between equal layouts copies or adds elements, so both sides have one order.
      // Others pack blocks, row-major.
      const OperatorEntry& op = list_.operators()[map.object];
      return op.kind == OperatorKind::Conversion && op.from == op.to ? ChannelOrders::Same
                                                                     : ChannelOrders::First;
    }
    return isForward(step) ? maps_.kernel(map.object).kernel->channelOrders()
                           : ChannelOrders::First;
  }

  const BoundMaps& maps_;
  const MapList& list_;
  const Pass& pass_;
  std::vector<ValueId> set_;       // by value: another value of its set, or itself
  std::vector<bool> first_, last_; // by set: whether a kernel needs or wants this order
};

} // namespace

const FoldedChannels* InferencePlan::foldedIn(int convolution) const {
  const auto found = std::ranges::find(folded_, convolution, &FoldedChannels::convolution);
  return found == folded_.end() ? nullptr : &*found;
}

InferencePlan planInference(const BoundMaps& maps, Pass& pass) {
  std::vector<FoldedChannels> folded = Folding(maps, pass).fold();
  return {OrderSets(maps, pass).channelsLast(), std::move(folded)};
}

void placeChannelsLast(DTensor& x, void* memory) {
  const Shape& extent = x.extent();
  std::vector<Index> strides(extent.size(), 1);
  Index step = extent[1];
  for (std::size_t d = extent.size(); d-- > 2;) {
    strides[d] = step;
    step *= extent[d];
  }
  strides[0] = step;
  const std::vector<Index> none(extent.size(), 0);
  x.placeArray(memory, strides, none, none, /*readOnly=*/false);
}

} // namespace tenon
