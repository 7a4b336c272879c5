// SPDX-License-Identifier: BSD-2-Clause
// RefillOp: fills halo elements outside the domain from elements on the same rank
// (geometry/schedule/refill.hpp): a schedule whose only transfer is from the rank to itself,
// executed in doEnd() without messages. The adjoint adds the values of those halo elements to the
// elements that they were computed from.
#pragma once

#include "linop/exchange/schedule_executor.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class RefillOp final : public LinearOp {
public:
  // The layouts must satisfy canRefill().
  RefillOp(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type)
      : LinearOp(comm, from, to, type),
        executor_(makeRefill(from, to, comm->rank()), type, comm->rank()) {}

  std::string_view type() const noexcept override { return "refill"; }
  std::optional<Traffic> trafficOf(int) const override { return Traffic(); }

private:
  void doEnd(const Action& action) override { executor_.run(action); }

  OwnScheduleExecutor executor_;
};

} // namespace tenon
