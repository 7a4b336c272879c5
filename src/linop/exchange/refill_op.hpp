// SPDX-License-Identifier: BSD-2-Clause
// Fills a halo from what each rank holds (geometry/schedule/refill.hpp), without messages and all
// at its end: a schedule whose only transfer is the rank's own. The adjoint adds what lies beyond
// the domain to what it was made from.
#pragma once

#include "linop/exchange/schedule_executor.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class RefillOp final : public LinearOp {
public:
  // The layouts fulfil canRefill().
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
