// SPDX-License-Identifier: BSD-2-Clause
// FieldExecutors: the executors of an operator's schedule, one for each number of fields that its
// actions have had. An executor has message buffers and lanes for all of its fields. The one of a
// single field is made with the operator, any other by its first action.
#pragma once

#include "linop/exchange/schedule_executor.hpp"

#include <functional>

namespace tenon {

class FieldExecutors {
public:
  // Collective, see ScheduleExecutor. `makeSchedule` is called for each executor, since schedules
  // can be large and are not stored.
  FieldExecutors(const CommPtr& comm, std::function<Schedule()> makeSchedule, TenonDataType type,
                 std::string owner, const CarrierPolicy& policy);

  // Of one field.
  ScheduleExecutor& single() const { return *byFields_.front(); }
  // Of an action. Collective where a number of fields is new. Throws TENON_ERR_COLLECTIVE if ranks
  // have different numbers, and one of them is new on each rank.
  ScheduleExecutor& of(const Action& action) {
    const auto index = static_cast<std::size_t>(action.fields()) - 1;
    return index < byFields_.size() && byFields_[index] ? *byFields_[index]
                                                        : added(action.fields());
  }
  // Those that there are.
  Index bufferBytes() const;

  Schedule schedule() const { return makeSchedule_(); }
  TenonDataType type() const noexcept { return type_; }

private:
  std::unique_ptr<ScheduleExecutor> makeFor(int fields) const;
  ScheduleExecutor& added(int fields);

  CommPtr comm_;
  std::function<Schedule()> makeSchedule_;
  TenonDataType type_;
  std::string owner_;
  CarrierPolicy policy_;
  std::vector<std::unique_ptr<ScheduleExecutor>> byFields_; // byFields_[n - 1] has n fields
};

} // namespace tenon
