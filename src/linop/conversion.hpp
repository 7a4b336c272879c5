// SPDX-License-Identifier: BSD-2-Clause
// The conversion C(a -> b) of one tensor from layout a to layout b: every movement of data between
// ranks. Broadcast, sum-reduce, scatter, gather, all-gather, reduce-scatter, all-to-all, slice and
// zero-pad are its cases, and so are the halo exchange S -> G and the repartition between two
// meshes. (Hewett & Grady 2020, Sections 2-3; the tables of tensor properties of DistPar.)
#pragma once

#include "geometry/holding.hpp"
#include "linop/linear_op.hpp"
#include "linop/schedule_executor.hpp"
#include "machine/route.hpp"

namespace tenon {

class Conversion final : public LinearOp {
public:
  // Collective. Without communication, unless the route has collectives: then ranks agree, and may
  // create a communicator. Throws TENON_ERR_SHAPE if the global shapes differ, TENON_ERR_SUPPORT if
  // the transport is not to be had. What -tenon_reduction says holds for a sum over mesh axes and no
  // more, unless the policy wants one exchange.
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             const RoutePolicy& policy = RoutePolicy::fromOptions())
      : Conversion(comm, from, to, type, chosenTransport(), policy) {}
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             Transport transport, const RoutePolicy& policy = RoutePolicy::fromOptions());
  // As -tenon_conversion_transport says.
  static Transport chosenTransport();

  const char* type() const noexcept override { return "conversion"; }
  TenonDataType dataType() const noexcept { return domainType(); }
  std::string agreedText() const override;
  std::string describeMore() const override;

  // The largest instead of the sum where addends meet: not linear, and never differentiated. Throws
  // TENON_ERR_SUPPORT unless the route is one exchange.
  void applyMax(const DTensor& x, DTensor& y);

  const Route& route() const noexcept { return route_; }
  // What this rank sends in one Apply, all steps together.
  Traffic traffic() const noexcept { return traffic_; }
  // What any rank sends.
  Traffic trafficOf(int rank) const;
  Index bufferBytes() const override;

private:
  Conversion(const CommPtr& comm, Route route, TenonDataType type, Transport transport,
             const RoutePolicy& policy);
  bool isOneExchange() const { return route_.size() == 1 && !route_.front().collective; }
  LinearOpRef makeStep(const RouteStep& step) const;
  std::string sentText(const RouteStep& step) const;
  LinearOpRef makeReduction(const LinkRates& rates);
  // Where only margins are filled, folded or dropped, no cell is both read and written.
  bool worksInPlace(const Action& action) const override {
    return executor_ && marginsOnly_ && action.isPlain() && executor_->isInPlace(action);
  }
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;
  void doBind(Sense sense, DTensor& x, DTensor& y) override;
  void doUnbind() override;

  Route route_;
  Transport transport_;
  std::string policyText_, reductionText_, oneExchangeText_;
  Traffic traffic_;
  bool marginsOnly_;
  std::optional<ScheduleExecutor> executor_; // of a route that is one exchange
  LinearOpRef chain_;                        // of the steps of any other; or a ReductionOp
};

} // namespace tenon
