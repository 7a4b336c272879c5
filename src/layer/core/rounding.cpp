// SPDX-License-Identifier: BSD-2-Clause
#include "layer/core/rounding.hpp"

#include "kernels/movement/bfloat16.hpp"
#include "sys/memory/memory.hpp"

#include <algorithm>

namespace tenon {

void RoundedValue::keep(const DTensor& x) {
  const Index bytes = x.localElements() * Index(sizeof(BFloat16));
  if (!memory_ && bytes > 0) {
    own_ = Buffer(bytes, "saved activation in bfloat16", x.context().memory());
    memory_ = own_.data<BFloat16>();
  }
  visitFloating(x.dataType(), [&]<class T>(T) {
    roundToBFloat16(x.context(), x.rank(), x.extent().data(), x.data<T>(), x.strides().data(),
                    memory_);
  });
  isKept_ = true;
}

void RoundedValue::expand(DTensor& x) const {
  visitFloating(x.dataType(), [&]<class T>(T) {
    fromBFloat16(x.context(), x.localElements(), memory_, x.mutableData<T>());
  });
}

Rounding::Rounding(const BoundMaps& maps, const Pass& apply) {
  const MapList& list = maps.list();
  numbers_.assign(list.values().size(), -1);
  for (ValueId v = 0; v < static_cast<ValueId>(numbers_.size()); ++v)
    if (apply.rounds(list.values()[v])) {
      numbers_[v] = static_cast<int>(values_.size());
      values_.push_back(v);
    }
  noteWriters(list, apply);
  ofMap_.resize(list.maps().size());
  for (int m = 0; m < static_cast<int>(ofMap_.size()); ++m)
    if (list.maps()[m].kind == Map::Kind::Kernel && list.maps()[m].isDifferentiated())
      noteReader(maps, m);
}

// The caller's are kept when Apply has ended.
void Rounding::noteWriters(const MapList& list, const Pass& apply) {
  keptAfter_.resize(apply.steps.size());
  for (int number = 0; number < static_cast<int>(values_.size()); ++number) {
    const ValueId v = values_[number];
    if (list.values()[v].isCallers())
      continue;
    for (std::size_t s = apply.steps.size(); s-- > 0;)
      if (std::ranges::find(apply.steps[s].writes, v) != apply.steps[s].writes.end()) {
        keptAfter_[s].push_back(number);
        break;
      }
  }
}

void Rounding::noteReader(const BoundMaps& maps, int map) {
  const Map& reader = maps.list().maps()[map];
  const KernelEntry& kernel = maps.list().kernels()[reader.object];
  std::vector<ValueId> read;
  if (kernel.keepsInputs)
    read = reader.x;
  if (kernel.keepsOutput)
    read.push_back(reader.y);
  Index bytes = 0;
  for (const ValueId v : read) {
    const int number = numberOf(v);
    if (number < 0 ||
        std::ranges::find(ofMap_[map], number, &Expanded::number) != ofMap_[map].end())
      continue;
    const Ref<DTensor> tensor = maps.tensor(maps.list().values()[v].layout);
    ofMap_[map].push_back({number, tensor, bytes});
    bytes += roundedUp(tensor->localElements() * dataTypeSize(maps.dataType()), kAlignment);
  }
  expandedBytes_ = std::max(expandedBytes_, bytes);
}

void Rounding::placeIn(std::byte* memory) {
  if (memory_ == memory)
    return;
  memory_ = memory;
  for (const std::vector<Expanded>& of : ofMap_)
    for (const Expanded& each : of)
      each.tensor->placeBox(memory + each.place, false);
}

void Rounding::keep(int step, DTensor* const* tensors, RoundedValue* rounded) const {
  for (const int number : keptAfter_[step])
    rounded[number].keep(*tensors[values_[number]]);
}

void Rounding::bind(int map, DTensor** slots, const RoundedValue* rounded) const {
  for (const Expanded& each : ofMap_[map])
    if (rounded[each.number].isKept())
      slots[values_[each.number]] = each.tensor.get();
}

void Rounding::expand(int map, DTensor** slots, const RoundedValue* rounded) const {
  bind(map, slots, rounded);
  visitExpanded(map, rounded,
                [](const RoundedValue& value, DTensor& tensor) { value.expand(tensor); });
}

} // namespace tenon
