// SPDX-License-Identifier: BSD-2-Clause
// An index map as an operator: its schedule, run by the executor of conversions
// (schedule_executor.hpp). The following are therefore the same as for conversions: transports
// (shared memory or messages), binding to fixed arrays (doBind), beginning and ending an action in
// two calls (doBegin, doEnd), and one array for both operands (worksInPlace).
#include "linop/exchange/index_map_op.hpp"

#include "linop/exchange/conversion.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

TenonDataType checkedType(const IndexMap& map, TenonDataType type) {
  if (map.isWeighted())
    checkFloating(type, "an index map with weights");
  return type;
}

} // namespace

IndexMapOp::IndexMapOp(const CommPtr& comm, IndexMapPtr map, const Layout& domain,
                       TenonDataType type, const CarrierPolicy& policy)
    : LinearOp(comm, domain, map->rangeFor(domain), checkedType(*map, type)), map_(std::move(map)),
      policyText_(policy.agreedText()),
      // The schedule is made here and again for each executor, since it is large and not stored.
      sent_(sentTraffic(map_->schedule(this->domain(), range(), comm->rank()), comm->rank())),
      executors_(
          comm, [this] { return map_->schedule(this->domain(), range(), this->comm()->rank()); },
          type, title(), policy) {}

std::string IndexMapOp::agreedText() const {
  return fmt::format("{}; {}{}", LinearOp::agreedText(), map_->describe(), policyText_);
}

std::optional<Traffic> IndexMapOp::trafficOf(int rank) const {
  return rank == comm()->rank() ? std::optional(sent_) : std::nullopt;
}

std::string IndexMapOp::describeMore() const {
  return fmt::format("  {}\n  {}; transport {}\n", map_->describe(),
                     sentText(comm()->rank(), sent_, domainType(), 0),
                     executors_.single().describeTransport());
}

} // namespace tenon
