// SPDX-License-Identifier: BSD-2-Clause
// The signature table of types with two numbers per channel of [batch, channel, ...]. Its labels: n
// (batch), c (channels), S2, S3, ... (space), B and R.
#pragma once

#include "declaration/core/signature.hpp"

namespace tenon {

inline SignatureTable channelTable(int rank) {
  SignatureTable table = elementwiseTable(rank, false);
  for (SignatureRow& row : table) {
    const Property& x = row.output;
    const Property parameter = !x.isShard() ? x
                               : x.dim == 1 ? Property::shard(0)
                                            : Property::broadcast();
    row.parameters = {parameter, parameter};
    row.label = x == Property::shard(0) ? "n" : x == Property::shard(1) ? "c" : row.label;
  }
  return table;
}

} // namespace tenon
