// SPDX-License-Identifier: BSD-2-Clause
#include "linop/conversion.hpp"

#include "sys/log.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"conversion_transport", OptionSpec::Choice, "auto",
     "how conversions travel; auto: shared where the node has an arena, else messages",
     kTransportChoices},
};
const OptionRegistration kRegistration{{"conversion", kOptions}};

// The layout without what makes no difference to anybody's memory.
Layout bare(const Layout& layout) {
  LayoutSpec spec = layout.spec();
  for (int axis = 0; axis < spec.mesh->axes(); ++axis)
    if (spec.mesh->extent(axis) == 1)
      spec.properties[axis] = Property::broadcast();
  for (int d = 0; d < layout.rank(); ++d) {
    std::erase_if(spec.splitAxes[d], [&](int axis) { return spec.mesh->extent(axis) == 1; });
    bool margin = false;
    for (int part = 0; part < layout.parts(d); ++part)
      margin |= !(layout.box(d, part) == layout.owned(d, part)) &&
                !(layout.box(d, part).empty() && layout.owned(d, part).empty());
    if (!margin)
      spec.margins[d].reset();
  }
  return Layout(std::move(spec));
}

} // namespace

Transport Conversion::chosenTransport() {
  return parseTransport(options().getChoice("", "conversion_transport"));
}

Conversion::Conversion(const CommPtr& comm, const Layout& from, const Layout& to,
                       TenonDataType type, Transport transport)
    : Conversion(comm, from, to, type, transport, makeSchedule(from, to, comm->rank())) {}

Conversion::Conversion(const CommPtr& comm, const Layout& from, const Layout& to,
                       TenonDataType type, Transport transport, const Schedule& schedule)
    : LinearOp(comm, from, to, type),
      executor_(comm, schedule, type, title(), from.describe() + " -> " + to.describe(), transport),
      traffic_(sentTraffic(schedule, comm->rank())),
      marginsOnly_(from.withoutMargins() == to.withoutMargins() &&
                   !(from.hasMargins() && to.hasMargins())) {}

std::string Conversion::describe() const {
  return LinearOp::describe() +
         fmt::format("; this rank sends {} messages, {} bytes; transport {}", traffic_.messages,
                     traffic_.cells * dataTypeSize(dataType()), executor_.describeTransport());
}

void Conversion::applyMax(const DTensor& x, DTensor& y) {
  static const int event = logEvent("ConversionMax");
  const LogScope scope(event);
  checkTensor(x, domain(), dataType(), title(), "input");
  checkTensor(y, range(), dataType(), title(), "output");
  checkIdle();
  const Action action{.x = &x, .y = &y};
  executor_.begin(action);
  executor_.end(action, Combine::Max);
}

bool sameHolding(const Layout& a, const Layout& b) {
  return a == b || bare(a) == bare(b);
}

} // namespace tenon
