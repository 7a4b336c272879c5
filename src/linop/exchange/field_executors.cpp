// SPDX-License-Identifier: BSD-2-Clause
// Keeps the executors of a schedule by their number of fields. For example, an operator that is
// applied to one tensor and then to four, again and again, has two executors, byFields_[0] and
// byFields_[3].
#include "linop/exchange/field_executors.hpp"

#include "comm/agreement/agreement.hpp"

#include <algorithm>

namespace tenon {

FieldExecutors::FieldExecutors(const CommPtr& comm, std::function<Schedule()> makeSchedule,
                               TenonDataType type, std::string owner, const CarrierPolicy& policy)
    : comm_(comm), makeSchedule_(std::move(makeSchedule)), type_(type), owner_(std::move(owner)),
      policy_(policy) {
  byFields_.push_back(makeFor(1));
}

std::unique_ptr<ScheduleExecutor> FieldExecutors::makeFor(int fields) const {
  const Schedule schedule = makeSchedule_();
  const std::vector<FieldSchedule> all(static_cast<std::size_t>(fields), {schedule, type_});
  return std::make_unique<ScheduleExecutor>(comm_, all, owner_, policy_);
}

// Ranks that pass different numbers of fields would wait for each other's messages, so they compare
// the numbers at the first opportunity.
ScheduleExecutor& FieldExecutors::added(int fields) {
  const auto index = static_cast<std::size_t>(fields) - 1;
  byFields_.resize(std::max(byFields_.size(), index + 1));
  byFields_[index] = collectively(
      *comm_, "the number of fields", [&] { return makeFor(fields); },
      [&](const auto&) { return std::to_string(fields); });
  return *byFields_[index];
}

Index FieldExecutors::bufferBytes() const {
  Index bytes = 0;
  for (const auto& executor : byFields_)
    bytes += executor ? executor->bufferBytes() : 0;
  return bytes;
}

} // namespace tenon
