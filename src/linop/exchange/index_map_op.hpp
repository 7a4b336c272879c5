// SPDX-License-Identifier: BSD-2-Clause
// The operator of an index map (geometry/mesh/index_map.hpp): one exchange among the ranks whose
// lists name each other. The adjoint adds the values of targets to the sources that they were
// computed from, in the order of the ranks' grid positions and of the lists. For a halo it works in
// place and does not touch owned elements.
#pragma once

#include "geometry/mesh/index_map.hpp"
#include "linop/exchange/field_executors.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class IndexMapOp final : public LinearOp {
public:
  // Collective, without communication. Throws TENON_ERR_LAYOUT if the domain is not a source of the
  // map, and TENON_ERR_DATATYPE for weights on an integer type.
  IndexMapOp(const CommPtr& comm, IndexMapPtr map, const Layout& domain, TenonDataType type,
             const CarrierPolicy& policy);

  std::string_view type() const noexcept override { return "indexmap"; }
  std::string agreedText() const override;
  std::string describeMore() const override;
  // Known for this rank only, since the map stores this rank's lists.
  std::optional<Traffic> trafficOf(int rank) const override;
  Index bufferBytes() const override { return executors_.bufferBytes(); }
  bool takesFields() const override { return true; }
  OneExchange asExchange() const override { return {&executors_}; }
  bool isWithinRank() const override { return executors_.single().isWithinRank(); }

private:
  bool worksInPlace(const Action& action) const override {
    return map_->isHalo() && action.isPlain() && executors_.single().isInPlace(action);
  }
  void doBegin(const Action& action) override { executors_.of(action).begin(action); }
  void doEnd(const Action& action) override { executors_.of(action).end(action); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override {
    executors_.single().bind(sense, x, y);
  }
  void doUnbind() override { executors_.single().unbind(); }

  IndexMapPtr map_;
  std::string policyText_;
  Traffic sent_;
  FieldExecutors executors_;
};

} // namespace tenon
