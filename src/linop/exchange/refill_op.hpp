// SPDX-License-Identifier: BSD-2-Clause
// Fills a halo from what each rank holds (geometry/refill.hpp), without messages: a schedule whose only
// transfer is the rank's own. The adjoint adds what lies beyond the domain to what it was made from.
#pragma once

#include "linop/exchange/schedule_executor.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class RefillOp final : public LinearOp {
public:
  // Collective, without communication. The layouts fulfil canRefill().
  RefillOp(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
           const CarrierPolicy& policy)
      : LinearOp(comm, from, to, type),
        executor_(comm, makeRefill(from, to, comm->rank()), type, title(), policy) {}

  std::string_view type() const noexcept override { return "refill"; }
  std::optional<Traffic> trafficOf(int) const override { return Traffic(); }
  Index bufferBytes() const override { return executor_.bufferBytes(); }

private:
  void doBegin(const Action& action) override { executor_.begin(action); }
  void doEnd(const Action& action) override { executor_.end(action); }

  ScheduleExecutor executor_;
};

} // namespace tenon
