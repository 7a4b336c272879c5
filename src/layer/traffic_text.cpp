// SPDX-License-Identifier: BSD-2-Clause
#include "layer/traffic_text.hpp"

#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

std::string layoutText(const Layout& layout, const Mesh& named) {
  return viewsInDetail() ? layout.describe() : layout.summary(named);
}

} // namespace

std::string trafficText(const LinearOp& conversion) {
  Traffic most;
  Index all = 0;
  for (int rank = 0; rank < conversion.comm()->size(); ++rank) {
    const Traffic sent = conversion.trafficOf(rank).value();
    most.messages = std::max(most.messages, sent.messages);
    most.cells = std::max(most.cells, sent.cells);
    all += sent.cells;
  }
  const Index size = dataTypeSize(conversion.domainType());
  return fmt::format("at most {}, {} B per rank; {} B total", counted(most.messages, "message"),
                     most.cells * size, all * size);
}

std::string viewLine(const std::string& label, const Layout& layout, const Mesh& named,
                     const std::string& text) {
  return fmt::format("  {:<7} {}{}\n", label, layoutText(layout, named), text);
}

// Where a halo is all that the use adds, the two layouts are one text.
std::string viewLine(const std::string& label, const Layout& layout, const LinearOp* toUse,
                     const Mesh& named) {
  if (!toUse)
    return viewLine(label, layout, named);
  const Layout& use = toUse->range();
  if (!viewsInDetail() && use.withoutMargins() == layout)
    return viewLine(label, use, named, ": " + trafficText(*toUse));
  return viewLine(label, layout, named,
                  fmt::format(", used as {}: {}", layoutText(use, named), trafficText(*toUse)));
}

} // namespace tenon
