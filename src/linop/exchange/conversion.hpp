// SPDX-License-Identifier: BSD-2-Clause
// The conversion C(a -> b) of a tensor from layout a to layout b as one exchange: each rank sends
// to each other rank the elements of its block that the other needs. Broadcast, sum-reduce,
// scatter, gather, all-gather, reduce-scatter, all-to-all, slice and zero-pad are special cases,
// and so are the halo exchange (from S to S with a halo, written G) and the repartition between two
// grids (Hewett and Grady 2020, Sections 2-3). makeConversion() (make_conversion.hpp) creates a
// Conversion, or an operator of several steps or collectives where that is faster.
#pragma once

#include "geometry/layout/layout.hpp"
#include "linop/exchange/field_executors.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// Texts about how a conversion is carried out.
struct ConversionNotes {
  // Compared between the ranks when the operator is created, since ranks with other options would
  // wait for each other's messages; "" for the defaults.
  std::string agreed;
  std::string lines;  // printed by TenonObjectView(): the options and why this way was chosen
  double seconds = 0; // Predicted time, or 0 if unknown.
};

class Conversion final : public LinearOp {
public:
  // Collective, without communication. Throws TENON_ERR_SHAPE if the global shapes differ, and
  // TENON_ERR_SUPPORT if the transport is not available.
  Conversion(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type,
             const CarrierPolicy& policy, ConversionNotes notes = {});

  std::string_view type() const noexcept override { return "conversion"; }
  std::string agreedText() const override;
  std::string describeMore() const override;
  std::optional<Traffic> trafficOf(int rank) const override;
  Index bufferBytes() const override { return executors_.bufferBytes(); }
  bool takesFields() const override { return true; }
  OneExchange asExchange() const override { return {&executors_}; }
  bool isWithinRank() const override { return executors_.single().isWithinRank(); }

  // y <- x with the maximum in place of the sum where contributions meet. Not linear, and never
  // differentiated.
  void applyMax(const DTensor& x, DTensor& y);

private:
  // Whether x and y of an action (alpha, x, beta, y) can use one array. If the layouts differ in
  // halos only, the conversion copies owned elements into halos (fills), adds halos to their owners
  // (folds, the adjoint) or ignores halos: no element is both read and written.
  bool worksInPlace(const Action& action) const override {
    return halosOnly_ && action.isPlain() && executors_.single().isInPlace(action);
  }
  void doBegin(const Action& action) override { executors_.of(action).begin(action); }
  void doEnd(const Action& action) override { executors_.of(action).end(action); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override {
    executors_.single().bind(sense, x, y);
  }
  void doUnbind() override { executors_.single().unbind(); }

  ConversionNotes notes_;
  bool halosOnly_;
  FieldExecutors executors_;
};

// A text such as "rank 0 sends 3 messages, 18432 B; predicted 9.9 us".
std::string sentText(int rank, const Traffic& sent, TenonDataType type, double seconds);

} // namespace tenon
