// SPDX-License-Identifier: BSD-2-Clause
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

namespace tenon {

std::string describeTraffic(const Conversion& conversion) {
  Traffic most;
  Index all = 0;
  for (int rank = 0; rank < conversion.comm()->size(); ++rank) {
    const Traffic sent = conversion.trafficOf(rank);
    most.messages = std::max(most.messages, sent.messages);
    most.cells = std::max(most.cells, sent.cells);
    all += sent.cells;
  }
  const Index size = dataTypeSize(conversion.dataType());
  return fmt::format("{}: at most {} messages and {} bytes from a rank, {} bytes in all",
                     conversion.range().describe(), most.messages, most.cells * size, all * size);
}

} // namespace tenon
