// SPDX-License-Identifier: BSD-2-Clause
// The operator of an index map (geometry/mesh/index_map.hpp), one exchange among the ranks that
// have entries for each other. The adjoint adds what targets hold to what they were made from, in
// the order of the ranks' positions and of the lists. Of a halo it works in place: owned elements
// are left alone.
#pragma once

#include "geometry/mesh/index_map.hpp"
#include "linop/exchange/schedule_executor.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

class IndexMapOp final : public LinearOp {
public:
  // Collective, without communication. Throws TENON_ERR_LAYOUT if the domain does not fit the map,
  // and TENON_ERR_DATATYPE for weights of integers.
  IndexMapOp(const CommPtr& comm, IndexMapPtr map, const Layout& domain, TenonDataType type,
             const CarrierPolicy& policy);

  std::string_view type() const noexcept override { return "indexmap"; }
  std::string agreedText() const override;
  std::string describeMore() const override;
  // Of this rank alone, whose lists the map has.
  std::optional<Traffic> trafficOf(int rank) const override;
  Index bufferBytes() const override { return executor_.bufferBytes(); }

private:
  bool worksInPlace(const Action& action) const override {
    return map_->isHalo() && action.isPlain() && executor_.isInPlace(action);
  }
  void doBegin(const Action& action) override { executor_.begin(action); }
  void doEnd(const Action& action) override { executor_.end(action); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { executor_.bind(sense, x, y); }
  void doUnbind() override { executor_.unbind(); }

  IndexMapPtr map_;
  std::string policyText_;
  Traffic sent_;
  ScheduleExecutor executor_;
};

} // namespace tenon
