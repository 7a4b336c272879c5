// SPDX-License-Identifier: BSD-2-Clause
// The conversion C(a -> b) of one tensor from layout a to layout b as one exchange: every rank
// sends to each other one what that rank needs of it. Broadcast, sum-reduce, scatter, gather,
// all-gather, reduce-scatter, all-to-all, slice and zero-pad are its cases, and so are the halo
// exchange S -> G and the repartition between two grids. (Hewett & Grady 2020, Sections 2-3; the
// tables of tensor properties of DistPar.) Other ways of the same conversion are in
// make_conversion.hpp.
#pragma once

#include "geometry/layout/layout.hpp"
#include "linop/exchange/schedule_executor.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// Why a conversion is carried out as it is.
struct ConversionNotes {
  std::string agreed; // policies that are the same on all ranks, "" for the defaults
  std::string lines;  // of the view
  double seconds = 0; // predicted; 0 if that is not known
};

class Conversion final : public LinearOp {
public:
  // Makes the conversion. Collective, without communication. Throws TENON_ERR_SHAPE if the global
  // shapes differ, TENON_ERR_SUPPORT if the transport is not to be had.
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             const CarrierPolicy& policy, ConversionNotes notes = {});

  std::string_view type() const noexcept override { return "conversion"; }
  std::string agreedText() const override;
  std::string describeMore() const override;
  std::optional<Traffic> trafficOf(int rank) const override;
  Index bufferBytes() const override { return executor_.bufferBytes(); }

  // Takes the largest instead of the sum where contributions meet: not linear, and never
  // differentiated.
  void applyMax(const DTensor& x, DTensor& y);

private:
  // Where only halos are filled, folded or dropped, no element is both read and written.
  bool worksInPlace(const Action& action) const override {
    return halosOnly_ && action.isPlain() && executor_.isInPlace(action);
  }
  void doBegin(const Action& action) override { executor_.begin(action); }
  void doEnd(const Action& action) override { executor_.end(action); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { executor_.bind(sense, x, y); }
  void doUnbind() override { executor_.unbind(); }

  ConversionNotes notes_;
  bool halosOnly_;
  ScheduleExecutor executor_;
};

// A text such as "rank 0 sends 3 messages, 18432 B; predicted 9.9 us".
std::string sentText(int rank, const Traffic& sent, TenonDataType type, double seconds);

} // namespace tenon
