// SPDX-License-Identifier: BSD-2-Clause
// The conversion C(a -> b) of one tensor from layout a to layout b: every movement of data between
// ranks. Broadcast, sum-reduce, scatter, gather, all-gather, reduce-scatter, all-to-all, slice and
// zero-pad are its cases, and so are the halo exchange S -> G and the repartition between two
// meshes. (Hewett & Grady 2020, Sections 2-3; the tables of tensor properties of DistPar.)
#pragma once

#include "linop/linear_op.hpp"
#include "linop/schedule_executor.hpp"

namespace tenon {

class Conversion final : public LinearOp {
public:
  // Collective, but without communication: every rank knows both layouts. Throws TENON_ERR_SHAPE if
  // the global shapes differ, TENON_ERR_SUPPORT if the transport is not to be had.
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type)
      : Conversion(comm, from, to, type, chosenTransport()) {}
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             Transport transport);
  // As -tenon_conversion_transport says.
  static Transport chosenTransport();

  const char* type() const noexcept override { return "conversion"; }
  TenonDataType dataType() const noexcept { return domainType(); }
  std::string describe() const override;

  // The largest instead of the sum where addends meet: not linear, and never differentiated.
  void applyMax(const DTensor& x, DTensor& y);

  // What this rank sends in one Apply.
  Traffic traffic() const noexcept { return traffic_; }
  // Of the messages, on this rank.
  Index bufferBytes() const noexcept { return executor_.bufferBytes(); }

private:
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             Transport transport, const Schedule& schedule);
  // Where only margins are filled, folded or dropped, no cell is both read and written.
  bool worksInPlace(const Action& action) const override {
    return marginsOnly_ && action.isPlain() && executor_.isInPlace(action);
  }
  void doBegin(const Action& action) override { executor_.begin(action); }
  void doEnd(const Action& action) override { executor_.end(action); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { executor_.bind(sense, x, y); }
  void doUnbind() override { executor_.unbind(); }

  ScheduleExecutor executor_;
  Traffic traffic_;
  bool marginsOnly_;
};

// True if the conversion from a to b leaves every rank's memory as it is, so that both layouts may
// share one array: axes of one process count for nothing, nor do margins that add nothing.
bool sameHolding(const Layout& a, const Layout& b);

} // namespace tenon
