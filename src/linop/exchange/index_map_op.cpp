// SPDX-License-Identifier: BSD-2-Clause
// An index map as an operator: its schedule, run by the executor of conversions. Transports,
// bindings, halves and use in place are therefore the same as for conversions.
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
